package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
)

// What is spent on the cells that are kept.
const (
	negligible = 3e-5 // of the mass of a cell that is left out if little is known of it
	doubtful   = 0.03 // nats that more normals for a cell should bring,
	heavyCell  = 0.15 // if it has so much of the mass,
	farOff     = 1.0  // or if it has so much of the variance of a latent,
	distant    = 0.2  // or if draws do not tell how many it should be
	evenEnough = 0.75 // of the draws of a cell with reliable weights effective are enough,
	lostDraws  = 0.15 // unless the others are so large a part of all draws

	mostUnjudged = 300 // are kept when the budget is over: what is done with each takes time
)

// Finish says what becomes of the cells that a search has found.
type Finish struct {
	Most int // cells to keep; 0 for as many as it takes
	// Draws are about the posterior's.
	Draws [][]float64
	// Progress is told, by several goroutines, how many of the cells have been judged.
	// When Settings.Over says so they are not, and keep what the search has found of them.
	Progress func(judged, kept int)
}

// Finish keeps the cells that hold the mass, gives those more normals where one is not near, and judges them. It returns
// them by weight, with how much the others had, as a part of the whole. When ctx is done, its error is beside cells of
// which some are as the search has found them.
func (f *Search) Finish(ctx context.Context, s Finish) (kept []*Cell, left float64, err error) {
	known := f.together()
	total := known.total
	kept = f.Cells[:f.enough(known, s.Most)]
	for _, c := range kept {
		c.share = known.share(c.LogEvidence.Value, c.moments)
	}
	for _, c := range f.Cells[len(kept):] {
		left += math.Exp(c.LogEvidence.Value - total)
	}
	mixes := f.finders[0].mixes()
	var judged atomic.Int32
	err = parallel.Do(min(len(f.finders), len(kept)), len(kept), func(p, k int) error {
		if s.Progress != nil {
			defer func() { s.Progress(int(judged.Add(1)), len(kept)) }()
		}
		if f.over() || ctx.Err() != nil {
			return ctx.Err()
		}
		part := math.Exp(kept[k].LogEvidence.Value - total)
		return f.settle(ctx, f.finders[p].x, kept[k], part, mixes, s.Draws, parallel.NewRand(parallel.Mix(f.s.Seed, uint64(1<<32+k))))
	})
	if err == nil && mixes {
		err = f.mix(ctx, kept, known)
	}
	kept = slices.DeleteFunc(slices.Clone(kept), func(c *Cell) bool { // it would only bring its own errors
		return c.LogEvidence.Value < total+math.Log(negligible) && c.KHat > unreliable
	})
	slices.SortStableFunc(kept, byEvidence)
	if f.over() && len(kept) > mostUnjudged {
		for _, c := range kept[mostUnjudged:] {
			left += math.Exp(c.LogEvidence.Value - total)
		}
		kept = kept[:mostUnjudged]
	}
	return kept, left, err
}

// settle judges a cell of a part of the mass, unless little depends on it, and gives it more normals if one is not near, and the cell gets no mixture
// later.
func (f *Search) settle(ctx context.Context, x *graph.Executor, c *Cell, part float64, mixes bool, draws [][]float64, rng *rand.Rand) error {
	if part < weighty && c.share < heavyCell && c.known() && c.KHat < unreliable && !(mixes && part > mixedLeast && c.even < mixedSure) {
		return nil
	}
	n := f.draws(part)
	effective, err := f.judge(ctx, x, c, n, rng)
	c.even = effective
	if mixes {
		return err
	}
	if err != nil || f.over() || effective > evenEnough && part*(1-effective) < lostDraws && c.KHat < unreliable {
		return err
	}
	more := c.LogEvidence.Value - c.ELBO.Value
	far := c.KHat > unreliable && more > distant && c.share > weighty
	if !far && (part < heavyCell || part*more < doubtful) && (c.share < heavyCell || more < farOff) {
		return nil
	}
	return f.refineCell(ctx, x, c, draws, n, rng)
}

// refineCell gives a cell a mixture of normals, if that is nearer.
func (f *Search) refineCell(ctx context.Context, x *graph.Executor, c *Cell, draws [][]float64, n int, rng *rand.Rand) error {
	w := f.lines.boundsOf(c.span)
	s := newShape(c.Q, w.half)
	inside := slices.DeleteFunc(slices.Clone(draws), func(z []float64) bool { return s.outside(z) || f.lines.outside(w.curved, z) })
	q, err := refine(ctx, f.d, x, s, c.Q, inside, rng)
	if err != nil || q == c.Q || q == nil {
		return err
	}
	c.Q = q
	_, err = f.judge(ctx, x, c, n/2, rng)
	return err
}

// enough is how many of the first cells hold the mass and, but for a little, the variances; most at most, if that is not 0.
func (f *Search) enough(w totals, most int) int {
	n, mass, tail := len(f.Cells), 0.0, make([]float64, f.d.Dim())
	for n > 1 {
		c := f.Cells[n-1]
		mass += math.Exp(c.LogEvidence.Value - w.total)
		over := mass > f.s.Lost
		for i, v := range w.variance {
			tail[i] += w.square(i, c.LogEvidence.Value, c.moments)
			over = over || v > 0 && tail[i] > w.leastVariance*v
		}
		if over {
			break
		}
		n--
	}
	if most > 0 {
		n = min(n, most)
	}
	return n
}
