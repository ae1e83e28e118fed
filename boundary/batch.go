package boundary

import (
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/vec"
)

// A Batch evaluates the jumps of a density at boundary points made from batches
// of N samples, under z = μ + s⊙ε with standard normal ε, and with them the
// gradient of log r at the samples themselves. That boundary points reuse the
// samples is unbiased by linearity; draws of their own have no less variance on
// any of the paper's models. A Batch is not safe for concurrent use, and
// allocates nothing after it is made.
//
// For each batch: fill Z and Signs of Samples, then call Run and AddGradient.
// Call Locate before that whenever μ or s has changed.
type Batch struct {
	j  *Jumps
	n  int
	s  Settings
	ex *graph.Executor

	axes    []axisPlane
	dense   []densePlane
	denseAt []int     // by plane: its position in dense, or −1
	eps     []float64 // ε at the points of dense planes, rows × N
	phi     []float64 // Φ of the planes at the samples, planes × N; only of those in use
	used    []int     // their numbers
	ratio   []float64 // of each row of signs; see signs.go
	chosen  *choice   // nil if all guards are used
}

// Bind returns a Batch of n samples for the data of d.
func (j *Jumps) Bind(d *graph.Density, n int, s Settings) (*Batch, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	// Planes with one coordinate need the sum of their jumps over the samples only.
	want := graph.Compute{OutSum: true, Grad: true}
	if s.Guards > 0 || len(j.points) > 0 {
		want = graph.Compute{Out: true, Grad: true}
	}
	ex, err := d.ExecutorOf(j.prog, n, want)
	if err != nil {
		return nil, err
	}
	b := &Batch{j: j, n: n, s: s, ex: ex, eps: make([]float64, len(j.points)*n)}
	for l, h := range j.arr.Planes() {
		b.denseAt = append(b.denseAt, -1)
		switch {
		case !j.active[l]:
		case len(h.Index) == 1:
			b.axes = append(b.axes, newAxisPlane(l, h))
		default:
			b.denseAt[l] = len(b.dense)
			b.dense = append(b.dense, newDensePlane(l, h, j.first[l], n, s.Method))
		}
	}
	b.used = j.used()
	b.ratio = make([]float64, len(j.signs))
	if len(b.used) > 0 {
		b.phi = make([]float64, j.Len()*n)
	}
	if s.Guards > 0 {
		b.chosen = newChoice(s, j.Len(), n)
	}
	return b, nil
}

// Samples is the executor whose Z and Signs hold the samples. After Run its Grad
// is the gradient of log r there.
func (b *Batch) Samples() *graph.Executor { return b.ex }

// Locate moves the hyperplanes to the coordinates of ε for the family's
// location mu and scale s, each of length Dim.
func (b *Batch) Locate(mu, s []float64) {
	locateAxes(b.axes, mu, s)
	for l := range b.dense {
		b.dense[l].locate(mu, s)
	}
	b.locateSigns()
	if b.chosen != nil {
		b.chosen.locate(b.axes, b.dense)
	}
}

// Run moves the samples to all hyperplanes and evaluates the jumps there. eps
// is the batch of ε, Dim × N, that Z was made from. rng is used only if guards are
// subsampled.
func (b *Batch) Run(eps []float64, rng *rand.Rand) error {
	if b.chosen != nil {
		b.chosen.draw(rng)
	}
	for _, l := range b.used {
		b.evaluate(l)
	}
	for l := range b.dense {
		if p := &b.dense[l]; p.w > 0 {
			p.project(b.values(p.plane), eps, b.ex.Z, b.eps, b.ex.Points)
		}
	}
	b.fillSigns()
	return b.ex.Run()
}

// AddGradient adds BouContr's summands, summed over the batch's N samples, to
// the gradients with respect to μ and s, each of length Dim.
func (b *Batch) AddGradient(gMu, gScale []float64) {
	if b.ex.OutSum != nil {
		addAxes(b.axes, b.ex.OutSum, gMu, gScale)
		return
	}
	for l := range b.axes {
		if p := &b.axes[l]; p.w > 0 {
			p.add(vec.Sum(b.jumps(p.plane)), gMu, gScale)
		}
	}
	for l := range b.dense {
		if p := &b.dense[l]; p.w > 0 {
			p.add(b.jumps(p.plane), b.eps, gMu, gScale)
		}
	}
}

// jumps are the jumps of the samples at a plane, times the factors of
// subsampling.
func (b *Batch) jumps(plane int) []float64 {
	delta := b.ex.Out[plane*b.n:][:b.n]
	if b.chosen != nil {
		return b.chosen.apply(plane, delta)
	}
	return delta
}
