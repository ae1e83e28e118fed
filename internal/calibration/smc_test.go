package calibration

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/long"
)

var (
	sampleAll = flag.Bool("sampleall", false, "compare all cases of the run with tempered Monte Carlo, not some")
	sampleSee = flag.Bool("samplesee", false, "print each comparison with tempered Monte Carlo")
)

// A particle is a point in the program's own coordinates.
type particle struct {
	z                 []float64
	prior, likelihood float64 // logs; prior includes the Jacobian
}

// sampler is tempered sequential Monte Carlo from the prior to the posterior, of
// the oracle's joint density. It knows nothing of cells and conjugacy.
type sampler struct {
	c    Case
	rng  *rand.Rand
	at   []particle
	pool [][]float64 // draws from the prior
	free []int       // latents without parents and children
	beta float64
	lo   []float64 // ends of the latents' supports
	hi   []float64
}

func newSampler(c Case, rng *rand.Rand) *sampler {
	s := &sampler{c: c, rng: rng}
	tied := map[int]bool{}
	for i, parents := range c.Density.Parents() {
		for _, j := range parents {
			tied[i], tied[j] = true, true
		}
	}
	for i := range c.Density.Dim() {
		if !tied[i] {
			s.free = append(s.free, i)
		}
	}
	s.lo, s.hi = supports(c.Density)
	return s
}

func (s *sampler) evaluate(p *particle) {
	x := s.c.Density.Constrain(p.z)
	p.prior, p.likelihood = s.c.joint(x)
	p.prior += logJacobian(s.lo, s.hi, x)
	if math.IsNaN(p.prior) || math.IsNaN(p.likelihood) {
		p.prior, p.likelihood = math.Inf(-1), math.Inf(-1)
	}
}

// run returns an estimate of the log evidence, and leaves the posterior in s.at.
func (s *sampler) run(n, rounds int) (logEvidence float64) {
	for range n {
		p := particle{z: s.c.Density.PriorDraw(nil, s.rng)}
		s.pool = append(s.pool, p.z)
		s.evaluate(&p)
		s.at = append(s.at, p)
	}
	for s.beta < 1 {
		step := s.step()
		logs := make([]float64, n)
		for i, p := range s.at {
			logs[i] = step * p.likelihood
		}
		total := floats.LogSumExp(logs)
		logEvidence += total - math.Log(float64(n))
		s.beta = min(s.beta+step, 1)
		s.resample(logs, total)
		for range rounds {
			s.move()
		}
	}
	return logEvidence
}

