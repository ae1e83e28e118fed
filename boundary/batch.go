package boundary

import (
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/vec"
)

// A Batch evaluates the jumps of a density at boundary points made from batches
// of N samples, and with them the gradient of log r at the samples themselves.
// That boundary points reuse the samples is unbiased by linearity; draws of their
// own have no less variance on any of the paper's models. A Batch is not safe for
// concurrent use, and allocates nothing after it is made.
//
// For each batch: fill Z of Samples, call Sign and Run, and read the jumps of the
// pieces. Call Locate before that whenever the Surface's parameters have changed.
type Batch struct {
	j       *Jumps
	n       int
	surface Surface
	ex      *graph.Executor
	moves   *movement
	signs   *pointSigns
	chosen  *choice // nil if all pieces are used
}

// Bind returns a Batch of n samples for the data of d, which surface moves.
func (j *Jumps) Bind(d *graph.Density, n int, surface Surface, s Settings) (*Batch, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b := &Batch{j: j, n: n, surface: surface, moves: newMovement(j, n, surface)}
	b.signs = newPointSigns(b.moves, d.Dim())
	each := s.Guards > 0 || d.IsSimulation()
	for k := range j.pieces {
		each = each || b.moves.how[k] != never && surface.Each(k)
	}
	var err error
	if b.ex, err = d.Engine().Executor(j.prog, n, graph.Compute{Out: each, OutSum: !each, Grad: true, NewData: s.NewData}); err != nil {
		return nil, err
	}
	b.moves.bind(b.ex)
	if s.Guards > 0 {
		b.chosen = newChoice(s, len(j.pieces), n)
	}
	return b, nil
}

// Samples is the executor whose Z and Signs hold the samples. After Run its Grad
// is the gradient of log r there.
func (b *Batch) Samples() *graph.Executor { return b.ex }

// Len is the number of pieces.
func (b *Batch) Len() int { return len(b.j.pieces) }

// Locate follows a Surface whose parameters have changed.
func (b *Batch) Locate() {
	b.surface.Locate()
	b.signs.locate()
	if b.chosen != nil {
		b.chosen.locate(b.surface)
	}
}

// Sign fills Signs of Samples from Z. A caller whose Surface asks nothing of the curves
// at the samples may fill them otherwise.
func (b *Batch) Sign() { b.j.arr.SignBatchWith(b.ex.Signs, b.ex.Z, b.n, b.moves.own) }

// Run moves the samples to all pieces and evaluates the jumps there. rng is used
// only if guards are subsampled.
func (b *Batch) Run(rng *rand.Rand) error {
	if b.chosen != nil {
		b.chosen.draw(rng)
	}
	b.moves.run()
	b.signs.fill(b.ex.PointSigns)
	return b.ex.Run()
}

// Values are Φ at the samples on piece k; nil if nothing needs them, and on a piece of
// a curve.
func (b *Batch) Values(k int) []float64 { return b.moves.valuesOn(k) }

// Sums are the sums of the samples' jumps, by piece, if no piece needs them one
// by one; nil if some does, and then Jumps has them.
func (b *Batch) Sums() []float64 {
	if b.ex.OutSum == nil {
		return nil
	}
	return b.ex.OutSum[:len(b.j.pieces)]
}

// LogProbs is the sum of log r over the samples, of NewValuedJumps.
func (b *Batch) LogProbs() float64 {
	if k := len(b.j.pieces); b.ex.OutSum != nil {
		return b.ex.OutSum[k]
	} else {
		return vec.Sum(b.ex.Out[k*b.n:][:b.n])
	}
}

// Jumps are the jumps of the samples at piece k, times the factors of
// subsampling. They are valid until the next call.
func (b *Batch) Jumps(k int) []float64 {
	delta := b.ex.Out[k*b.n:][:b.n]
	if b.chosen != nil {
		return b.chosen.apply(k, delta)
	}
	return delta
}
