package scout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/mc"
)

// A Result is a sample of the posterior and an estimate of its evidence.
type Result struct {
	// Z are draws in unconstrained coordinates: the states of the chains after each
	// move at β = 1, or every so many moves if there are many latents. Within an
	// island draws have equal weights.
	Z [][]float64
	// LogProb is log r at each draw, and Island the island that it is from.
	LogProb []float64
	Island  []int
	// LogEvidence is the logarithm of the mean of the islands' evidences, with its
	// jackknife standard error. Where the islands' logarithms differ by more than
	// one, it tends to be too low, and draws are a fair sample only if each island
	// has a weight in proportion to its evidence.
	LogEvidence mc.Estimate
	// Islands are the logarithms of the islands' evidences, −Inf for an island
	// without draws.
	Islands []float64
	// Beta is 1; or, if no island was done by Settings.Over, the inverse temperature of the
	// distribution that draws and evidences are of.
	Beta float64
	// Evaluations of the likelihood were made by all islands together.
	Evaluations int
}

// ErrNowhere is the error of a model whose log density is finite at none of the
// draws from the prior.
var ErrNowhere = errors.New("log r is finite at none of the draws from the prior")

// Run goes from the prior to the posterior of d. It stops with an error when ctx
// does.
func Run(ctx context.Context, d *graph.Density, s Settings) (Result, error) {
	result, err := search(ctx, d, s)
	if err != nil {
		return Result{}, fmt.Errorf("scout: %w", err)
	}
	return result, nil
}

func search(ctx context.Context, d *graph.Density, s Settings) (Result, error) {
	if ctx == nil || d == nil {
		return Result{}, errors.New("a nil context or density")
	}
	s, err := s.checked()
	if err != nil {
		return Result{}, err
	}
	draws := float64(s.Islands) * float64(s.Particles) * float64(s.Moves/thinning(s, d.Dim()))
	size := 8 * float64(d.Dim()+4) * draws
	if err := memory.Check("the draws of the scout", size); err != nil {
		return Result{}, err
	}
	program, err := d.Engine().Likelihood()
	if err != nil {
		return Result{}, err
	}
	report := reporter(s)
	islands := make([]*island, s.Islands)
	engines := make([]*engine, parallel.Processors(s.Islands))
	err = parallel.Do(len(engines), s.Islands, func(w, k int) (err error) {
		if engines[w] == nil {
			if engines[w], err = newEngine(d, program, s, parallel.Cut(s.Particles, d.Dim()).Size); err != nil {
				return err
			}
		}
		islands[k] = newIsland(engines[w], s, k)
		return islands[k].run(ctx, func(beta float64) { report(k, beta) })
	})
	if err != nil {
		return Result{}, err
	}
	r := Result{Beta: 1}
	var logs []float64 // evidences of the islands that count
	if slices.ContainsFunc(islands, func(l *island) bool { return l.cut }) {
		r.Beta = slices.MaxFunc(islands, func(a, b *island) int { return cmp.Compare(a.beta, b.beta) }).beta
	}
	for k, l := range islands {
		if l.cut && l.beta < r.Beta {
			l.z, l.logProb, l.evidence = nil, nil, math.Inf(-1)
		} else {
			logs = append(logs, l.evidence)
		}
		r.Z, r.LogProb = append(r.Z, l.z...), append(r.LogProb, l.logProb...)
		r.Island = append(r.Island, slices.Repeat([]int{k}, len(l.z))...)
		r.Islands = append(r.Islands, l.evidence)
	}
	for _, e := range engines {
		if e != nil {
			r.Evaluations += e.evaluations
		}
	}
	if len(r.Z) == 0 {
		return Result{}, ErrNowhere
	}
	r.LogEvidence = Combine(logs)
	return r, nil
}

// Combine is the logarithm of the mean of evidences, given their logarithms. The
// jackknife knows that it relies on one of them if one is much the largest, and nothing of a single
// one.
func Combine(logs []float64) mc.Estimate {
	n := float64(len(logs))
	if len(logs) == 1 {
		return mc.Estimate{Value: logs[0], SE: math.Inf(1)}
	}
	without := make([]float64, len(logs))
	for i := range logs {
		without[i] = floats.LogSumExp(slices.Delete(slices.Clone(logs), i, i+1))
	}
	se := math.Inf(1)
	if !math.IsInf(floats.Min(without), -1) {
		_, variance := stat.PopMeanVariance(without, nil)
		se = math.Sqrt((n - 1) * variance)
	}
	return mc.Estimate{Value: floats.LogSumExp(logs) - math.Log(n), SE: se}
}

// reporter tells Progress the least β of the islands.
func reporter(s Settings) func(island int, beta float64) {
	if s.Progress == nil {
		return func(int, float64) {}
	}
	var mu sync.Mutex
	at, told := make([]float64, s.Islands), 0.0
	return func(island int, beta float64) {
		mu.Lock()
		defer mu.Unlock()
		at[island] = beta
		if least := slices.Min(at); least > told {
			told = least
			s.Progress(told)
		}
	}
}
