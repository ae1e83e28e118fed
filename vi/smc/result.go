package smc

import (
	"errors"

	"github.com/facetvi/facet/vi/mc"
)

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
	// Weights are those of Z, and the last Proposed of them draws of other distributions, if such were added: nil and 0 of a run.
	Weights  []float64
	Proposed int
	// LogEvidence is the logarithm of the mean of the islands' evidences, with its jackknife
	// standard error. Where moves are slow on the way, as in funnels and among many walls, it tends to be too
	// low, by more than the error says; a bridge to the draws, which are moved on at β = 1, knows it better.
	LogEvidence mc.Estimate
	Islands     []float64 // the logarithms of their evidences
	Beta        float64   // 1, or where the run was ended
	Chains      int       // particles: draw k is of particle k mod Chains
	Effective   float64   // independent draws that would know the mean of the latent that is known the least as well
	Diagnostics
}

// Diagnostics say how far draws can be relied on. Slices have a number for each latent.
type Diagnostics struct {
	// RHat is the potential scale reduction of ranks, the larger one of those of the draws and of
	// their distances from the median (Vehtari et al., Bayesian Analysis 2021). Its chains are the
	// first and the second half of each island's draws. It is to be below 1.01.
	RHat []float64
	// Bulk and Tail are effective numbers of draws: for the mean of normalised ranks, and the lesser
	// one of those for the probabilities below the quantiles at 5 % and 95 %.
	Bulk, Tail []float64
	// Guards are those for the probability of the + side, by plane of the Arrangement: NaN where all
	// draws are on one side.
	Guards []float64

	Temperatures []float64 // the β that the run went through
	Acceptance   float64   // the share of trajectories that are accepted at β = 1
	Jumps        float64   // the share that is accepted of points that Settings.Near proposes; 0 if there is no such distribution
	Step         float64   // of leapfrog at β = 1, in units of the mass: in standard deviations of the particles, about
	Gradients    int       // of log r at one point each
	Crossings    int       // of walls
}

// ErrNowhere is the error of a model whose log density is finite at none of the first draws.
var ErrNowhere = errors.New("log r is finite at none of the first draws")
