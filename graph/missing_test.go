package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/programs"
)

// Of data that are missing log r is that of the program without them, however they got there: as NaN of the program, or of
// WithData of any other data, with another number of them missing.
func TestMissingByAnyWay(t *testing.T) {
	const n = 40
	nan := math.NaN()
	build := func(y, k []float64, kept bool) *graph.Density {
		m := graph.NewModel()
		x, sd, when := m.Sample("x", graph.Normal(0, 1)), m.Sample("sd", graph.Gamma(2, 1)), m.Sample("when", graph.Uniform(0, n))
		keep := func(v float64) bool { return kept || !math.IsNaN(v) }
		for i := range n {
			if late := graph.Less(when, float64(i)); keep(y[i]) {
				m.Observe("y", graph.Gamma(sd, graph.If(late, 2, sd)), y[i]) // data share the log density of the first
			}
			if keep(k[i]) {
				m.Observe("k", graph.Poisson(graph.Exp(x)), k[i])
			}
		}
		return mustCompile(t, m)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	data := func(missing float64) (y, k []float64) {
		for range n {
			y, k = append(y, rng.ExpFloat64()), append(k, float64(rng.IntN(5)))
			if rng.Float64() < missing {
				y[len(y)-1] = nan
			}
			if rng.Float64() < missing {
				k[len(k)-1] = nan
			}
		}
		return y, k
	}
	y, k := data(0)
	none := build(y, k, true)
	y, k = data(0.4)
	some := build(y, k, true)
	for _, share := range []float64{0, 0.02, 0.5, 0.98, 1} {
		y, k := data(share)
		want := build(y, k, false)
		for what, from := range map[string]*graph.Density{"none": none, "some": some, "these": build(y, k, true)} {
			d, err := from.WithData(map[string][]float64{"y": y, "k": k})
			require.NoError(t, err)
			require.Equal(t, none.Fingerprint(), d.Fingerprint())
			own := d.Data()
			for i := range n {
				require.Equal(t, math.Float64bits(y[i]), math.Float64bits(own[2*i]))
				require.Equal(t, math.Float64bits(k[i]), math.Float64bits(own[2*i+1]))
			}
			for range 5 {
				z := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
				close12(t, logProb(t, want, z...), logProb(t, d, z...), what, share)
			}
		}
	}
}

// fixedPrograms calls check with random programs, about n of them, of which some observations are missing.
func fixedPrograms(t *testing.T, n int, l programs.Limits, check func(t *rapid.T, full, some random)) (count int) {
	programs.Check(t, n, func(t *rapid.T) {
		full := drawRandom(t, l)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "missing"), 0))
		share := []float64{0.15, 0.5, 1}[rng.IntN(3)]
		some := random{Program: full.Without(func() bool { return rng.Float64() < share })}
		d, err := some.Model().Compile()
		require.NoError(t, err)
		if some.d = d; slices.ContainsFunc(d.Data(), math.IsNaN) {
			count++
			check(t, full, some)
		}
	})
	return count
}

// Where observations of a random program are missing, by NaN of the program or of WithData, value and gradient are
// those of the interpreter, which leaves them out; and to 1e-12 those of the program that is written without them.
func TestRandomMissing(t *testing.T) {
	skipShort(t)
	var values, slopes tally
	kinds := map[string]int{}
	n := fixedPrograms(t, long.Or(36, long.Few(250, 700)), anyProgram(), func(t *rapid.T, full, some random) {
		checkValues(t, some, &values, &slopes)
		given, err := full.d.WithObservations(some.d.Data())
		require.NoError(t, err)
		bare, err := some.Bare().Compile()
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 1))
		places := []place{some.place(rng), some.place(rng), some.place(rng)}
		want, wantGrad := random{some.Program, bare}.run(t, 3, false, places)
		for what, d := range map[string]*graph.Density{"written": some.d, "given": given} {
			require.Equal(t, full.d.Fingerprint(), d.Fingerprint())
			got, grad := random{some.Program, d}.run(t, 3, false, places)
			for k := range places {
				if values.skip(!finite(want[k])) {
					continue
				}
				close12(t, want[k], got[k], what)
				for i := range grad[k] {
					close12(t, wantGrad[k][i], grad[k][i], what, "gradient", i)
				}
			}
		}
		for i, name := range some.d.Observations() {
			if math.IsNaN(some.d.Data()[i]) {
				kinds[some.Kind(name)]++
			}
		}
	})
	values.check(t, 0.01)
	slopes.check(t, 0.1)
	require.Greater(t, n, long.Or(15, long.Few(107, 300))) // three sevenths
	t.Logf("%d programs, missing: %v", n, kinds)
}

