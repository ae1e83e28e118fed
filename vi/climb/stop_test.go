package climb

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// rareCliff is a standard normal with a cliff of a million nats at 5.2: its ELBO
// is known, and a sample sees nothing of the cliff.
func rareCliff(t testing.TB) (*graph.Density, func(q family.Q) float64) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(x, 5.2), -1e6, 0))
	return mustCompile(t, m), func(q family.Q) float64 {
		mu, s := q.Mean(0), q.SD(0)
		over := distuv.UnitNormal.Survival((5.2 - mu) / s)
		return 0.5 + math.Log(s) - 0.5*(mu*mu+s*s) - 1e6*over
	}
}

// The gain between two families is unbiased, its standard error is honest, and
// it sees a cliff that the difference of sampled ELBOs does not.
func TestGain(t *testing.T) {
	d, elbo := rareCliff(t)
	a, b := family.Independent([]float64{0}, []float64{1.05}), family.Independent([]float64{0.01}, []float64{1})
	want := elbo(b) - elbo(a)
	require.Greater(t, want, 0.2, "inconclusive: the cliff plays no part")
	var m, se mc.Moments
	const n = 200
	for k := range n {
		s := newJob(d, Settings{Samples: 16, Start: a})
		s.Seed = *seed + uint64(k)
		f, err := newFitter(d, s)
		require.NoError(t, err)
		before := f.g.Streams()
		g, err := f.gain(a.Theta(), b.Theta(), 1)
		require.NoError(t, err)
		require.Equal(t, before, f.g.Streams(), "the fit's stream is where it was")
		m.Add(g.Value)
		se.Add(g.SE)
	}
	t.Logf("gain %v ± %.1g, by its own account ± %.1g; exactly %v", m.Mean, math.Sqrt(m.Variance()), se.Mean, want)
	require.Less(t, m.SE(), 0.01, "inconclusive")
	require.InDelta(t, want, m.Mean, 5*m.SE()+1e-4) // and the midpoint rule
	require.Greater(t, 1.1*se.Mean, math.Sqrt(m.Variance()))

	x, err := check.ELBO(d, a, compareSamples, *seed)
	require.NoError(t, err)
	y, err := check.ELBO(d, b, compareSamples, *seed)
	require.NoError(t, err)
	require.Greater(t, math.Abs(y.Value-x.Value-want), 0.2, "samples see the cliff after all")
}

func TestSettled(t *testing.T) {
	for _, c := range []struct {
		gain mc.Estimate
		want bool
	}{
		{mc.Estimate{Value: 0, SE: 0.01}, true}, {mc.Estimate{Value: 0.01, SE: 0.005}, true}, {mc.Estimate{Value: -0.01, SE: 0.004}, true},
		{mc.Estimate{Value: 0, SE: 0.011}, false}, {mc.Estimate{Value: 0.015, SE: 0.004}, false}, {mc.Estimate{Value: -0.03, SE: 0}, false},
		{mc.Estimate{Value: math.NaN(), SE: 0}, false}, {mc.Estimate{Value: 0, SE: math.NaN()}, false}, {mc.Estimate{Value: math.Inf(1), SE: 0}, false},
	} {
		require.Equal(t, c.want, settled(c.gain, 0.02), "%v", c.gain)
	}
}

// Windows are a seventh of the steps before them, at least 50, and average their
// own iterates.
func TestWindows(t *testing.T) {
	var w window
	rng := rand.New(rand.NewPCG(*seed, 0))
	var ends []int
	sum, from := 0.0, 0
	for k := 1; k <= 1000; k++ {
		x := rng.Float64()
		sum += x
		if !w.add(k, []float64{x}) {
			continue
		}
		mean := []float64{0}
		w.Mean.write(mean)
		require.InDelta(t, sum/float64(k-from), mean[0], 1e-12)
		w.next(k, mean, shortestWindow)
		require.Equal(t, mc.Numbers(mean), w.Last)
		ends, sum, from = append(ends, k), 0, k
	}
	require.Equal(t, []int{50, 100, 150, 200, 250, 300, 350, 400, 457, 522, 596, 681, 778, 889}, ends)
}
