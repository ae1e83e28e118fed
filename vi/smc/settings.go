package smc

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Settings say where a run starts and how much work it does. The zero value works.
type Settings struct {
	// Draws are points in unconstrained coordinates, of which q0 is made: the normal with their mean
	// and twice their covariance. They need not be fair, but where the posterior
	// is they should be. Without any, a short scout finds some.
	Draws     [][]float64
	Islands   int // groups of particles without exchange between them, at least 2; default 8
	Particles int // in an island; default 64
	Moves     int // of each particle at each temperature; default 4
	Effective int // draws that are to be effective for the mean of each latent; default 2000
	MostMoves int // of each particle at β = 1, one without gradients counts by what it costs; default 3000. A run that is seen not to end within it ends after a fifth
	// Enough, if not nil, is asked now and then, in place of Effective, with the result so far, without diagnostics: it returns by what factor the number
	// of draws must grow. At 1 or less the run ends.
	Enough      func(Result) float64
	Undiagnosed bool   // the diagnostics of draws are left to Result.Diagnose
	Seed        uint64 // fixes the result, whatever the number of processors is
	// Complete, if not nil, returns what draws, in batches of n points, the latents that are summed out of the density, given the others. The draws of
	// the result have these latents, too; in the density nothing depends on them.
	Complete func(n int) Completer
	// Near, if not nil, returns a distribution near draws, or nil: at β = 1 moves also propose points of it.
	Near func(draws [][]float64) (Proposal, error)
	// Over, if not nil, is asked whether to end with what is there.
	Over func() bool
	// Reached, if not nil, is told draws of each temperature, from which another run can go on as its Draws; an error ends the run.
	Reached func(draws [][]float64) error
	// Progress is told how far the run is, after each temperature, and after each
	// move at the end. β is 0 while the run looks for where to begin.
	Progress func(Progress)

	wrong     func(w *walls)                    // breaks walls, in tests,
	noncentre func(s *noncentring) *noncentring // and coordinates of trajectories
}

// A Proposal is a distribution of some latents. It is used by several goroutines.
type Proposal interface {
	LogProbs(dst, z []float64)        // stores the log density, but for a constant, at n points z, latents × n, in dst of length n
	Rand(z []float64, rng *rand.Rand) // leaves the other latents as they are
}

// A Completer is that of package mixture: it draws latents that are summed out.
type Completer interface {
	Uniforms() int
	Draw(log, z, u []float64)
}

// checked is s with defaults, for a density of so many latents.
func (s Settings) checked(dim int) (Settings, error) {
	for k, z := range s.Draws {
		if sum := floats.Sum(z); len(z) != dim || math.IsNaN(sum) || math.IsInf(sum, 0) {
			return s, fmt.Errorf("draw %d is no point of %d finite coordinates", k, dim)
		}
	}
	s.Islands, s.Particles, s.Moves = cmp.Or(s.Islands, 8), cmp.Or(s.Particles, 64), cmp.Or(s.Moves, 4)
	s.Effective, s.MostMoves = cmp.Or(s.Effective, 2000), cmp.Or(s.MostMoves, 3000)
	switch {
	case s.Islands < 2:
		return s, fmt.Errorf("%d islands: at least 2", s.Islands)
	case s.Complete != nil && s.Complete(1) == nil:
		return s, errors.New("settings: Complete makes nil")
	case s.Particles < 2 || s.Moves < 1 || s.Effective < 1 || s.MostMoves < 2:
		return s, fmt.Errorf("%d particles, %d moves, %d draws, %d moves at the end: at least 2, 1, 1 and 2", s.Particles, s.Moves, s.Effective, s.MostMoves)
	}
	return s, nil
}
