package main

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/restarts"
	"github.com/facetvi/facet/vi"
)

// exact is what the posterior says without a fit.
type exact struct {
	evidence    float64
	shift       []float64 // probability of a shift, by the last year before it
	twice       float64   // probability that both are of more than one unit, 10 km³
	first, last float64   // mean level in the first and the last year
}

// segments are the flows, ready to be taken as stretches of one level, which is
// Normal(9, 2).
type segments struct{ sum, square []float64 }

func newSegments(flow []float64) segments {
	s := segments{make([]float64, 1), make([]float64, 1)}
	for i, v := range flow {
		d := v/unit - 9
		s.sum, s.square = append(s.sum, s.sum[i]+d), append(s.square, s.square[i]+d*d)
	}
	return s
}

// of is the log evidence of years i to j−1 given the noise's variance v, and
// the posterior of their level, less 9.
func (s segments) of(i, j int, v float64) (logp float64, level distuv.Normal) {
	n, sum, square := float64(j-i), s.sum[j]-s.sum[i], s.square[j]-s.square[i]
	const prior = 2.0 * 2.0
	variance := 1 / (1/prior + n/v)
	logp = -0.5*(n*math.Log(2*math.Pi*v)+square/v) + 0.5*math.Log(variance/prior) + 0.5*variance*sum*sum/(v*v)
	return logp, distuv.Normal{Mu: variance * sum / v, Sigma: math.Sqrt(variance)}
}

// A pair is one choice of the years of both shifts and of the noise.
type pair struct {
	i, j    int // years before the earlier and the later one
	log     float64
	a, b, c distuv.Normal // the levels
}

// enumerate goes through all pairs: the levels integrate out in closed form, and
// the noise by quadrature.
func enumerate() exact {
	var pairs []pair
	var logs []float64
	n, seg := len(flow), newSegments(flow)
	const h = 0.04
	for s := 0.9; s < 1.9; s += h {
		v := s * s
		prior := math.Log(2*h) + distuv.Normal{Sigma: 2}.LogProb(s) - 2*math.Log(float64(n-1))
		for i := 1; i < n; i++ {
			for j := i; j < n; j++ {
				p := pair{i: i, j: j, log: prior}
				var before, middle, after float64
				before, p.a = seg.of(0, i, v)
				middle, p.b = seg.of(i, j, v)
				after, p.c = seg.of(j, n, v)
				p.log += before + middle + after
				if j > i {
					p.log += math.Ln2 // either may be the earlier
				}
				pairs, logs = append(pairs, p), append(logs, p.log)
			}
		}
	}
	e := exact{evidence: floats.LogSumExp(logs), shift: make([]float64, n)}
	for _, q := range pairs {
		p := math.Exp(q.log - e.evidence)
		e.first, e.last = e.first+p*(9+q.a.Mu), e.last+p*(9+q.c.Mu)
		e.shift[q.i-1] += p
		if q.j > q.i {
			e.shift[q.j-1] += p
		}
		if q.j > q.i && p > 1e-9 {
			e.twice += p * q.twice()
		}
	}
	return e
}

// twice is the probability that both shifts are larger than 1.
func (q pair) twice() float64 {
	return quad.Fixed(func(t float64) float64 {
		m := q.b.Mu + math.Sqrt2*q.b.Sigma*t
		return (q.a.CDF(m-1) + q.a.Survival(m+1)) * (q.c.CDF(m-1) + q.c.Survival(m+1)) / math.SqrtPi
	}, math.Inf(-1), math.Inf(1), 12, quad.Hermite{}, 1)
}

// The sum over the windows against enumeration: the year of the fall within 0.06,
// the levels within 1 km³ of their means. Of two large shifts, whose years can be
// many, mean-field fits see less than there is, since each keeps one choice.
func TestShiftsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	want := enumerate()
	require.Equal(t, 1898, firstYear+floats.MaxIdx(want.shift))

	fits, err := shifts(context.Background(), 800, 1)
	require.NoError(t, err)
	all := histories(fits)
	year, p := likeliest(all)
	assert.Equal(t, 1898, year)
	assert.InDelta(t, want.shift[1898-firstYear], p, 0.06)
	assert.InDelta(t, want.twice, share(all, history.twice), 0.1)
	assert.Greater(t, share(all, history.twice), 0.04)

	var first, last, elbos []float64
	for _, h := range all {
		first, last = append(first, h.level(firstYear)), append(last, h.level(1970))
	}
	assert.InDelta(t, km3*want.first, stat.Mean(first, nil), 1)
	assert.InDelta(t, km3*want.last, stat.Mean(last, nil), 1)

	// Windows ten years apart add up to a tenth of the posterior; each ELBO is a bound.
	for _, e := range fits {
		elbos = append(elbos, e.ELBO.Mean+math.Log(10))
	}
	assert.Less(t, floats.LogSumExp(elbos), want.evidence)
	assert.Greater(t, floats.LogSumExp(elbos), want.evidence-2)
}

// Reparameterization alone learns nothing about the shifts.
func TestReparamFails(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	m, _ := river(flow)
	density, err := m.Compile()
	require.NoError(t, err)
	start, err := start(density, 1920)
	require.NoError(t, err)
	for _, e := range []vi.Estimator{vi.Boundary{}, vi.Reparam{}} {
		fit, err := vi.Fit(context.Background(), density, vi.Settings{Estimator: e, Steps: 1500, Start: start, Seed: 1})
		require.NoError(t, err)
		year, p := likeliest(histories([]restarts.Explanation{{Posterior: fit, Weight: 1}}))
		assert.Equal(t, e == vi.Boundary{}, year == 1898 && p > 0.5, "%s: %d with probability %v", e.Name(), year, p)
	}
}

// The enumeration describes the program: with levels and noise given, both
// have the same density, up to the coordinates of the shifts.
func TestSegmentsAgainstDensity(t *testing.T) {
	// One segment's evidence is its level's density integrated.
	seg := newSegments(flow)
	logp, at := seg.of(3, 40, 1.7)
	at.Mu += 9
	for _, level := range []float64{8, 9.3, 11} {
		sum := distuv.Normal{Mu: 9, Sigma: 2}.LogProb(level)
		for _, v := range flow[3:40] {
			sum += distuv.Normal{Mu: level, Sigma: math.Sqrt(1.7)}.LogProb(v / unit)
		}
		assert.InDelta(t, sum, logp+at.LogProb(level), 1e-9)
	}
	// The program's density is that of its three segments.
	m, _ := river(flow)
	density, err := m.Compile()
	require.NoError(t, err)
	z := []float64{math.Log(0.28 / 0.72), math.Log(0.6 / 0.4), 10.5, 8.7, 8.2, math.Log(1.3)}
	got, err := density.LogProb(z)
	require.NoError(t, err)
	want := math.Log(0.28*0.72*0.6*0.4) + math.Ln2 + distuv.Normal{Sigma: 2}.LogProb(1.3) + math.Log(1.3)
	for k, cut := range [][2]int{{0, 28}, {28, 60}, {60, 100}} { // 0.28·99 = 27.7, 0.6·99 = 59.4
		want += distuv.Normal{Mu: 9, Sigma: 2}.LogProb(z[2+k])
		for _, v := range flow[cut[0]:cut[1]] {
			want += distuv.Normal{Mu: z[2+k], Sigma: 1.3}.LogProb(v / unit)
		}
	}
	assert.InDelta(t, want, got, 1e-9)
}