// The jumps of programs with missing observations are those of the interpreter, and all machines agree.
func TestRandomMissingJumps(t *testing.T) {
	long.Skip(t)
	skipShort(t)
	var jumps tally
	fixedPrograms(t, 100, small(), func(t *rapid.T, _, some random) {
		checkMachines(t, some)
		checkJumps(t, some, &jumps, new(tally))
	})
	jumps.check(t, 0.02)
}

// Draws of a missing observation have the law that the interpreter gives it: its density is by how much log r is higher with
// the value than without, at the same point and with the same other data. So it is the law given what was observed, also for
// steps of chains and components of vectors, whatever else is missing. By Kolmogorov and Smirnov's test of 1000 draws, where the
// distribution function is summed, or integrated between the draws. Draws at another point are rejected in most
// programs.
func TestMissingAreDrawnGivenTheData(t *testing.T) {
	long.Skip(t)
	skipShort(t)
	const draws = 1000
	judged, elsewhere := 0, 0
	kinds := map[string]int{}
	fixedPrograms(t, long.Few(240, 620), anyProgram(), func(t *rapid.T, _, some random) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 2))
		z, data := some.point(rng), some.d.Data()
		var missing []int
		for i, x := range some.d.Replicate(nil, z, rng) {
			if math.IsNaN(data[i]) && finite(x) {
				missing = append(missing, i)
			}
		}
		without := some.RunGiven(z, nil, data).LogProb
		if len(missing) == 0 || !finite(without) {
			return
		}
		cell := missing[rng.IntN(len(missing))]
		density := func(x float64) float64 {
			data[cell] = x
			defer func() { data[cell] = math.NaN() }()
			return math.Exp(some.RunGiven(z, nil, data).LogProb - without)
		}
		sample := func(d *graph.Density, z []float64) (xs []float64) {
			for range draws {
				if x := d.Replicate(nil, z, rng)[cell]; finite(x) {
					xs = append(xs, x)
				}
			}
			return xs
		}
		judged++
		kind := some.Kind(some.d.Observations()[cell])
		kinds[kind]++
		require.Less(t, smirnov(sample(some.d, z), draws, density), kolmogorovLimit, "%s, cell %d of %v at %v", kind, cell, data, z)
		if smirnov(sample(some.d, some.point(rng)), draws, density) > kolmogorovLimit {
			elsewhere++
		}
	})
	t.Logf("%d programs: %v; %d rejected at another point", judged, kinds, elsewhere)
	require.Greater(t, judged, long.Few(100, 300))
	require.Greater(t, elsewhere, judged/2)
}

