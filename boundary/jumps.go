package boundary

import (
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// Jumps is the batched graph of the jumps of a density: for each hyperplane l of
// its arrangement Δ_l, the change of log r from the − to the + side, at points
// on l. It is immutable, safe for concurrent use, and the same for all data of
// the model.
type Jumps struct {
	prog *graph.Program
	arr  *regions.Arrangement
	// rows of the program's inputs
	points []pointRow
	signs  []signRow
	first  []int // for each plane its first row in points, or −1 for axis planes
	active []bool
}

// A pointRow is a coordinate of the point on a plane.
type pointRow struct{ plane, latent int }

// A signRow is the sign of another plane at the point on a plane.
type signRow struct{ plane, other int }

type cacheKey struct{}

// NewJumps compiles the jumps of d. It does so once for each model.
func NewJumps(d *graph.Density) (*Jumps, error) {
	v, err := d.Cached(cacheKey{}, func() (any, error) { return compile(d) })
	if err != nil {
		return nil, fmt.Errorf("boundary: %w", err)
	}
	return v.(*Jumps), nil
}

func compile(d *graph.Density) (*Jumps, error) {
	j := &Jumps{arr: d.Arrangement()}
	v := graph.NewBuilder(d)
	outs := make([]graph.Expr, j.arr.Len())
	for l := range outs {
		outs[l] = j.jump(v, l)
		value, constant := outs[l].IsConst()
		j.active = append(j.active, !constant || value != 0)
	}
	var err error
	j.prog, err = v.Compile(outs)
	return j, err
}

// jump is Δ_l at a point on plane l. A plane with one coordinate, whose
// coefficient is 1, fixes that coordinate; of other planes the coordinates are inputs. Latents that the
// plane does not use keep the values of the sample, and so do the signs of
// planes that use none of its latents.
func (j *Jumps) jump(v *graph.Builder, l int) graph.Expr {
	h := j.arr.Plane(l)
	on := map[int]graph.Expr{}
	if len(h.Index) == 1 {
		j.first = append(j.first, -1)
		on[h.Index[0]] = v.Number(-h.Const)
	} else {
		j.first = append(j.first, len(j.points))
		for _, i := range h.Index {
			j.points = append(j.points, pointRow{l, i})
			on[i] = v.Point()
		}
	}
	others := map[int]graph.Guard{}
	return v.Jump(l, graph.Substitution{
		Latent: func(i int) (graph.Expr, bool) { x, ok := on[i]; return x, ok },
		Sign: func(k int) (graph.Guard, bool) {
			if _, ok := others[k]; !ok && j.meets(h, k) {
				others[k] = j.signOn(v, l, k)
			}
			g, ok := others[k]
			return g, ok
		},
	})
}

// meets reports whether plane k uses a latent of h.
func (j *Jumps) meets(h regions.Hyperplane, k int) bool {
	for _, i := range h.Index {
		for _, o := range j.arr.Plane(k).Index {
			if i == o {
				return true
			}
		}
	}
	return false
}

// signOn is the sign of plane k at the point on plane l.
func (j *Jumps) signOn(v *graph.Builder, l, k int) graph.Guard {
	h, o := j.arr.Plane(l), j.arr.Plane(k)
	if len(h.Index) == 1 && len(o.Index) == 1 {
		return v.Always(o.Const-h.Const > 0)
	}
	j.signs = append(j.signs, signRow{l, k})
	return v.PointSign()
}

// Len is the number of hyperplanes.
func (j *Jumps) Len() int { return j.arr.Len() }

// Nodes is the number of nodes of the Gorgonia graph.
func (j *Jumps) Nodes() int { return j.prog.Nodes() }

// Graph is the Gorgonia graph of the jumps for n samples; see graph.Program.
func (j *Jumps) Graph(n int) (*graph.Graph, error) { return j.prog.Graph(n) }
