package plan

import (
	"slices"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/vec"
)

// A pick is a select of rows wherever they are: row r is row of[1][r] of in[1] where
// the sign in row of[0][r] of in[0] is 1, else row of[2][r] of in[2].
type pick struct{ of [3]kernel.RowList }

// Eval sets out to the rows.
func (k pick) Eval(out kernel.Matrix, in []kernel.Matrix) { k.evalFrom(0, out, in) }

// evalFrom sets out to the rows from number first on.
func (k pick) evalFrom(first int, out kernel.Matrix, in []kernel.Matrix) {
	s, a, b := k.of[0][first:][:out.Rows], k.of[1][first:][:out.Rows], k.of[2][first:][:out.Rows]
	if out.Cols == 1 {
		for r := range out.Data {
			from, at := in[2].Data, b[r]
			if in[0].Data[s[r]] == 1 {
				from, at = in[1].Data, a[r]
			}
			out.Data[r] = from[at]
		}
		return
	}
	for r := range s {
		vec.Select(out.Row(r), in[0].Row(int(s[r])), in[1].Row(int(a[r])), in[2].Row(int(b[r])))
	}
}

// pickRows makes a select of gathers a pick, which needs no copies of the rows.
func (n *node) pickRows() {
	if _, ok := n.k.(kernel.Select); !ok {
		return
	}
	var k pick
	in, gathers := slices.Clone(n.in), false
	for j := range in {
		k.of[j] = kernel.RowRange(0, n.rows)
		for {
			g, ok := in[j].k.(kernel.Gather)
			if !ok {
				break
			}
			_, run := g.Idx.Run() // which is a view, and costs nothing
			gathers = gathers || !run
			k.of[j], in[j] = k.of[j].Of(g.Idx), in[j].in[0]
		}
	}
	if gathers {
		n.k, n.in = k, in
	}
}

const (
	tileRows = 16
	tiled    = 1 << 13 // numbers from which on a matrix is not made whole
)

// A reducePicks is a reduce some of whose operands are picks, made a few rows at a
// time and added before the next ones take their place.
type reducePicks struct {
	kernel.Reduce
	picks []*tiledPick // by operand of the reduce; nil for one that is there
}

// A tiledPick is a pick times a matrix, in parts for the rows of each tile.
type tiledPick struct {
	pick
	m    []kernel.Sparse
	rows int
	tile kernel.Matrix
}

// Eval sets out to the sums.
func (k reducePicks) Eval(out kernel.Matrix, in []kernel.Matrix) {
	out.SetConstant(k.C)
	for j, p := range k.picks {
		if p == nil {
			k.M[j].AddMul(out, in[0])
			in = in[1:]
			continue
		}
		for t := range p.m {
			tile := p.tile.Span(0, min(tileRows, p.rows-t*tileRows))
			p.evalFrom(t*tileRows, tile, in)
			p.m[t].AddMul(out, tile)
		}
		in = in[3:]
	}
}

// tile makes large picks that only a reduce reads parts of it. The order of its sums
// stays what it is.
func (p *planner) tile(n *node) {
	r, ok := n.k.(kernel.Reduce)
	if !ok {
		return
	}
	k := reducePicks{Reduce: r, picks: make([]*tiledPick, len(n.in))}
	var in []*node
	for j, x := range n.in {
		of, ok := x.k.(pick)
		if !ok || !x.inner() || x.rows*p.cols < tiled || !slices.IsSorted(r.M[j].Col) {
			in = append(in, x)
			continue
		}
		k.picks[j] = &tiledPick{of, r.M[j].Tiles(x.rows, tileRows), x.rows, kernel.NewMatrix(tileRows, p.cols)}
		in = append(in, x.in...)
	}
	if len(in) > len(n.in) {
		n.k, n.in = k, in
	}
}