// step is the step of the temperature that leaves half of the effective size.
func (s *sampler) step() float64 {
	size := func(step float64) float64 {
		one, two := make([]float64, len(s.at)), make([]float64, len(s.at))
		for i, p := range s.at {
			one[i], two[i] = step*p.likelihood, 2*step*p.likelihood
		}
		return math.Exp(2*floats.LogSumExp(one)-floats.LogSumExp(two)) / float64(len(s.at))
	}
	lo, hi := 0.0, 1-s.beta
	if size(hi) > 0.5 {
		return hi
	}
	for range 40 {
		if mid := (lo + hi) / 2; size(mid) > 0.5 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (s *sampler) resample(logs []float64, total float64) {
	n := len(s.at)
	next := make([]particle, 0, n)
	u, sum, i := s.rng.Float64(), 0.0, -1
	for k := range n {
		for sum <= (float64(k)+u)/float64(n) && i < n-1 {
			i++
			sum += math.Exp(logs[i] - total)
		}
		p := s.at[i]
		p.z = append([]float64(nil), p.z...)
		next = append(next, p)
	}
	s.at = next
}

// move moves each particle: along the difference of two others, one coordinate
// by itself, and one coordinate to that of a draw from the prior.
func (s *sampler) move() {
	n, dim := len(s.at), s.c.Density.Dim()
	old := make([]particle, n)
	copy(old, s.at)
	for i := range old {
		old[i].z = append([]float64(nil), old[i].z...)
	}
	for i := range s.at {
		for kind := range 4 {
			p := &s.at[i]
			next := particle{z: append([]float64(nil), p.z...)}
			a, b := old[s.rng.IntN(n)].z, old[s.rng.IntN(n)].z
			j := s.rng.IntN(dim)
			switch kind {
			case 0:
				size := 1.68 / math.Sqrt(float64(dim)) * math.Exp(0.7*s.rng.NormFloat64())
				for k := range next.z {
					next.z[k] += size * (a[k] - b[k])
				}
			case 1:
				next.z[j] += math.Exp(s.rng.NormFloat64()) * (a[j] - b[j])
			case 2:
				for range 3 {
					k := s.rng.IntN(dim)
					next.z[k] += 0.8 * (a[k] - b[k])
				}
			case 3:
				if len(s.free) == 0 {
					continue
				}
				j = s.free[s.rng.IntN(len(s.free))]
				next.z[j] = s.pool[s.rng.IntN(n)][j]
			}
			s.evaluate(&next)
			accept := s.beta * (next.likelihood - p.likelihood)
			if kind < 3 { // the prior of what is drawn anew cancels
				accept += next.prior - p.prior
			}
			if math.Log(s.rng.Float64()) < accept {
				*p = next
			}
		}
	}
}

// sampled are the cases that are compared with -exhaustive, some of each kind. The first
// is compared at each run, and three with -tags long.
var sampled = []string{
	"smooth-log-normal-hierarchy", "dense-plane-informed", "censored-survival",
	"change-normal-two-places", "threshold-binomial-doses", "regression-one-coefficient", "hurdle-abilities",
	"dense-line-symmetric", "hierarchy-3",
}

// Tempered Monte Carlo of the plain joint density agrees with the exact answers.
func TestSampled(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	if *sampleAll {
		for k, c := range cases() {
			t.Run(c.Name, func(t *testing.T) { compareSampled(t, c, uint64(100*k)) })
		}
		return
	}
	names := sampled[:long.Or(1, 3)]
	if long.Exhaustive() {
		names = sampled
	}
	for _, name := range names {
		k := slices.Index(Names(), name)
		t.Run(name, func(t *testing.T) { compareSampled(t, Named(name), uint64(100*k)) })
	}
}

// compareSampled compares with the mean of some runs.
func compareSampled(t *testing.T, c Case, seed uint64) {
	const runs, n = 5, 600
	estimates := map[string][]float64{}
	note := func(name string, v float64) { estimates[name] = append(estimates[name], v) }
	for r := range uint64(runs) {
		s := newSampler(c, source(seed+r))
		note("log evidence", s.run(n, 6)-c.Exact.LogEvidence)
		for i, name := range c.Density.Latents() {
			if sd, ok := c.Exact.SD[name]; ok {
				var x []float64
				for _, p := range s.at {
					x = append(x, c.Density.Coordinate(i).Value(p.z[i]))
				}
				m, v := meanSD(x)
				note("mean of "+name, (m-c.Exact.Mean[name])/sd)
				note("sd of "+name, v/sd-1)
			}
		}
		for name, exact := range c.Exact.Guards {
			unsure := 0
			for i, p := range exact {
				if math.Abs(p-0.5) < math.Abs(exact[unsure]-0.5) {
					unsure = i
				}
			}
			guard, share := c.Density.Named(name)[unsure], 0.0
			for _, p := range s.at {
				if guard.Holds(c.Density.Arrangement().Signs(p.z)) {
					share += 1.0 / n
				}
			}
			note("P of "+name, share-exact[unsure])
		}
	}
	for name, got := range estimates {
		room := 0.03 // the bias that few particles leave
		if strings.HasPrefix(name, "sd") {
			room = 0.08
		}
		mean, sd := meanSD(got)
		se := sd / math.Sqrt(runs)
		if *sampleSee {
			t.Logf("%-20s %9.4f ± %.4f", name, mean, se)
		}
		require.Less(t, se, 0.3, "%s: inconclusive", name)
		assert.InDelta(t, 0, mean, room+5*se, name)
	}
}

func meanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}
