//go:build long

package evaluation

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
)

// invented is a summary of made-up runs: ELBOs end at end(run), with noise(run).
func invented(set settings, end, noise func(runSpec) float64) *summary {
	s := &summary{Settings: set}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, m := range set.Models {
		s.Optima = append(s.Optima, optimum{m, 0})
	}
	for _, run := range set.plan() {
		r := &result{Run: run}
		for k := range 101 {
			v := end(run) - math.Exp(-float64(k)/10) + noise(run)*rng.NormFloat64()
			r.ELBO = append(r.ELBO, elboPoint{100 * k, v, 1, v})
		}
		if run.measuresVariance() {
			r.Variance = []variancePoint{{0, run.Estimator, 2, 20}, {1, run.Estimator, 4, 40}}
		}
		if run.comparesAll() {
			for k, e := range estimators {
				r.Same = append(r.Same, variancePoint{0, e.name, 10 / float64(k+1), 1})
			}
		}
		s.results = append(s.results, r)
		s.Final = append(s.Final, r.final())
	}
	s.variances()
	return s
}

func everything() settings {
	return settings{Models: modelNames, Estimators: estimatorNames(), StepSizes: []float64{0.001, 0.01}, Samples: []int{1, 8, 16}, Steps: 10000}
}

func byScore(score, other float64) func(runSpec) float64 {
	return func(r runSpec) float64 {
		if r.Estimator == "score" {
			return score
		}
		return other
	}
}

// verdicts are those of claims in order.
func verdicts(s *summary) (all []string) {
	for _, c := range s.claims() {
		all = append(all, c.Verdict)
	}
	return all
}

// A claim is refuted by one case against it that exceeds noise, and that case
// is named.
func TestClaimsBite(t *testing.T) {
	usual := func(r runSpec) float64 {
		return map[string]float64{"score": -100, "reparam": -50, "ours": -10, "facet": -10}[r.Estimator]
	}
	steady := func(r runSpec) float64 {
		noise := 0.1 / float64(r.Samples)
		if r.Estimator == "score" {
			noise *= 1000 * r.StepSize
		}
		return noise
	}
	s := invented(everything(), usual, steady)
	const guards = 5
	require.Equal(t, "holds", verdicts(s)[0])
	require.Equal(t, []string{"holds", "holds", "holds", "holds", "holds"}, verdicts(s)[:guards])
	require.Equal(t, "refuted", verdicts(s)[guards], "own averages are equal")

	oneCell := func(r runSpec) bool { return r.Model == "temperature" && r.StepSize == 0.01 && r.Samples == 8 }
	for name, c := range map[string]struct {
		claim      int
		end, noise func(runSpec) float64
		fails      string
	}{
		"ours below": {0, func(r runSpec) float64 {
			if oneCell(r) && r.Estimator == "ours" {
				return -51
			}
			return usual(r)
		}, steady, "temperature, 0.01, N = 8: −51.00, reparam −50.0"},
		"reparam at the optimum": {2, func(r runSpec) float64 {
			if oneCell(r) && r.Estimator == "reparam" {
				return 0
			}
			return usual(r)
		}, steady, "temperature, 0.01, N = 8: −0.01, ours −10.0"},
		"score quiet": {3, usual, func(r runSpec) float64 {
			if oneCell(r) && r.Estimator == "score" {
				return 0.0001
			}
			return steady(r)
		}, "temperature, 0.01, N = 8"},
		"noise at 16": {4, usual, func(r runSpec) float64 {
			if r.Model == "textmsg" && r.StepSize == 0.001 && r.Samples == 16 && r.Estimator == "ours" {
				return 1
			}
			return steady(r)
		}, "textmsg, 0.001, ours"},
	} {
		t.Run(name, func(t *testing.T) {
			got := invented(everything(), c.end, c.noise).claims()[c.claim]
			require.Equal(t, "refuted", got.Verdict)
			require.Len(t, got.Fails, 1)
			require.True(t, strings.HasPrefix(got.Fails[0], c.fails), got.Fails[0])
		})
	}
}

