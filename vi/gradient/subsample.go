package gradient

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
)

// A Subsample is an Estimator that looks at a part of the data at a time: each block of samples is for one of several
// parts (see graph.Density.Parts), in an order that is drawn anew when all have had their turn. Each estimate is unbiased,
// inside the regions and at the guards, if the estimator that it uses is: log r is the mean of the parts'.
type Subsample struct {
	of    Estimator
	d     *graph.Density
	parts []*graph.Density
	seed  uint64
}

// NewSubsample divides the data of d into parts, for an estimator of each. The seed is that of the division and of the orders.
func NewSubsample(d *graph.Density, of Estimator, parts int, seed uint64) (*Subsample, error) {
	list, err := d.Parts(parts, seed)
	if err != nil {
		return nil, fmt.Errorf("gradient: %w", err)
	}
	return &Subsample{of, d, list, seed}, nil
}

// Part is the density of part k.
func (e *Subsample) Part(k int) *graph.Density { return e.parts[k] }

// Name implements Estimator: "boundary of 100 parts".
func (e *Subsample) Name() string { return fmt.Sprintf("%s of %d parts", e.of.Name(), len(e.parts)) }

// Bind implements Estimator. d must be the density that the data are of.
func (e *Subsample) Bind(d *graph.Density, q family.Q, n int) (Worker, error) {
	if d != e.d {
		return nil, errors.New("gradient: the parts are of the data of another density")
	}
	w := &subsampleWorker{seed: e.seed, order: make([]int, len(e.parts)), epoch: -1}
	for _, p := range e.parts {
		x, err := e.of.Bind(p, q, n)
		if err != nil {
			return nil, err
		}
		w.parts = append(w.parts, part{Worker: x})
	}
	w.At(0)
	w.Locate(q)
	return w, nil
}

type subsampleWorker struct {
	parts []part
	seed  uint64
	order []int // of the parts in the epoch
	epoch int
	now   int // the part whose turn it is
	q     family.Q
	moves int // that q has made
}

// A part is the worker for one, which has followed q so far.
type part struct {
	Worker
	moves int
}

// A Turner is a Worker that estimates something else each time: At says that its next estimate is number t of all.
type Turner interface{ At(t int) }

// At implements Turner.
func (w *subsampleWorker) At(t int) {
	if epoch := t / len(w.order); epoch != w.epoch {
		w.epoch = epoch
		for i := range w.order {
			w.order[i] = i
		}
		rng := parallel.NewRand(parallel.Mix(w.seed, uint64(epoch)))
		rng.Shuffle(len(w.order), func(i, j int) { w.order[i], w.order[j] = w.order[j], w.order[i] })
	}
	w.now = w.order[t%len(w.order)]
}

// Locate implements Worker.
func (w *subsampleWorker) Locate(q family.Q) {
	w.q = q
	w.moves++
}

// Add implements Worker.
func (w *subsampleWorker) Add(sums []float64, rng *rand.Rand) error {
	p := &w.parts[w.now]
	if p.moves != w.moves {
		p.Locate(w.q)
		p.moves = w.moves
	}
	return p.Add(sums, rng)
}

// Sampler implements Worker.
func (w *subsampleWorker) Sampler() family.Sampler { return w.parts[w.now].Sampler() }
