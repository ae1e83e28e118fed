package gradient

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/vi/family"
)

// Boundary is the unbiased, low-variance estimator of Lee, Yu and Yang (NeurIPS
// 2018): the reparameterization gradient inside the regions plus the surface
// integral over the guards. The zero value uses all guards. It is unbiased for
// every model. Its variance is infinite where a curved guard comes to the edge of
// a logarithm's or a quantile's domain along it, and cannot be solved for the
// latent that is on the edge: as a·log b + b > −0.85 at a = b = 0.
type Boundary struct {
	// Guards is how many guards each sample uses, drawn with replacement, each
	// divided by its probability; 0 means all of them, without any draw.
	Guards int `json:",omitempty"`
	// By is how they are drawn.
	By boundary.Subsampling `json:",omitempty"`
}

// SingleGuard is the paper's own variant of Boundary: each sample uses one
// guard, drawn uniformly.
func SingleGuard() Boundary {
	return Boundary{Guards: 1, By: boundary.Uniform}
}

// Named returns score, reparam, boundary or boundary_single.
func Named(name string) (Estimator, error) {
	for _, e := range []Estimator{Score{}, Reparam{}, Boundary{}, SingleGuard()} {
		if e.Name() == name {
			return e, nil
		}
	}
	return nil, fmt.Errorf("gradient: no estimator %q; there are score, reparam, boundary and boundary_single", name)
}

// Name implements Estimator: "boundary", "boundary_single" for one guard a sample,
// "boundary_5" for five.
func (e Boundary) Name() string {
	switch e.Guards {
	case 0:
		return "boundary"
	case 1:
		return "boundary_single"
	}
	return fmt.Sprintf("boundary_%d", e.Guards)
}

// Prepare implements Preparer: it compiles the jumps of d.
func (e Boundary) Prepare(ctx context.Context, d *graph.Density, q family.Q) error {
	s, err := bind(q, 1)
	if err == nil {
		_, err = boundary.NewJumpsContext(ctx, d, s.Reach())
	}
	return err
}

