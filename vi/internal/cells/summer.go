package cells

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/elimination"
	"github.com/facetvi/facet/regions"
)

// A summer sums switches out (see derive.Density.Switches): given the other latents, a switch
// has in each interval between its thresholds its prior, times what log r knows of
// the interval,
//
//	r(rest) = r₀(rest)·Σ_j Π_i P_i,j_i(rest)·Π_f exp(L_f,j(rest)),
//
// where j are the switches' intervals, L are sums of terms of log r that depend on one or a few of
// them, and r₀ is what depends on none, without the priors of the switches. It works on batches.
type summer struct {
	masses
	d        *graph.Density
	x        *graph.Executor // whose Z and Signs are those of the samples
	table    *derive.Table
	plan     *elimination.Plan
	states   *elimination.Sum
	out      []float64
	interval []int // of one sample
	// same says that all samples are alike: all latents are switches, which depend on each other by log r alone. One sample is then summed, once.
	same, ran bool
	one       *summer // of that sample; nil where it is s itself, or where samples differ
}

func newSummer(d *graph.Density, switches []derive.SwitchLatent, n int) (*summer, error) {
	s := &summer{d: d, masses: masses{switches: switches, n: n}, out: make([]float64, n), interval: make([]int, len(switches))}
	t, err := d.Engine().Tabulate(context.Background(), switches)
	if err != nil {
		return nil, err
	}
	if s.prior, err = d.Residuals(n); err != nil {
		return nil, err
	}
	s.same = len(switches) == d.Dim() && !slices.ContainsFunc(switches, func(w derive.SwitchLatent) bool { return !s.fixed(w) })
	if s.same && n > 1 {
		if s.one, err = newSummer(d, switches, 1); err != nil {
			return nil, err
		}
		s.cuts, s.cut, s.plan = s.one.cuts, s.one.cut, s.one.plan
		s.x, err = d.Executor(n, graph.Compute{Out: true})
		return s, err
	}
	if s.table, err = t.Bind(d.Engine(), n); err != nil {
		return nil, err
	}
	s.x = s.table.X
	s.find(d)
	var values []int
	for _, w := range switches {
		values = append(values, len(w.Planes)+1)
	}
	s.plan = elimination.NewPlan(values, t.Factors, math.MaxInt)
	s.states = s.plan.Bind(n)
	return s, nil
}

// run computes out, the log of r with the switches summed out, at the samples in x.Z,
// whose switches it puts below all thresholds. Signs of the other planes are those of
// forced, or the samples' own if that is nil.
func (s *summer) run(forced *regions.Signs) error {
	n := s.n
	if s.one != nil {
		if err := s.one.run(nil); err != nil {
			return err
		}
		for k := range s.out {
			s.out[k] = s.one.out[0]
		}
		return nil
	}
	if s.ran {
		return nil
	}
	s.ran = s.same
	s.place()
	if forced == nil {
		s.d.Arrangement().SignBatch(s.x.Signs, s.x.Z, n)
	} else {
		s.x.Force(*forced)
	}
	return s.add()
}

// place puts the switches below all thresholds.
func (s *summer) place() {
	n := s.n
	for i, w := range s.switches {
		if s.cuts[i] != nil {
			s.cuts[i].Fill(s.cut[i], s.x.Z)
		}
		row := s.x.Z[w.Latent*n:][:n]
		for k := range row {
			row[k] = s.put(i, k)
		}
	}
}

// add computes out, the switches placed and the signs given.
func (s *summer) add() error {
	if err := s.x.Run(); err != nil {
		return err
	}
	s.follow(s.x.Z)
	s.states.Run(s.table.Factor, func(i int) []float64 { return s.mass[i] })
	copy(s.out, s.table.Rest())
	for k, total := range s.states.Total {
		s.out[k] += total - s.below
		for _, i := range s.vary {
			s.out[k] -= s.prior.LogPriorOf(s.switches[i].Latent, k)
		}
	}
	return nil
}

// marginals are the probabilities of the switches' intervals, intervals × n.
func (s *summer) marginals() [][]float64 {
	if s.one == nil {
		return s.states.Marginals()
	}
	all := s.one.states.Marginals()
	for i, row := range all {
		all[i] = make([]float64, 0, len(row)*s.n)
		for _, p := range row {
			all[i] = append(all[i], slices.Repeat([]float64{p}, s.n)...)
		}
	}
	return all
}

// draw draws the switches of sample k into z, latents × width, in column at, given what run has
// found there, by two uniform numbers for each: one for its interval and one for its place. It
// returns the log of their posterior density.
func (s *summer) draw(k int, u, z []float64, at, width int) (log float64) {
	if s.one != nil {
		return s.one.draw(0, u, z, at, width)
	}
	s.states.Draw(k, s.interval, func(i int) float64 { return u[2*i] })
	log = s.states.LogProb(k, s.interval)
	for i, w := range s.switches {
		lo, hi := s.between(i, s.interval[i], k)
		x := s.prior.Within(w.Latent, k, u[2*i+1], lo, hi)
		z[w.Latent*width+at] = x
		log += s.logWithin(i, s.interval[i], k, x)
	}
	return log
}

// logProb is the log posterior density of the switches in column at of z.
func (s *summer) logProb(k int, z []float64, at, width int) (log float64) {
	if s.one != nil {
		return s.one.logProb(0, z, at, width)
	}
	for i, w := range s.switches {
		x := z[w.Latent*width+at]
		s.interval[i] = sort.Search(len(w.Planes), func(j int) bool { return !(s.threshold(i, j, k) < x) })
		log += s.logWithin(i, s.interval[i], k, x)
	}
	return log + s.states.LogProb(k, s.interval)
}
