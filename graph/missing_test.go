package graph_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
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
	checks := flag.Lookup("rapid.checks")
	was := checks.Value.String()
	require.NoError(t, flag.Set("rapid.checks", strconv.Itoa(n)))
	defer func() { require.NoError(t, flag.Set("rapid.checks", was)) }()
	rapid.Check(t, func(t *rapid.T) {
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
	n := fixedPrograms(t, 700, anyProgram(), func(t *rapid.T, full, some random) {
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
	require.Greater(t, n, 300)
	t.Logf("%d programs, missing: %v", n, kinds)
}

// The jumps of programs with missing observations are those of the interpreter, and all machines agree.
func TestRandomMissingJumps(t *testing.T) {
	skipShort(t)
	var jumps tally
	fixedPrograms(t, 100, small(), func(t *rapid.T, _, some random) {
		checkMachines(t, some)
		checkJumps(t, some, &jumps, new(tally))
	})
	jumps.check(t, 0.02)
}
