package vi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
)

// changes is a program of counts whose rate changes k times, anywhere. Which count has which rate is a chain that only goes up: of the
// changes that are left each is in the next gap with the probability that its part of the time left has.
func changes(t testing.TB, k int, counts []float64) *graph.Density {
	m := graph.NewModel()
	rate := m.SampleN("rate", k+1, graph.Gamma(2, 0.5))
	n := float64(len(counts))
	moves := func(gap, left float64) [][]graph.Expr {
		p := make([][]graph.Expr, k+1)
		for i := range p {
			p[i] = make([]graph.Expr, k+1) // of 0
			for j := i; j <= k; j++ {
				p[i][j] = graph.Numbers(distuv.Binomial{N: float64(k - i), P: gap / left}.Prob(float64(j - i)))[0]
			}
		}
		return p
	}
	m.ObserveHMM("count", graph.HMM{
		Initial:      moves(0.5, n)[0],
		TransitionAt: func(t int) [][]graph.Expr { return moves(1, n+0.5-float64(t)) },
		Emission:     func(_ int, s []int) graph.Dist { return graph.Poisson(rate[s[0]]) },
	}, counts)
	m.Deterministic("first rate", rate[0])
	return mustCompile(t, m)
}

// changesExact are the log evidences of no to most changes, by enumeration. Changes in one gap between counts leave segments without
// counts: a gap that has the part q of the time has j of k changes with weight k!·q^j/j!. Sums go from the left.
func changesExact(counts []float64, most int) (evidence []float64) {
	n := len(counts)
	segment := func(from, to int) float64 { // its log evidence, with a Gamma(2, 1/2) rate
		shape, rate, fixed := 2.0, 0.5, 0.0
		for _, y := range counts[from:to] {
			shape, rate = shape+y, rate+1
			g, _ := math.Lgamma(y + 1)
			fixed -= g
		}
		a, _ := math.Lgamma(shape)
		return fixed + 2*math.Log(0.5) + a - shape*math.Log(rate)
	}
	sum := make([][][]float64, n+1) // by start of the last segment and number of changes: log terms
	at := func(from, k int) float64 {
		if len(sum[from][k]) == 0 {
			return math.Inf(-1)
		}
		return floats.LogSumExp(sum[from][k])
	}
	for from := range sum {
		sum[from] = make([][]float64, most+1)
		gap := 1 / float64(n)
		if from == 0 || from == n {
			gap /= 2
		}
		for j := range most + 1 { // changes in the gap before from
			factorial, _ := math.Lgamma(float64(j) + 1)
			weight := float64(j)*math.Log(gap) - factorial
			if from == 0 {
				sum[0][j] = append(sum[0][j], weight)
				continue
			}
			for before := range from {
				for k := 0; j > 0 && k+j <= most; k++ {
					sum[from][k+j] = append(sum[from][k+j], at(before, k)+segment(before, from)+weight)
				}
			}
		}
	}
	for k := range most + 1 {
		var logs []float64
		for from := range n + 1 {
			logs = append(logs, at(from, k)+segment(from, n))
		}
		factorial, _ := math.Lgamma(float64(k) + 1)
		evidence = append(evidence, floats.LogSumExp(logs)+factorial)
	}
	return evidence
}

// series is counts with a few changes.
func series(rng *rand.Rand, n int) []float64 {
	counts, rate := make([]float64, n), distuv.Gamma{Alpha: 2, Beta: 0.5, Src: rng}
	now, changes := rate.Rand(), rng.IntN(4)
	for i := range counts {
		if rng.Float64() < float64(changes)/float64(n) {
			now = rate.Rand()
		}
		counts[i] = distuv.Poisson{Lambda: now, Src: rng}.Rand()
	}
	return counts
}

// The probabilities of so many changes are those by enumeration: of 0 to 2 in 30 counts, and with -exhaustive of 0 to 4 in 20 series
// of 100.
func TestHowManyChanges(t *testing.T) {
	long.Skip(t)
	n, most, all := 30, 2, uint64(1)
	if long.Exhaustive() {
		n, most, all = 100, 4, 20
	}
	for k := range all {
		counts := series(parallel.NewRand(k), n)
		var programs []Program
		exact := changesExact(counts, most)
		for n := range exact {
			programs = append(programs, Program{Name: fmt.Sprint(n), Density: changes(t, n, counts), Prior: distuv.Poisson{Lambda: 1}.Prob(float64(n))})
			exact[n] += math.Log(programs[n].Prior)
		}
		total := floats.LogSumExp(exact)
		c, err := HowMany(context.Background(), programs, Settings{Seed: *seed, Method: Cells{Alone: true}})
		require.NoError(t, err)
		for n, m := range c.Models {
			want := math.Exp(exact[n] - total)
			t.Logf("series %d, %d changes: %.4f, %v, %s", k, n, want, m.Prob, m.Trust)
			require.InDelta(t, want, m.Prob.Value, 0.01)
			require.InDelta(t, want, m.Prob.Value, 5*m.Prob.SE+1e-6)
		}
	}
}

