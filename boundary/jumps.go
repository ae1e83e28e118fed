package boundary

import (
	"context"
	"fmt"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// Jumps is the batched graph of the jumps of a density: for each hyperplane on
// which log r jumps Δ, the change of log r from the − to the + side, at points on
// the hyperplane. It is immutable, safe for concurrent use, and the same for all
// data of the model and all families whose samples move alike.
//
// The hyperplanes where log r jumps are numbered from 0, those with one coordinate
// first. Planes lists them.
type Jumps struct {
	prog    *graph.Program
	arr     *regions.Arrangement
	numbers []int   // in the arrangement
	latents [][]int // whose values on the plane are wanted, by plane
	points  []pointRow
	signs   []signRow
}

// A pointRow is the coordinate at of the latents that are wanted on a plane.
type pointRow struct{ plane, at int }

// A signRow is the sign of hyperplane other of the arrangement at the point on a
// plane.
type signRow struct{ plane, other int }

// A Reach says which latents change when a sample is moved onto a hyperplane.
// Name differs where Moves does.
type Reach struct {
	Name  string
	Moves func(h regions.Hyperplane, latent int) bool
}

// OnPlane moves only the coordinates of the hyperplane: independent latents do not
// follow each other.
var OnPlane = Reach{"the plane's own latents", func(h regions.Hyperplane, latent int) bool {
	return slices.Contains(h.Index, latent)
}}

type cacheKey struct{ reach string }

// NewJumps compiles the jumps of d for samples that move as reach says. It does
// so once for each model and reach.
func NewJumps(d *graph.Density, reach Reach) (*Jumps, error) {
	return NewJumpsContext(context.Background(), d, reach)
}

// NewJumpsContext is NewJumps, which takes seconds for states that depend on a
// thousand guards, until ctx is done.
func NewJumpsContext(ctx context.Context, d *graph.Density, reach Reach) (*Jumps, error) {
	v, err := d.Cached(cacheKey{reach.Name}, func() (any, error) { return compile(ctx, d, reach) })
	if err != nil {
		return nil, fmt.Errorf("boundary: %w", err)
	}
	return v.(*Jumps), nil
}

func compile(ctx context.Context, d *graph.Density, reach Reach) (*Jumps, error) {
	c := compiler{reach: reach, arr: d.Arrangement(), v: graph.NewBuilder(d)}
	c.wanted = make([][]int, c.arr.Len())
	outs := make([]graph.Expr, c.arr.Len())
	for l := range outs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		outs[l] = c.jump(l)
	}
	return c.finish(outs)
}

// A compiler makes Jumps. While it does, planes have their numbers in the
// arrangement.
type compiler struct {
	reach  Reach
	arr    *regions.Arrangement
	v      *graph.Builder
	points []struct{ plane, latent int }
	signs  []signRow
	wanted [][]int // latents, by plane
}

// jump is Δ at a point on plane l. Latents that do not move keep the values of
// the sample, and so do the signs of planes that use none that move. A plane with
// one coordinate, whose coefficient is 1, fixes that; the others that move are
// inputs.
func (c *compiler) jump(l int) graph.Expr {
	h := c.arr.Plane(l)
	values, signs := map[int]graph.Expr{}, map[int]graph.Guard{}
	return c.v.Jump(l, graph.Substitution{
		Latent: func(i int) (graph.Expr, bool) {
			if _, known := values[i]; !known && c.reach.Moves(h, i) {
				values[i] = c.value(l, i)
			}
			x, ok := values[i]
			return x, ok
		},
		Sign: func(k int) (graph.Guard, bool) {
			if _, known := signs[k]; !known && c.meets(h, k) {
				signs[k] = c.sign(l, k)
			}
			g, ok := signs[k]
			return g, ok
		},
	})
}

// value is latent i, which moves, at the point on plane l.
func (c *compiler) value(l, i int) graph.Expr {
	if h := c.arr.Plane(l); len(h.Index) == 1 && h.Index[0] == i {
		return c.v.Number(-h.Const)
	}
	c.points = append(c.points, struct{ plane, latent int }{l, i})
	c.wanted[l] = append(c.wanted[l], i)
	return c.v.Point()
}

// meets reports whether plane k uses a latent that moves on h.
func (c *compiler) meets(h regions.Hyperplane, k int) bool {
	return slices.ContainsFunc(c.arr.Plane(k).Index, func(i int) bool { return c.reach.Moves(h, i) })
}

// sign is the sign of plane k at the point on plane l.
func (c *compiler) sign(l, k int) graph.Guard {
	h, o := c.arr.Plane(l), c.arr.Plane(k)
	if len(h.Index) == 1 && slices.Equal(h.Index, o.Index) {
		return c.v.Always(o.Const-h.Const > 0)
	}
	c.signs = append(c.signs, signRow{l, k})
	c.wanted[l] = append(c.wanted[l], o.Index...)
	return c.v.PointSign()
}

// finish keeps the planes where log r jumps, and numbers them.
func (c *compiler) finish(outs []graph.Expr) (*Jumps, error) {
	j := &Jumps{arr: c.arr}
	number := make([]int, len(outs))
	var jumps []graph.Expr
	for _, axis := range []bool{true, false} {
		for l, x := range outs {
			if len(c.arr.Plane(l).Index) == 1 != axis {
				continue
			}
			number[l] = -1
			if value, constant := x.IsConst(); !constant || value != 0 {
				number[l] = len(jumps)
				jumps = append(jumps, x)
				j.numbers = append(j.numbers, l)
				slices.Sort(c.wanted[l])
				j.latents = append(j.latents, slices.Compact(c.wanted[l]))
			}
		}
	}
	for _, x := range c.points {
		row := pointRow{plane: number[x.plane]}
		if row.plane >= 0 {
			row.at, _ = slices.BinarySearch(j.latents[row.plane], x.latent)
		}
		j.points = append(j.points, row)
	}
	for _, x := range c.signs {
		j.signs = append(j.signs, signRow{number[x.plane], x.other})
	}
	var err error
	j.prog, err = c.v.Compile(jumps)
	return j, err
}

// Planes are the hyperplanes where log r jumps.
func (j *Jumps) Planes() []regions.Hyperplane {
	planes := make([]regions.Hyperplane, len(j.numbers))
	for k, l := range j.numbers {
		planes[k] = j.arr.Plane(l)
	}
	return planes
}

// Number is plane k's number in the density's arrangement.
func (j *Jumps) Number(k int) int { return j.numbers[k] }

// Latents are the latents whose values are wanted on each plane, ascending.
func (j *Jumps) Latents() [][]int { return j.latents }

// Nodes is the number of nodes of the Gorgonia graph.
func (j *Jumps) Nodes() int { return j.prog.Nodes() }

// Graph is the Gorgonia graph of the jumps for n samples; see graph.Program.
func (j *Jumps) Graph(n int) (*graph.Graph, error) { return j.prog.Graph(n) }
