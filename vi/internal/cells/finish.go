package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/weighted"
)

// What is spent on the cells that are kept.
const (
	negligible  = 3e-5 // of the mass of a cell that is left out if little is known of it
	weighty     = 0.01 // of the mass of a cell that is judged by more than its search,
	judgedSE    = 0.1  // and the log evidence of one of less whose standard error times its share is no less than of one of that mass,
	leastDraws  = 400  // that judge it
	mostDraws   = 8000
	cheapGuards = 1000 // of a density with more of them draws are fewer
	unreliable  = 0.7  // k-hat
	doubtful    = 0.03 // nats that more normals for a cell should bring,
	heavyCell   = 0.15 // if it has so much of the mass,
	farOff      = 1.0  // or if it has so much of the variance of a latent,
	distant     = 0.2  // or if draws do not tell how many it should be
	evenEnough  = 0.75 // of the draws of a cell with reliable weights effective are enough,
	lostDraws   = 0.15 // unless the others are so large a part of all draws
	tiltMore    = 1.1  // times as many draws should be effective if a cell is tilted

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
	known := f.whole()
	total := known.total
	kept = f.Cells[:f.enough(known, s.Most)]
	for _, c := range kept {
		c.share = known.share(c.LogEvidence.Value, c.mean, c.sd)
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
	slices.SortStableFunc(kept, func(a, b *Cell) int {
		switch {
		case a.LogEvidence.Value > b.LogEvidence.Value:
			return -1
		case a.LogEvidence.Value < b.LogEvidence.Value:
			return 1
		}
		return 0
	})
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
	return f.refine(ctx, x, c, draws, n, rng)
}

// draws is how many judge a cell of a part of the mass.
func (f *Search) draws(part float64) int {
	return max(leastDraws, int(mostDraws*part)*cheapGuards/max(cheapGuards, f.d.Arrangement().Len()))
}

// refine gives a cell a mixture of normals, if that is nearer.
func (f *Search) refine(ctx context.Context, x *graph.Executor, c *Cell, draws [][]float64, n int, rng *rand.Rand) error {
	half, _, curved := f.lines.affine(f.lines.sides(c.span))
	s := newShape(c.Q, half)
	inside := slices.DeleteFunc(slices.Clone(draws), func(z []float64) bool { return s.outside(z) || f.lines.outside(curved, z) })
	q, err := refine(ctx, f.d, x, s, c.Q, inside, rng)
	if err != nil || q == c.Q || q == nil {
		return err
	}
	c.Q = q
	_, err = f.judge(ctx, x, c, n/2, rng)
	return err
}

// enough is how many of the first cells hold the mass and, but for a little, the variances; most at most, if that is not 0.
func (f *Search) enough(w whole, most int) int {
	n, mass, tail := len(f.Cells), 0.0, make([]float64, f.d.Dim())
	for n > 1 {
		c := f.Cells[n-1]
		mass += math.Exp(c.LogEvidence.Value - w.total)
		over := mass > f.s.Lost
		for i, v := range w.variance {
			tail[i] += w.square(i, c.LogEvidence.Value, c.mean, c.sd)
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

// judge measures a cell by n draws of its own distribution, and some of one that is
// wider. It returns the part of them that is effective.
func (f *Search) judge(ctx context.Context, x *graph.Executor, c *Cell, n int, rng *rand.Rand) (effective float64, err error) {
	narrow, err := ratios(ctx, f.d, x, c.Q, n, rng)
	if err != nil {
		return 0, err
	}
	c.ELBO = mc.Mean(narrow.ratio)
	smoothed, err := weighted.ParetoSmooth(narrow.ratio)
	if err != nil {
		return 0, err
	}
	c.KHat = smoothed.K
	broad := mixture.Widened(c.Q, mixture.WideScale(f.d.Dim()))
	far, err := ratios(ctx, f.d, x, broad, n/mixture.WideShare, rng)
	if err != nil {
		return 0, err
	}
	// the balance heuristic (Veach and Guibas, 1995)
	share := float64(n/mixture.WideShare) / float64(n+n/mixture.WideShare)
	all := make([]float64, 0, n+n/mixture.WideShare)
	inner, outer := narrow.logQ(), far.logQ()
	for k, l := range mixture.LogProbsBeside(broad, narrow.z, c.Q, inner) {
		all = append(all, narrow.logR[k]-logAdd(math.Log1p(-share)+inner[k], math.Log(share)+l))
	}
	for k, l := range mixture.LogProbsBeside(c.Q, far.z, broad, outer) {
		all = append(all, far.logR[k]-logAdd(math.Log1p(-share)+l, math.Log(share)+outer[k]))
	}
	if e := mc.LogMean(all); finite(e.Value) { // else what the search has found stands
		c.LogEvidence = e
	}
	return even(all), nil
}

func logAdd(a, b float64) float64 {
	if a == b { // both may be infinite
		return a + math.Ln2
	}
	return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
}

// weighed are draws of a distribution with log r and log r − log q.
type weighed struct {
	z           [][]float64
	logR, ratio []float64
}

func (w weighed) logQ() []float64 { return floats.SubTo(make([]float64, len(w.z)), w.logR, w.ratio) }

// ratios are those of n draws of q; x is for batches of quick samples. It is an error if ctx is done.
func ratios(ctx context.Context, d *graph.Density, x *graph.Executor, q family.Q, n int, rng *rand.Rand) (w weighed, err error) {
	draw := q.Drawer(quick)
	logQ := make([]float64, quick)
	all := make([]float64, n*d.Dim())
	w = weighed{make([][]float64, 0, n), make([]float64, 0, n), make([]float64, 0, n)}
	for len(w.z) < n {
		if ctx.Err() != nil {
			return w, ctx.Err()
		}
		draw.Draw(x.Z, rng)
		clear(logQ)
		draw.SubLogQ(logQ)
		d.Arrangement().SignBatch(x.Signs, x.Z, quick)
		if err := x.Run(); err != nil {
			return w, err
		}
		for k := range min(quick, n-len(w.z)) {
			z := all[:d.Dim():d.Dim()]
			for i := range z {
				z[i] = x.Z[i*quick+k]
			}
			all = all[len(z):]
			w.z = append(w.z, z)
			w.logR = append(w.logR, x.Out[k])
			w.ratio = append(w.ratio, x.Out[k]+logQ[k])
		}
	}
	return w, nil
}
