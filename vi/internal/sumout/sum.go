package sumout

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/elimination"
	"github.com/facetvi/facet/regions"
)

// A Sum sums switches out (see derive.Density.Switches): given the other latents, a switch
// has in each interval between its thresholds its prior, times what log r knows of
// the interval,
//
//	r(rest) = r₀(rest)·Σ_j Π_i P_i,j_i(rest)·Π_f exp(L_f,j(rest)),
//
// where j are the switches' intervals, L are sums of terms of log r that depend on one or a few of
// them, and r₀ is what depends on none, without the priors of the switches. It works on batches, and is a scout.Sum.
type Sum struct {
	masses
	d        *graph.Density
	X        *graph.Executor // whose Z and Signs are those of the samples
	Out      []float64       // log r at them
	table    *derive.Table
	plan     *elimination.Plan
	states   *elimination.Sum
	linear   *elimination.Linear // or nil
	interval []int               // of one sample
	u        []float64           // numbers that Draw needs for one sample
	// same says that all samples are alike: all latents are switches, which depend on each other by log r alone. One sample is then summed, once.
	same, ran bool
	one       *Sum // of that sample; nil where it is s itself, or where samples differ
}

// New returns a Sum for n samples.
func New(d *graph.Density, switches []derive.SwitchLatent, n int) (*Sum, error) {
	s := &Sum{d: d, masses: masses{Switches: switches, N: n}, Out: make([]float64, n), interval: make([]int, len(switches)), u: make([]float64, 2*len(switches))}
	t, err := d.Engine().Tabulate(context.Background(), switches)
	if err != nil {
		return nil, err
	}
	if s.prior, err = d.Residuals(n); err != nil {
		return nil, err
	}
	s.same = len(switches) == d.Dim() && !slices.ContainsFunc(switches, func(w derive.SwitchLatent) bool { return !s.fixed(w) })
	if s.same && n > 1 {
		if s.one, err = New(d, switches, 1); err != nil {
			return nil, err
		}
		s.cuts, s.cut, s.plan = s.one.cuts, s.one.cut, s.one.plan
		s.X, err = d.Executor(n, graph.Compute{Out: true})
		return s, err
	}
	if s.table, err = t.Bind(d.Engine(), n); err != nil {
		return nil, err
	}
	s.X = s.table.X
	s.find(d)
	var values []int
	for _, w := range switches {
		values = append(values, len(w.Planes)+1)
	}
	s.plan = elimination.NewPlan(values, t.Factors, math.MaxInt)
	s.states = s.plan.Bind(n)
	if m := s.table.Monomials(); m > 0 && s.plan.Rows() <= t.Rows() { // else it is less to compute the rows
		s.linear = s.plan.Linear(m)
	}
	return s, nil
}

// Group is the number of the group of switches that depend on each other to which switch i belongs.
func (s *Sum) Group(i int) int { return s.plan.Group(i) }

// Fixed reports whether LogMass is the same at all samples.
func (s *Sum) Fixed() bool { return len(s.vary) == 0 }

// LogMass is the log of what the prior has in interval j of switch i at the first sample.
func (s *Sum) LogMass(i, j int) float64 { return s.mass[i][j*s.N] }

// Run computes Out, the log of r with the switches summed out, at the samples in X.Z,
// whose switches it puts below all thresholds. Signs of the other planes are those of
// forced, or the samples' own if that is nil.
func (s *Sum) Run(forced *regions.Signs) error {
	n := s.N
	if s.one != nil {
		if err := s.one.Run(nil); err != nil {
			return err
		}
		for k := range s.Out {
			s.Out[k] = s.one.Out[0]
		}
		return nil
	}
	if s.ran {
		return nil
	}
	s.ran = s.same
	s.Place()
	if forced == nil {
		s.d.Arrangement().SignBatch(s.X.Signs, s.X.Z, n)
	} else {
		s.X.Force(*forced)
	}
	return s.Add()
}

// Place puts the switches below all thresholds.
func (s *Sum) Place() {
	n := s.N
	for i, w := range s.Switches {
		if s.cuts[i] != nil {
			s.cuts[i].Fill(s.cut[i], s.X.Z)
		}
		row := s.X.Z[w.Latent*n:][:n]
		for k := range row {
			row[k] = s.put(i, k)
		}
	}
}