// smirnov is √n times the greatest distance between the distribution of n draws, of which those of no value are left out, and
// that with the given density, or probabilities where all draws are whole. The greatest draw may be an atom.
func smirnov(xs []float64, n int, density func(x float64) float64) float64 {
	slices.Sort(xs)
	if len(xs) < n {
		return math.Inf(1)
	}
	cdf, worst := 0.0, 0.0
	seen := func(rank int) { worst = max(worst, math.Abs(cdf-float64(rank)/float64(n))) }
	if !slices.ContainsFunc(xs, func(x float64) bool { return x != math.Trunc(x) }) {
		rank := 0
		for k := xs[0]; k <= xs[n-1]; k++ {
			for cdf += density(k); rank < n && xs[rank] <= k; rank++ {
			}
			seen(rank)
		}
		return math.Sqrt(float64(n)) * worst
	}
	at, inverse := math.Asinh, math.Sinh
	slope := math.Cosh // of inverse
	switch {
	case xs[0] > 0 && xs[n-1] < 1:
		at, inverse = func(x float64) float64 { return math.Log(x) - math.Log1p(-x) }, func(u float64) float64 { return 1 / (1 + math.Exp(-u)) }
		slope = func(u float64) float64 { return inverse(u) * inverse(-u) }
	case xs[0] > 0:
		at, inverse, slope = math.Log, math.Exp, math.Exp
	}
	const pieces, order = 40, 8
	x, w := make([]float64, order), make([]float64, order)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	inside := n // draws below an atom
	for inside > 1 && xs[inside-2] == xs[n-1] {
		inside--
	}
	if inside < n {
		inside--
	}
	for k := range pieces {
		from, to := k*(inside-1)/pieces, (k+1)*(inside-1)/pieces
		a, b := at(xs[from]), at(xs[to])
		for j := range order {
			u := a + (b-a)*x[j]
			cdf += (b - a) * w[j] * density(inverse(u)) * slope(u)
		}
		seen(to + 1)
	}
	if inside < n {
		worst = max(worst, math.Abs(density(xs[n-1])-float64(n-inside)/float64(n)))
	}
	return math.Sqrt(float64(n)) * worst
}

// Missing steps of a chain are drawn together given the others: their joint probabilities are those of enumerating all series. Draws
// of the chain given nothing, as its replicates are, have other ones.
func TestMissingSteps(t *testing.T) {
	long.Skip(t)
	nan := math.NaN()
	series := []float64{nan, 0, 1, nan, nan, 2, 2, nan}
	emission := [][]float64{{0.8, 0.15, 0.05}, {0.2, 0.5, 0.3}, {0.05, 0.05, 0.9}}
	for _, lags := range []int{0, 1} {
		m := graph.NewModel()
		z := m.Sample("z", graph.Normal(0, 1))
		stay := graph.Sigmoid(graph.Add(z, 1))
		leave := graph.Mul(0.5, graph.Sub(1, stay))
		m.ObserveHMM("y", graph.HMM{
			Initial:    graph.Numbers(0.2, 0.5, 0.3),
			Transition: [][]graph.Expr{{stay, leave, leave}, {leave, stay, leave}, {leave, leave, stay}},
			Lags:       lags,
			Emission:   func(_ int, s []int) graph.Dist { return graph.Categorical(emission[s[lags]]...) },
		}, series)
		d := mustCompile(t, m)
		at := []float64{0.4}
		with := func(values ...float64) float64 {
			data := slices.Clone(series)
			for k, i := range []int{0, 3, 4, 7} {
				data[i] = values[k]
			}
			d, err := d.WithData(map[string][]float64{"y": data})
			require.NoError(t, err)
			return math.Exp(logProb(t, d, at...))
		}
		whole := with(nan, nan, nan, nan)
		probs, total := make([]float64, 81), 0.0
		for k := range probs {
			probs[k] = with(float64(k/27), float64(k/9%3), float64(k/3%3), float64(k%3)) / whole
			total += probs[k]
		}
		close12(t, 1, total)
		rng := rand.New(rand.NewPCG(3, 0))
		sample := func(d *graph.Density) (codes []float64) {
			for range 20000 {
				y := d.Replicate(nil, at, rng)
				codes = append(codes, 27*y[0]+9*y[3]+3*y[4]+y[7])
			}
			return codes
		}
		law := func(k float64) float64 { return probs[int(k)] }
		require.Greater(t, chiSquared(sample(d), law, 0), 1e-6, "lags %d", lags)
		full, err := d.WithData(map[string][]float64{"y": {0, 0, 1, 0, 0, 2, 2, 0}})
		require.NoError(t, err)
		require.Less(t, chiSquared(sample(full), law, 0), 1e-6, "lags %d", lags)
	}
}