// Bind implements Estimator.
func (e Boundary) Bind(d *graph.Density, q family.Q, n int) (Worker, error) {
	p, err := BindParts(d, q, n, e)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Parts is the Worker of Boundary, which can also tell what the gradient is made
// of: call Run, then AddBoundary and AddPlane as you like, and at last AddInside
// or AddAll.
type Parts struct {
	samples
	batch   *boundary.Batch
	jumps   *boundary.Jumps
	surface family.Surface
	first   []int     // by hyperplane or curve: its first piece, and at last how many there are
	field   []float64 // scratch
	none    []float64 // sums of 0, and what is known exactly, of FinishPart
	exact   []float64
	theta   []float64 // that it was located at last
}

// BindParts is Boundary.Bind for a caller that wants the parts.
func BindParts(d *graph.Density, q family.Q, n int, e Boundary) (*Parts, error) {
	return bindParts(d, q, n, e, false, boundary.NewJumps)
}

// BindValued is BindParts with Value. With newData SetData may give it the data of another density of the program.
func BindValued(d *graph.Density, q family.Q, n int, e Boundary, newData bool) (*Parts, error) {
	return bindParts(d, q, n, e, newData, boundary.NewValuedJumps)
}

func bindParts(d *graph.Density, q family.Q, n int, e Boundary, newData bool, jumpsOf func(*graph.Density, boundary.Reach) (*boundary.Jumps, error)) (*Parts, error) {
	sampler, err := bind(q, n)
	if err != nil {
		return nil, err
	}
	jumps, err := jumpsOf(d, sampler.Reach())
	if err != nil {
		return nil, err
	}
	surface := sampler.Surface(jumps.Pieces(), jumps.Latents())
	batch, err := jumps.Bind(d, n, surface, boundary.Settings{Guards: e.Guards, By: e.By, NewData: newData})
	if err != nil {
		return nil, err
	}
	p := &Parts{samples: samples{d, batch.Samples(), sampler}, batch: batch, jumps: jumps, surface: surface}
	for k, x := range jumps.Pieces() {
		if k == 0 || x.Plane != jumps.Pieces()[k-1].Plane {
			p.first = append(p.first, k)
		}
	}
	p.first = append(p.first, batch.Len())
	p.Locate(q)
	return p, nil
}

// Locate implements Worker. It does nothing where θ has stood still.
func (p *Parts) Locate(q family.Q) {
	if p.theta != nil && slices.Equal(p.theta, q.Theta()) {
		return
	}
	p.theta = append(p.theta[:0], q.Theta()...)
	p.sampler.Locate(q)
	p.batch.Locate()
}

// SetData lets it go on with the data of d, a density of the same program.
func (p *Parts) SetData(d *graph.Density) error { return d.Feed(p.ex) }

// Value is Σ (log r − log q) over the samples of the last Run of one that BindValued made.
func (p *Parts) Value() float64 {
	sum := p.batch.LogProbs()
	if !p.d.IsSimulation() { // there q is the prior, which is not in log r
		if p.field == nil {
			p.field = make([]float64, len(p.ex.Grad))
		}
		logQ := p.field[:p.ex.N]
		clear(logQ)
		p.sampler.SubLogQ(logQ)
		sum += vec.Sum(logQ)
	}
	return sum
}

// Add implements Worker.
func (p *Parts) Add(sums []float64, rng *rand.Rand) error {
	if err := p.Run(rng); err != nil {
		return err
	}
	p.AddAll(sums)
	return nil
}

// Run draws a batch and evaluates the density's gradient and jumps.
func (p *Parts) Run(rng *rand.Rand) error {
	p.draw(rng)
	return p.batch.Run(rng)
}

func (p *Parts) draw(rng *rand.Rand) {
	p.sampler.Draw(p.ex.Z, rng)
	p.batch.Sign()
}

// AddAll adds the whole gradient. It uses up ∇log r.
func (p *Parts) AddAll(sums []float64) {
	if p.surface.Seeds() {
		p.addPlanes(sums, p.ex.Grad)
		p.sampler.AddPath(sums, p.ex.Grad)
		return
	}
	p.sampler.AddPath(sums, p.ex.Grad)
	p.addPlanes(sums, nil)
}

// AddInside adds RepGrad, the part inside the regions. It uses up ∇log r.
func (p *Parts) AddInside(sums []float64) { p.sampler.AddPath(sums, p.ex.Grad) }

// AddBoundary adds BouContr, the part of all guards.
func (p *Parts) AddBoundary(sums []float64) {
	field := p.zeros()
	p.addPlanes(sums, field)
	p.pull(sums, field)
}

// Planes is the number of hyperplanes and curves where log r jumps.
func (p *Parts) Planes() int { return len(p.first) - 1 }

// Number is the number in the density's arrangement of plane k.
func (p *Parts) Number(k int) int { return p.jumps.Pieces()[p.first[k]].Plane }

// AddPlane adds the part of plane k.
func (p *Parts) AddPlane(sums []float64, k int) {
	field := p.zeros()
	for piece := p.first[k]; piece < p.first[k+1]; piece++ {
		p.addPiece(sums, field, piece)
	}
	p.pull(sums, field)
}

// FinishPart writes the mean gradient by what was added to sums to dst, without what is known exactly of the entropy.
func (p *Parts) FinishPart(dst, sums []float64, n int) {
	if p.none == nil {
		p.none, p.exact = make([]float64, len(sums)), make([]float64, len(dst))
	}
	p.sampler.Finish(dst, sums, n)
	p.sampler.Finish(p.exact, p.none, n)
	floats.Sub(dst, p.exact)
}

// zeros is a field for the surface to write to, nil if it does not.
func (p *Parts) zeros() []float64 {
	if !p.surface.Seeds() {
		return nil
	}
	if p.field == nil {
		p.field = make([]float64, len(p.ex.Grad))
	}
	clear(p.field)
	return p.field
}

func (p *Parts) pull(sums, field []float64) {
	if field != nil {
		p.sampler.Pull(sums, field)
	}
}

func (p *Parts) addPlanes(sums, grad []float64) {
	if totals := p.batch.Sums(); len(totals) > 0 {
		p.surface.AddSums(sums, 0, totals)
		return
	}
	for k := range p.batch.Len() {
		p.addPiece(sums, grad, k)
	}
}

func (p *Parts) addPiece(sums, grad []float64, k int) {
	switch totals := p.batch.Sums(); {
	case len(totals) > 0:
		p.surface.AddSums(sums, k, totals[k:k+1])
	case p.surface.Reached(k): // else the jump, which may be infinite, does not count
		p.surface.Add(sums, grad, k, p.batch.Values(k), p.batch.Jumps(k))
	}
}
