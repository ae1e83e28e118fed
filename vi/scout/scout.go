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

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/vi/mc"
)

// Settings say how much work a run does. The zero value works.
type Settings struct {
	Islands   int    // independent runs, at least 2; default 4
	Particles int    // chains of moves in an island, at least 16; default 512
	Moves     int    // of each chain at each temperature, at least 3; default 12
	Seed      uint64 // fixes the result, whatever the number of processors is
	// Progress is told the inverse temperature β that the slowest island has
	// reached, when it rises. It is called from one goroutine at a time.
	Progress func(beta float64)
}

// A Result is a sample of the posterior and an estimate of its evidence.
type Result struct {
	// Z are draws in unconstrained coordinates, each of the same weight: the states
	// of the chains after each move at β = 1, or every so many moves if there are
	// many latents, island after island.
	Z [][]float64
	// LogProb is log r at each draw.
	LogProb []float64
	// LogEvidence is the logarithm of the mean of the islands' evidences. Its
	// standard error comes from their differences.
	LogEvidence mc.Estimate
	// Islands are the logarithms of the islands' evidences.
	Islands []float64
	// Evaluations of the likelihood were made by all islands together.
	Evaluations int
}

// ErrNowhere is the error of a model whose log density is finite at none of the
// draws from the prior.
var ErrNowhere = errors.New("log r is finite at none of the draws from the prior")

// checked is s with defaults.
func (s Settings) checked() (Settings, error) {
	s.Islands, s.Particles, s.Moves = cmp.Or(s.Islands, 4), cmp.Or(s.Particles, 512), cmp.Or(s.Moves, 12)
	switch {
	case s.Islands < 2:
		return s, fmt.Errorf("%d islands: at least 2", s.Islands)
	case s.Particles < 16:
		return s, fmt.Errorf("%d particles: at least 16", s.Particles)
	case s.Moves < kinds:
		return s, fmt.Errorf("%d moves: at least %d", s.Moves, kinds)
	}
	return s, nil
}

// Run goes from the prior to the posterior of d. It stops with an error when ctx
// does.
func Run(ctx context.Context, d *graph.Density, s Settings) (Result, error) {
	result, err := run(ctx, d, s)
	if err != nil {
		return Result{}, fmt.Errorf("scout: %w", err)
	}
	return result, nil
}

func run(ctx context.Context, d *graph.Density, s Settings) (Result, error) {
	if ctx == nil || d == nil {
		return Result{}, errors.New("a nil context or density")
	}
	s, err := s.checked()
	if err != nil {
		return Result{}, err
	}
	thin := thinning(s, d.Dim())
	size := 8 * float64(d.Dim()+2) * float64(s.Islands) * float64(s.Particles) * float64(s.Moves/thin)
	if err := memory.Check("the draws of the scout", size); err != nil {
		return Result{}, err
	}
	program, err := d.Likelihood()
	if err != nil {
		return Result{}, err
	}
	report := reporter(s)
	islands := make([]*island, s.Islands)
	engines := make([]*engine, mc.Processors(s.Islands))
	err = mc.Do(len(engines), s.Islands, func(w, k int) (err error) {
		if engines[w] == nil {
			if engines[w], err = newEngine(d, program, mc.Cut(s.Particles, d.Dim()).Size); err != nil {
				return err
			}
		}
		islands[k] = newIsland(engines[w], s, thin, k)
		return islands[k].run(ctx, func(beta float64) { report(k, beta) })
	})
	if err != nil {
		return Result{}, err
	}
	return gather(islands)
}

// gather joins the islands' draws.
func gather(islands []*island) (Result, error) {
	var r Result
	for _, l := range islands {
		r.Z, r.LogProb = append(r.Z, l.z...), append(r.LogProb, l.logProb...)
		r.Islands = append(r.Islands, l.evidence)
		r.Evaluations += l.evaluations
	}
	r.LogEvidence = combine(r.Islands)
	return r, nil
}

// combine is the logarithm of the mean of evidences, given their logarithms, with
// the standard error of a first-order expansion. An island without evidence, −Inf,
// counts.
func combine(logs []float64) mc.Estimate {
	n := float64(len(logs))
	mean := floats.LogSumExp(logs) - math.Log(n)
	if math.IsInf(mean, -1) {
		return mc.Estimate{Mean: mean}
	}
	var ratios mc.Moments
	for _, v := range logs {
		ratios.Add(math.Exp(v - mean))
	}
	return mc.Estimate{Mean: mean, SE: ratios.SE()}
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