// Averages over conjugate models with priors of their own have closed forms; draws of all of them do as they say.
func TestHowManyAverages(t *testing.T) {
	data := []float64{0.4, 1.2, -0.3, 0.9}
	var programs []Program
	var logs, means, sds []float64
	for k, sd := range []float64{0.2, 1, 30} {
		m := graph.NewModel()
		x := m.Sample("x", graph.Normal(0, sd))
		for _, y := range data {
			m.Observe("y", graph.Normal(x, 1), y)
		}
		m.Deterministic("twice", graph.Mul(2, x))
		m.Name("positive", graph.Greater(x, 0))
		if k == 1 {
			m.Deterministic("own", x)
		}
		programs = append(programs, Program{Name: fmt.Sprint(sd), Density: mustCompile(t, m), Prior: float64(1 + k)})
		precision := 4 + 1/(sd*sd)
		sum, squares := floats.Sum(data), floats.Dot(data, data)
		logs = append(logs, math.Log(float64(1+k))-math.Log(sd*math.Sqrt(precision))-0.5*(squares-sum*sum/precision))
		means, sds = append(means, sum/precision), append(sds, 1/math.Sqrt(precision))
	}
	c, err := HowMany(context.Background(), programs, Settings{Seed: *seed})
	require.NoError(t, err)
	total := floats.LogSumExp(logs)
	mean, square, positive := 0.0, 0.0, 0.0
	for k, l := range logs {
		p := math.Exp(l - total)
		require.InDelta(t, p, c.Models[k].Prob.Value, 5*c.Models[k].Prob.SE)
		require.InDelta(t, float64(1+k)/6, c.Models[k].Prior, 1e-12)
		mean, square = mean+p*means[k], square+p*(sds[k]*sds[k]+means[k]*means[k])
		positive += p * distuv.Normal{Mu: means[k], Sigma: sds[k]}.Survival(0)
	}
	sd := math.Sqrt(square - mean*mean)
	near := func(want float64, got Estimate) {
		require.Less(t, got.SE, 0.005)
		require.InDelta(t, want, got.Value, 5*got.SE)
	}
	moments, err := c.Moments("x")
	require.NoError(t, err)
	near(mean, moments.Mean)
	near(sd, moments.SD)
	p, err := c.Average(func(p *Posterior) (Estimate, error) { return p.ProbNamed("positive", 0) })
	require.NoError(t, err)
	near(positive, p)
	_, err = c.Moments("z")
	require.ErrorContains(t, err, `vi: 0.2: vi: no latent "z"`)

	r, err := c.Predict(20_000, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"twice"}, r.Deterministics)
	twice, err := r.Mean("twice")
	require.NoError(t, err)
	require.InDelta(t, 2*mean, twice[0], 5*2*sd/math.Sqrt(20_000))
	x, err := r.Latents.Of("x")
	require.NoError(t, err)
	require.Len(t, x, 20_000)
	require.InDelta(t, mean, stat.Mean(x, nil), 5*sd/math.Sqrt(20_000))
	require.InDelta(t, 1, floats.Sum([]float64{c.Models[0].Stacking, c.Models[1].Stacking, c.Models[2].Stacking}), 1e-6)
	require.Contains(t, c.String(), "stacking")
}

// The same numbers in another order have the same evidence. What is said of each number is not mixed with what is said of another: there
// are no weights by predictions, and no average of the predictions.
func TestHowManyOtherOrder(t *testing.T) {
	c, err := HowMany(context.Background(), []Program{{"a", conjugate(t, 1, []float64{1, 2}), 0}, {"b", conjugate(t, 1, []float64{2, 1}), 0}}, Settings{Seed: *seed})
	require.NoError(t, err)
	require.InDelta(t, 0.5, c.Models[0].Prob.Value, 5*c.Models[0].Prob.SE)
	require.True(t, math.IsNaN(c.Models[0].Stacking) && math.IsNaN(c.Models[1].Stacking))
	require.Equal(t, []string{"no weights by predictions: b observes the numbers in another order than a"}, c.Warnings)
	r, err := c.Predict(10, 1)
	require.NoError(t, err)
	require.Empty(t, r.Observations)
	require.Equal(t, []string{"x"}, r.Latents.Names)
	_, err = r.Latents.With(conjugate(t, 1, []float64{1, 2}))
	require.ErrorContains(t, err, "of several programs")
}

// A program that cannot be fitted, has no name of its own or other data is an error; fits that are done are not done again.
func TestHowManyErrorsAndCheckpoint(t *testing.T) {
	one, two := conjugate(t, 1, []float64{1, 2}), conjugate(t, 2, []float64{1, 2})
	s := Settings{Seed: *seed, Checkpoint: t.TempDir()}
	for want, programs := range map[string][]Program{
		"fewer than two fits":      {{"a", one, 0}},
		"a nil density":            {{"a", one, 0}, {"b", nil, 0}},
		"a prior of -1":            {{"a", one, 0}, {"b", two, -1}},
		"the key was there before": {{"a", one, 0}, {"a", two, 0}},
		"has other data than a":    {{"a", one, 0}, {"c", conjugate(t, 1, []float64{1, 3}), 0}},
	} {
		_, err := HowMany(context.Background(), programs, s)
		require.ErrorContains(t, err, want)
	}
	programs := []Program{{"a", one, 1}, {"b", two, 3}}
	c, err := HowMany(context.Background(), programs, s)
	require.NoError(t, err)
	again, err := HowMany(context.Background(), programs, s)
	require.NoError(t, err)
	require.Equal(t, c.Models[1].Prob, again.Models[1].Prob)
	programs[1].Density = conjugate(t, 2, []float64{1, 4}) // not what is in the file
	_, err = HowMany(context.Background(), programs, s)
	require.ErrorContains(t, err, "b.fit")
	stopped, stop := context.WithCancel(context.Background())
	stop()
	_, err = HowMany(stopped, programs, Settings{Seed: *seed})
	require.ErrorContains(t, err, "context canceled")
}
