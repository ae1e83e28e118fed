package cells

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/elimination"
	"github.com/facetvi/facet/internal/residuals"
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
	d        *graph.Density
	switches []derive.SwitchLatent
	cuts     []*derive.Thresholds // nil where they are the same for all samples
	cut      [][]float64          // by switch: its thresholds, planes × n, or one for all samples
	n        int
	x        *graph.Executor // whose Z and Signs are those of the samples
	table    *derive.Table
	plan     *elimination.Plan
	states   *elimination.Sum
	prior    *residuals.Batch
	mass     [][]float64 // by switch: log P_ij, intervals × n
	vary     []int       // switches of which these are not always the same
	below    float64     // of the others: the sum of the log priors where they are put
	out      []float64
	interval []int // of one sample
	// same says that all samples are alike: all latents are switches, which depend on each other by log r alone. One sample is then summed, once.
	same, ran bool
	one       *summer // of that sample; nil where it is s itself, or where samples differ
}

func newSummer(d *graph.Density, switches []derive.SwitchLatent, n int) (*summer, error) {
	s := &summer{d: d, switches: switches, n: n, out: make([]float64, n), interval: make([]int, len(switches))}
	t, err := d.Engine().Tabulate(context.Background(), switches)
	if err != nil {
		return nil, err
	}
	if s.prior, err = d.Residuals(n); err != nil {
		return nil, err
	}
	s.same = len(switches) == d.Dim() && !slices.ContainsFunc(switches, func(w derive.SwitchLatent) bool { return len(w.Index) > 0 || !s.prior.Fixed(w.Latent) })
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
	var values []int
	for i, w := range switches {
		if len(w.Index) == 0 {
			s.cuts, s.cut = append(s.cuts, nil), append(s.cut, make([]float64, len(w.Planes)))
			w.Thresholds(1).Fill(s.cut[i], make([]float64, d.Dim()))
		} else {
			s.cuts, s.cut = append(s.cuts, w.Thresholds(n)), append(s.cut, make([]float64, len(w.Planes)*n))
		}
		values = append(values, len(w.Planes)+1)
		s.mass = append(s.mass, make([]float64, values[i]*n))
		if len(w.Index) > 0 || !s.prior.Fixed(w.Latent) {
			s.vary = append(s.vary, i)
			continue
		}
		s.weigh(i)
		s.prior.Z[w.Latent*n] = s.put(i, 0)
		s.below += s.prior.LogPriorOf(w.Latent, 0)
	}
	s.plan = elimination.NewPlan(values, t.Factors, math.MaxInt)
	s.states = s.plan.Bind(n)
	return s, nil
}

// put is where run puts switch i of sample k, below all thresholds.
func (s *summer) put(i, k int) float64 { return s.finite(i, 0, k) - 1 }

// weigh computes what the prior has in the intervals of switch i: once for all samples, if it is the same.
func (s *summer) weigh(i int) {
	w := s.switches[i]
	same := len(w.Index) == 0 && s.prior.Fixed(w.Latent)
	for j := range len(w.Planes) + 1 {
		row := s.mass[i][j*s.n:][:s.n]
		for k := range row {
			if same && k > 0 {
				row[k] = row[0]
				continue
			}
			lo, hi := s.between(i, j, k)
			row[k] = s.prior.LogMass(w.Latent, k, lo, hi)
		}
	}
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
	copy(s.prior.Z, s.x.Z)
	s.prior.Invert()
	for _, i := range s.vary {
		s.weigh(i)
	}
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

// threshold is threshold j of switch i at sample k.
func (s *summer) threshold(i, j, k int) float64 {
	if s.cuts[i] == nil {
		return s.cut[i][j]
	}
	return s.cut[i][j*s.n+k]
}

// finite is threshold j of switch i at sample k, or if that is not finite a number
// between those that are and it.
func (s *summer) finite(i, j, k int) float64 {
	at := func(j int) float64 { return s.threshold(i, j, k) }
	planes, low := len(s.switches[i].Planes), j
	for low < planes && math.IsInf(at(low), -1) {
		low++
	}
	switch {
	case low < planes && !math.IsInf(at(low), 1):
		return at(low) - float64(low-j)
	case low == planes || j == 0: // none is finite
		return 0
	}
	return s.finite(i, j-1, k) + 1
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
		log += s.logWithin(i, k, x)
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
		log += s.logWithin(i, k, x)
	}
	return log + s.states.LogProb(k, s.interval)
}

// logWithin is the log density of the prior of switch i at x, in its interval.
func (s *summer) logWithin(i, k int, x float64) float64 {
	at := &s.prior.Z[s.switches[i].Latent*s.n+k]
	was := *at
	*at = x
	log := s.prior.LogPriorOf(s.switches[i].Latent, k)
	*at = was
	return log - s.mass[i][s.interval[i]*s.n+k]
}

// between is interval j between the thresholds of switch i at sample k.
func (s *summer) between(i, j, k int) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if j > 0 {
		lo = s.threshold(i, j-1, k)
	}
	if j < len(s.switches[i].Planes) {
		hi = s.threshold(i, j, k)
	}
	return lo, hi
}