// A shortfall within noise refutes nothing.
func TestClaimsAllowNoise(t *testing.T) {
	s := invented(everything(), byScore(-9.99, -10), func(runSpec) float64 { return 1 })
	all := s.claims()
	require.Equal(t, "open", all[0].Verdict)
	require.Len(t, all[0].Within, 36)
	require.Equal(t, "0 of 36 cases, 36 within noise", all[0].Count())
	require.Equal(t, []string{"open", "open"}, verdicts(s)[3:5], "jitter is the same everywhere")
	s = invented(everything(), byScore(-9.99, -10), func(runSpec) float64 { return 1e-5 })
	require.Equal(t, "refuted", verdicts(s)[0])
}

// Jitter is the noise's standard deviation, and steady progress is none. Its
// standard error is the spread of jitters of many such runs.
func TestJitter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var all, errors []float64
	for range 1000 {
		r := &result{}
		for k := range 200 {
			r.ELBO = append(r.ELBO, elboPoint{Iteration: k, Exact: 100*float64(k) + 3*rng.NormFloat64()})
		}
		sd, se := r.jitter()
		all, errors = append(all, float64(sd)), append(errors, float64(se))
	}
	mean, spread := stat.MeanStdDev(all, nil)
	require.InDelta(t, 3, mean, 5*spread/math.Sqrt(1000)+0.03) // a root is biased by spread²/6
	require.InEpsilon(t, spread, stat.Mean(errors, nil), 5/math.Sqrt(2*1000))
	require.Less(t, spread, 0.4, "inconclusive")

	r := &result{}
	for k := range 200 {
		r.ELBO = append(r.ELBO, elboPoint{Iteration: k, Exact: 128 * float64(k)})
	}
	sd, _ := r.jitter()
	require.Zero(t, sd)
	r.ELBO = r.ELBO[:6]
	sd, se := r.jitter()
	require.True(t, math.IsNaN(float64(sd)) && math.IsNaN(float64(se)))
}

// Ratios and final ELBOs, by hand.
func TestSummaryByHand(t *testing.T) {
	s := invented(everything(), byScore(-1, -1), func(runSpec) float64 { return 0 })
	r := s.Table1[1]
	require.Equal(t, "reparam", r.Estimator)
	require.Equal(t, num(3), r.AvgVar)
	require.Equal(t, num(30), r.NormVar)
	require.Equal(t, numRatio{1, 1}, r.Own)
	require.Equal(t, numRatio{0.5, 1}, r.Same)
	require.Equal(t, numRatio{4.45e-9, 2.45e-8}, r.Paper)
	require.Equal(t, numRatio{0.75, 1}, s.Guards[0].Same)

	run := &result{}
	for k := range 30 {
		run.ELBO = append(run.ELBO, elboPoint{Exact: float64(k), MonteCarlo: -float64(k)})
	}
	f := run.final()
	require.Equal(t, 10, f.Evaluations)
	require.InDelta(t, 24.5, float64(f.Exact), 1e-12)
	require.InDelta(t, -24.5, float64(f.MonteCarlo), 1e-12)
	require.InDelta(t, math.Sqrt(82.5/9/10), float64(f.ExactSE), 1e-12)
	require.Equal(t, num(29), f.Best)
}

// Cells that differ by more than a factor of two are named, others not.
func TestDifferences(t *testing.T) {
	s := &summary{Table1: []varianceRow{
		{0.01, "textmsg", "ours", 1, 1, numRatio{5.07e-3, 8.12e-4}, unknown, numRatio{5.07e-4, 8.12e-4}},
		{0.01, "textmsg", "reparam", 1, 1, numRatio{1e-3, 1e-3}, unknown, numRatio{9e-4, 1e-1}},
		{0.01, "textmsg", "facet", 1, 1, numRatio{1e-3, 1e-3}, unknown, unknown},
	}}
	require.Equal(t, []string{
		"textmsg, step size 0.01, Ours (one guard), Avg(V(·)): 0.00507 here, 0.000507 in the paper, 10 times more",
		"textmsg, step size 0.01, Reparam, V(‖·‖₂): 0.001 here, 0.1 in the paper, 100 times less",
	}, s.differences())
}
