package rows

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"github.com/facetvi/facet/internal/ir"
)

// Data are what rows are made from. Rows are those of the block.
type Data interface {
	// Input stores number k of the data in rows first, first + 1, … in dst.
	Input(k int, dst []float64, first int)
	// Indexed are the nodes that call k of Index gives in row r; none if it is not like those of the recorded row.
	Indexed(k, r int) []ir.ID
	// Admits reports whether x may be the k-th observation.
	Admits(k int, x float64) bool
}

// Compute computes a block of n rows, of at most size. Observed are the sources of observations.
func (c *Script) Compute(data Data, observed []*ir.Source, n, size int) {
	if c.is == nil {
		c.v, c.err = ir.Columns[float64](len(c.Operations), size), ir.Columns[float64](len(c.Operations), size)
		c.ids, c.hashes, c.is = ir.Columns[ir.ID](len(c.Holes), size), ir.Columns[uint32](len(c.roots), size), make([]bool, size)
	}
	c.n = n
	parts := min(runtime.GOMAXPROCS(0), 1+n/64)
	var wg sync.WaitGroup
	for k := range parts - 1 {
		wg.Go(func() { c.computeRows(data, observed, k*n/parts, (k+1)*n/parts) })
	}
	c.computeRows(data, observed, (parts-1)*n/parts, n)
	wg.Wait()
}

// Ready is how many rows from row first of the block on the script makes, and most at most.
func (c *Script) Ready(first, most int) (rows int) {
	for rows < most && first+rows < c.n && c.is[first+rows] {
		rows++
	}
	return rows
}

// computeRows computes rows first … end−1 of the block.
func (c *Script) computeRows(data Data, observed []*ir.Source, first, end int) {
	inputs := 0
	for i := range c.Operations {
		o, v, err := &c.Operations[i], c.v[i], c.err[i]
		if o.Make == nil {
			data.Input(inputs, v[first:end], first)
			inputs++
			continue
		}
		for r := first; r < end; r++ {
			x := o.Make(c.Value(o.X, r), c.Value(o.Y, r))
			v[r], err[r] = x.V, x.Err
		}
	}
	for r := first; r < end; r++ {
		c.is[r] = true
	}
	c.computeHoles(data, first, end)
	for i := range c.Questions {
		q := &c.Questions[i]
		for r := first; r < end; r++ {
			c.is[r] = c.is[r] && q.Ask(c.Value(q.Of, r).V) == q.Answer
		}
	}
	for i, from := range observed {
		for r := first; r < end; r++ {
			c.is[r] = c.is[r] && data.Admits(i, c.v[from.At][r])
		}
	}
	for _, x := range c.twins {
		a, b := c.nodeAt(x[0]), c.nodeAt(x[1])
		for r := first; r < end; r++ {
			c.is[r] = c.is[r] && !ir.Same(a(r), b(r))
		}
	}
	for k, j := range c.roots {
		root := c.nodeAt(j)
		for r := first; r < end; r++ {
			c.hashes[k][r] = root(r).Hash()
		}
	}
}

// Value is an argument in row r of the block.
func (c *Script) Value(a ir.Argument, r int) ir.Rounded {
	if a.At >= 0 {
		return ir.Rounded{V: c.v[a.At][r], Err: c.err[a.At][r]}
	}
	return a.Number
}

// Number is what comes from a source in row r of the block.
func (c *Script) Number(from *ir.Source, r int) float64 { return c.v[from.At][r] }

// nodeAt returns node j in a row of the block; see maker.
func (c *Script) nodeAt(j int) func(r int) *ir.Node { return c.maker(c.nodes[j], c.from[j]) }

// maker returns a node in a row of the block: n with numbers from the given operations, and
// with what is in holes. A call changes what the last one returned.
func (c *Script) maker(n ir.Node, from []int32) func(r int) *ir.Node {
	n.Terms = slices.Clone(n.Terms)
	type place struct {
		id   *ir.ID
		rows []ir.ID
	}
	var holes []place
	add := func(id *ir.ID) {
		if at, is := c.HoleOf[*id]; is {
			holes = append(holes, place{id, c.ids[at]})
		}
	}
	out := &n
	for i, id := range []*ir.ID{&n.A, &n.B, &n.C} {
		if i < n.Arity() {
			add(id)
		}
	}
	for i := range n.Terms {
		add(&n.Terms[i].Atom)
	}
	return func(r int) *ir.Node {
		if from[0] >= 0 {
			out.V = c.v[from[0]][r]
		}
		for k := range out.Terms {
			if at := from[k+1]; at >= 0 {
				out.Terms[k].Coef = c.v[at][r]
			}
		}
		for _, x := range holes {
			*x.id = x.rows[r]
		}
		return out
	}
}

// computeHoles computes what is in holes in rows first … end−1 of the block.
func (c *Script) computeHoles(data Data, first, end int) {
	for i := range c.Holes {
		x, ids := &c.Holes[i], c.ids[i]
		if x.Index < 0 {
			c.computeFound(x, ids, first, end)
			continue
		}
		for r := first; r < end; r++ {
			if nodes := data.Indexed(x.Index, r); len(nodes) > 0 {
				ids[r] = nodes[x.Place]
			} else {
				c.is[r] = false
			}
		}
	}
	for i := range c.Holes {
		for j := range i {
			if k := c.Holes[i].Index; k >= 0 && k == c.Holes[j].Index {
				continue
			}
			want := cmp.Compare(c.Holes[i].ID, c.Holes[j].ID)
			for r := first; r < end; r++ {
				c.is[r] = c.is[r] && cmp.Compare(c.ids[i][r], c.ids[j][r]) == want
			}
		}
	}
}

// computeFound looks for the node of a hole.
func (c *Script) computeFound(x *ir.Hole, ids []ir.ID, first, end int) {
	s := c.st
	from := x.From.Operations(len(x.Found.Terms))
	at := c.maker(x.Found, from)
	for r := first; r < end; r++ {
		if !c.is[r] {
			continue
		}
		n := at(r)
		id, known := s.Known(n, s.Slot(n, n.Hash()))
		c.is[r] = known && c.Stays(x.ID, id) && c.holds(id, from, r)
		ids[r] = id
	}
}

// holds reports whether the bounds of node id hold for a sum with numbers from the given
// operations in row r.
func (c *Script) holds(id ir.ID, from []int32, r int) bool {
	var b ir.Bounds
	for k, at := range from {
		if at < 0 {
			continue
		}
		if err := c.err[at][r]; k == 0 {
			b.V = err
		} else if err != 0 {
			if b.Coef == nil {
				b.Coef = make([]float64, len(from)-1)
			}
			b.Coef[k-1] = err
		}
	}
	known := c.st.BoundsOf(id)
	return known.Hold(&b)
}
