package mixture

import (
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/vi/family"
)

// A Drawer draws a batch from the parts in proportion to their weights, which
// has less noise than draws that are independent: of n draws part k has n·π_k, rounded up or
// down.
type Drawer struct {
	q        *Mixture  // a copy
	complete Completer // or nil
	part     []int     // of each draw
	own      []float64 // the log density of its part there, or NaN
	z, point []float64
	u        []float64 // uniform numbers for the completer
	given    []float64 // the log density by it
	logs     []float64 // of the rest
	ratios   []float64 // see BaseRatios
	cube     hypercube // of draws of the same part that follow each other
	inverse  family.Inversion
}

// Drawer implements family.Q: it is a [Drawer].
func (m *Mixture) Drawer(n int) family.Drawer {
	d := &Drawer{
		q: m.Clone().(*Mixture), part: make([]int, n), own: make([]float64, n), z: make([]float64, n*m.Dim()), point: make([]float64, m.Dim()),
		given: make([]float64, n), logs: make([]float64, n), ratios: make([]float64, n),
	}
	if m.completion != nil {
		d.complete = d.q.completion.Completer(n)
		d.u = make([]float64, n*d.complete.Uniforms())
	}
	return d
}

// Locate implements family.Drawer.
func (d *Drawer) Locate(q family.Q) { d.q.Set(q.Theta()) }

// Draw implements family.Drawer.
func (d *Drawer) Draw(z []float64, rng *rand.Rand) {
	n, u := len(d.part), rng.Float64()
	for k := range d.part {
		d.part[k] = family.Pick(d.q.weight, (float64(k)+u)/float64(n))
	}
	rng.Shuffle(n, func(i, j int) { d.part[i], d.part[j] = d.part[j], d.part[i] })
	d.DrawParts(z, d.part, rng)
}

// DrawParts is Draw with the part of each draw.
func (d *Drawer) DrawParts(z []float64, parts []int, rng *rand.Rand) {
	n := len(parts)
	sizes, left := Hypercubes(parts), 0 // draws of this hypercube
	numbers := len(d.point)
	if d.complete != nil {
		numbers = d.complete.Uniforms()
	}
	for k, part := range parts {
		if left == 0 {
			left, sizes = sizes[0], sizes[1:]
			d.cube.fill(left, numbers, rng)
		}
		left--
		q, u, known := d.q.parts[part], d.cube.draw(left), false
		if d.complete != nil {
			q.(Completed).RandRest(d.point, rng)
			copy(d.u[k*numbers:], u)
		} else if d.own[k], known = d.inverse.Draw(q, d.point, u); !known {
			q.Rand(d.point, rng)
		}
		if !known {
			d.own[k] = math.NaN()
		}
		for i, x := range d.point {
			z[i*n+k] = x
		}
	}
	if d.complete != nil {
		d.complete.Draw(d.given, z, d.u)
	}
	copy(d.z, z)
	copy(d.part, parts)
}

// LogR implements family.Knower.
func (d *Drawer) LogR(p family.Program) []float64 {
	if d.complete == nil {
		return nil
	}
	return d.complete.LogR(p)
}

// SubLogQ implements family.Drawer.
func (d *Drawer) SubLogQ(dst []float64) {
	d.q.logRests(d.logs, d.ratios, d.z, d.part, d.own)
	vec.Add(d.logs, d.logs, d.given)
	vec.AddScaled(dst, -1, d.logs)
}

// BaseRatios are, after SubLogQ, the densities of a defensive mixture's base at the draws, divided by its own.
func (d *Drawer) BaseRatios() []float64 { return d.ratios }
