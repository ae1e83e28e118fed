package smc

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/facetvi/facet/vi/mc"
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
	MostMoves int // of each particle at the end; default 3000. A run that will not have done by then ends after a fifth of it
	// Enough, if not nil, is asked now and then, in place of Effective, by how many times there have to be more draws, with what there is but
	// for diagnostics. At 1 or less the run ends.
	Enough func(Result) float64
	Seed   uint64 // fixes the result, whatever the number of processors is
	// Complete, if not nil, returns what draws latents that are summed out of the density, given the others, in batches of n
	// points. Draws have theirs; in the density nothing depends on them.
	Complete func(n int) Completer
	// Near, if not nil, returns a distribution near draws, or nil: at β = 1 moves also propose points of it.
	Near func(draws [][]float64) (Proposal, error)
	// Over, if not nil, is asked whether to end with what is there.
	Over func() bool
	// Progress is told how far the run is, after each temperature, and after each
	// move at the end.
	Progress func(Progress)

	wrong func(w *walls) // breaks walls, in tests
}

// A Proposal is a distribution of some latents. It is used by several goroutines.
type Proposal interface {
	LogProb(z []float64) float64
	Rand(z []float64, rng *rand.Rand) // leaves the other latents as they are
}

// A Completer is that of package family.
type Completer interface {
	Uniforms() int
	Draw(log, z, u []float64)
}

// Progress is how far a run is.
type Progress struct {
	Beta       float64 // the inverse temperature
	Moves      int     // at β = 1
	Effective  float64 // draws so far, of the latent that has the fewest
	Goal       float64 // how many these are to be
	Acceptance float64 // of the moves since the last report
	Step       float64 // of leapfrog, in units of the mass
}

// A Result is a sample of the posterior, and what is known of its quality.
type Result struct {
	// Z are draws in unconstrained coordinates, all with the same weight, and Island the island that each is from.
	Z      [][]float64
	Island []int
	// LogEvidence is the logarithm of the mean of the islands' evidences, with its jackknife
	// standard error. Where moves are slow on the way, as in funnels and among many walls, it tends to be too
	// low, by more than the error says; the draws, which are moved on at β = 1, are not concerned, and a bridge to them knows it better.
	LogEvidence mc.Estimate
	Islands     []float64 // the logarithms of their evidences
	Beta        float64   // 1, or where the run was ended
	Chains      int       // particles: draw k is of particle k mod Chains
	Effective   float64   // independent draws that would know the mean of the latent that is known the least as well
	Diagnostics
}

// ErrNowhere is the error of a model whose log density is finite at none of the first draws.
var ErrNowhere = errors.New("log r is finite at none of the first draws")

// checked is s with defaults.
func (s Settings) checked() (Settings, error) {
	s.Islands, s.Particles, s.Moves = cmp.Or(s.Islands, 8), cmp.Or(s.Particles, 64), cmp.Or(s.Moves, 4)
	s.Effective, s.MostMoves = cmp.Or(s.Effective, 2000), cmp.Or(s.MostMoves, 3000)
	switch {
	case s.Islands < 2:
		return s, fmt.Errorf("%d islands: at least 2", s.Islands)
	case s.Particles < 2 || s.Moves < 1 || s.Effective < 1 || s.MostMoves < 2:
		return s, fmt.Errorf("%d particles, %d moves, %d draws, %d moves at the end: at least 2, 1, 1 and 2", s.Particles, s.Moves, s.Effective, s.MostMoves)
	}
	return s, nil
}
