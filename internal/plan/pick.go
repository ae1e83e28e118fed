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
func (k pick) Eval(out kernel.Matrix, in []kernel.Matrix) {
	s, a, b := k.of[0], k.of[1], k.of[2]
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