// Add computes Out, the switches placed and the signs given.
func (s *Sum) Add() error {
	s.follow(s.X.Z)
	mass := func(i int) []float64 { return s.mass[i] }
	alike, err := s.addUp(mass)
	if err != nil {
		return err
	}
	if !alike {
		if err := s.X.Run(); err != nil {
			return err
		}
		s.states.Run(s.table.Factor, mass)
		copy(s.Out, s.table.Rest())
	}
	for k, total := range s.states.Total {
		s.Out[k] += total - s.below
		for _, i := range s.vary {
			s.Out[k] -= s.prior.LogPriorOf(s.Switches[i].Latent, k)
		}
	}
	return nil
}

// addUp sums by polynomials, if samples are alike where it matters.
func (s *Sum) addUp(mass func(i int) []float64) (alike bool, err error) {
	if s.linear == nil {
		return false, nil
	}
	rest, x, fresh, err := s.table.Polynomials()
	if err != nil || x == nil {
		return false, err
	}
	if fresh {
		s.linear.Set(s.table.Coefficients, s.fixedMass)
	}
	s.states.RunLinear(s.linear, x, mass)
	copy(s.Out, rest)
	return true, nil
}

// fixedMass is the log of what the prior has in the intervals of switch i, if that is the same for all samples; else nil.
func (s *Sum) fixedMass(i int) []float64 {
	if slices.Contains(s.vary, i) {
		return nil
	}
	mass := make([]float64, len(s.mass[i])/s.N)
	for j := range mass {
		mass[j] = s.mass[i][j*s.N]
	}
	return mass
}

// Marginals are the probabilities of the switches' intervals, intervals × n.
func (s *Sum) Marginals() [][]float64 {
	if s.one == nil {
		return s.states.Marginals()
	}
	all := s.one.states.Marginals()
	for i, row := range all {
		all[i] = make([]float64, 0, len(row)*s.N)
		for _, p := range row {
			all[i] = append(all[i], slices.Repeat([]float64{p}, s.N)...)
		}
	}
	return all
}

// draw draws the switches of sample k into z, latents × width, in column at, given what run has
// found there, by two uniform numbers for each: one for its interval and one for its place.
func (s *Sum) draw(k int, u, z []float64, at, width int) {
	if s.one != nil {
		s.one.draw(0, u, z, at, width)
		return
	}
	s.states.Draw(k, s.interval, func(i int) float64 { return u[2*i] })
	for i, w := range s.Switches {
		z[w.Latent*width+at] = s.within(i, s.interval[i], k, u[2*i+1])
	}
}

// logDrawn is the log posterior density of what draw has drawn last.
func (s *Sum) logDrawn(k int, z []float64, at, width int) float64 {
	if s.one != nil {
		return s.one.logDrawn(0, z, at, width)
	}
	log := s.states.LogProb(k, s.interval)
	for i, w := range s.Switches {
		log += s.logWithin(i, s.interval[i], k, z[w.Latent*width+at])
	}
	return log
}

// logProb is the log posterior density of the switches in column at of z.
func (s *Sum) logProb(k int, z []float64, at, width int) float64 {
	if s.one != nil {
		return s.one.logProb(0, z, at, width)
	}
	for i, w := range s.Switches {
		x := z[w.Latent*width+at]
		s.interval[i] = sort.Search(len(w.Planes), func(j int) bool { return !(s.threshold(i, j, k) < x) })
	}
	return s.logDrawn(k, z, at, width)
}

// Sums implements scout.Sum.
func (s *Sum) Sums(i int) bool { return Among(s.Switches, i) }

// LogProb implements scout.Sum.
func (s *Sum) LogProb(dst, z []float64) error {
	copy(s.X.Z, z)
	err := s.Run(nil)
	copy(dst, s.Out)
	return err
}

// Draw implements scout.Sum.
func (s *Sum) Draw(log, z []float64, rng *rand.Rand) {
	for k := range log {
		for j := range s.u {
			s.u[j] = rng.Float64()
		}
		s.draw(k, s.u, z, k, s.N)
		log[k] += s.logDrawn(k, z, k, s.N)
	}
}
