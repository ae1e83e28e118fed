package weighted

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/mixture"
)

// Draw weighs n draws of q by importance; the seed fixes them. It returns an error if there are fewer than 21 draws, the
// least for a k-hat, if log r is NaN or +Inf at one of them, or −Inf at all; and if ctx is done.
func Draw(ctx context.Context, d *graph.Density, q family.Q, n int, seed uint64) (*Sample, error) {
	if tailLength(max(0, n)) < minTail {
		return nil, fmt.Errorf("weighted: %d draws; a k-hat needs 21", n)
	}
	if err := family.Check(q, d); err != nil {
		return nil, fmt.Errorf("weighted: %w", err)
	}
	if err := memory.Check(fmt.Sprintf("%d draws", n), float64(n)*(50+16*float64(d.Dim()))); err != nil {
		return nil, fmt.Errorf("weighted: %w", err)
	}
	s := &Sample{density: d, q: q, Z: make([]float64, n*d.Dim()), LogRatio: make([]float64, n), columns: make([][]float64, d.Dim()), vectors: &vectors{}}
	m, mixed := q.(*mixture.Mixture)
	if mixed && m.BaseWeight(0) >= 0 {
		s.ratios = make([]float64, n)
	}
	var part []int // of each draw; nil if q has none
	if s.strata = whole(n); mixed {
		s.strata, part = stratify(m, n, seed)
	}
	s.strata.findFew()
	s.forms = newForms(q, s.strata, d.Dim())
	if err := s.draw(ctx, q, part, seed); err != nil {
		return nil, err
	}
	smoothed, err := ParetoSmooth(s.LogRatio)
	if err != nil {
		return nil, err
	}
	s.K, s.ESS = smoothed.K, smoothed.ESS
	s.Weights = smoothed.LogWeights
	s.strata.share(s.Weights, s.ratios)
	sum := floats.LogSumExp(s.Weights)
	for k, x := range s.Weights {
		s.Weights[k] = math.Exp(x - sum)
	}
	s.strata.spread(s.Weights, s.ratios)
	one := s.expect(nil, known{})
	s.LogEvidence = mc.Estimate{Value: sum - math.Log(float64(n)) + math.Log(one.Value), SE: one.SE / one.Value}
	return s, nil
}

// termsOfLatent is how many terms of log r make blocks as short as a latent does: of much data longer ones would take
// gigabytes.
const termsOfLatent = 64

// A worker draws and weighs blocks of draws.
type worker struct {
	x      *graph.Executor
	drawer family.Drawer
}

// draw fills Z and LogRatio, block by block, each with a random stream of its own.
func (s *Sample) draw(ctx context.Context, q family.Q, part []int, seed uint64) error {
	n, d := len(s.LogRatio), s.density
	cut := parallel.Cut(n, max(d.Dim(), d.Terms()/termsOfLatent))
	s.strata.group(part, cut)
	bind := func(n int) (w worker, err error) {
		if ctx.Err() != nil { // a drawer of many parts takes time
			return w, context.Cause(ctx)
		}
		if w.x, err = d.Executor(n, graph.Compute{Out: true}); err != nil {
			return w, err
		}
		w.drawer = q.Drawer(n)
		return w, nil
	}
	pool, err := parallel.NewPool(cut, parallel.Processors(cut.Len()), seed, bind, func(worker) {}, func(w worker, b int, rng *rand.Rand) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		first, x := b*cut.Size, w.x
		if part == nil {
			w.drawer.Draw(x.Z, rng)
		} else {
			w.drawer.(*mixture.Drawer).DrawParts(x.Z, part[first:][:x.N], rng)
		}
		logR, err := LogR(d, x, w.drawer)
		if err != nil {
			return err
		}
		ratio := s.LogRatio[first:][:x.N]
		copy(ratio, logR)
		for _, v := range ratio {
			if math.IsNaN(v) || math.IsInf(v, 1) {
				return s.bad(q, v)
			}
		}
		if w.drawer.SubLogQ(ratio); s.ratios != nil {
			copy(s.ratios[first:], w.drawer.(*mixture.Drawer).BaseRatios())
		}
		for i := range d.Dim() {
			copy(s.Z[i*n+first:][:x.N], x.Z[i*x.N:][:x.N])
		}
		return nil
	})
	if err == nil {
		err = pool.Round()
	}
	if err != nil {
		return fmt.Errorf("weighted: %w", err)
	}
	return nil
}

// LogR is log r of d at what a drawer has put in x.Z, by x unless the drawer knows it.
func LogR(d *graph.Density, x *graph.Executor, drawer family.Drawer) ([]float64, error) {
	if k, ok := drawer.(family.Knower); ok {
		if logs := k.LogR(d); logs != nil {
			return logs, nil
		}
	}
	d.Arrangement().SignBatch(x.Signs, x.Z, x.N)
	err := x.Run()
	return x.Out, err
}

// bad is the error of a log density that is NaN or +Inf at a draw.
func (s *Sample) bad(q family.Q, value float64) error {
	err := fmt.Errorf("log r is %v at a draw", value)
	if why := gradient.Blame(s.density, q); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}
