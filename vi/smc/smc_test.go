package smc_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/trials"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/smc"
)

func density(t testing.TB, build func(m *graph.Model)) *graph.Density {
	m := graph.NewModel()
	build(m)
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// values are those of a latent.
func values(d *graph.Density, r smc.Result, latent string) []float64 {
	i, _ := d.Latent(latent)
	x := make([]float64, len(r.Z))
	for k, z := range r.Z {
		x[k] = d.Coordinate(i).Value(z[i])
	}
	return x
}

// The seed fixes a run, whatever the number of processors is, and another one gives another run.
func TestSeed(t *testing.T) {
	d := density(t, trials.Named("ranking").Build)
	run := func(seed uint64) smc.Result {
		r, err := smc.Run(context.Background(), d, smc.Settings{Seed: seed, Effective: 1, Moves: 2})
		require.NoError(t, err)
		return r
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := run(3)
	runtime.GOMAXPROCS(4)
	other := run(3)
	require.Equal(t, fmt.Sprint(one.LogEvidence, one.Acceptance, one.Crossings), fmt.Sprint(other.LogEvidence, other.Acceptance, other.Crossings))
	require.True(t, reflect.DeepEqual(one.Z, other.Z))
	require.False(t, reflect.DeepEqual(one.Z, run(4).Z))
}

// Moves allocate nothing.
func TestAllocations(t *testing.T) {
	for _, x := range []trials.Trial{trials.Named("ranking"), trials.Named("nile by switches"), {Name: "bends", Build: bends}} {
		d := density(t, x.Build)
		var draws [][]float64
		for range 200 {
			draws = append(draws, d.PriorDraw(nil, rand.New(rand.NewPCG(uint64(len(draws)), 1))))
		}
		n, err := smc.Allocations(d, draws)
		require.NoError(t, err)
		require.Zero(t, n, x.Name)
	}
}

// A normal posterior has its mean, its covariance and its evidence, and the errors are right.
func TestNormal(t *testing.T) {
	d := density(t, func(m *graph.Model) {
		x, y := m.Sample("x", graph.Normal(1, 2)), m.Sample("y", graph.Normal(-1, 3))
		m.Observe("sum", graph.Normal(graph.Add(x, y), 0.5), 4)
	})
	r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1})
	require.NoError(t, err)
	const v = 4 + 9 + 0.25
	near := func(want float64, x []float64) {
		got := r.Mean(x)
		require.InDelta(t, want, got.Value, 5*got.SE)
		require.Less(t, got.SE, 0.05*stat.StdDev(x, nil))
	}
	x, y := values(d, r, "x"), values(d, r, "y")
	near(1+4*4/v, x)
	near(-1+9*4/v, y)
	product := make([]float64, len(x))
	for k := range x {
		product[k] = (x[k] - 1 - 4*4/v) * (y[k] + 1 - 9*4/v)
	}
	near(-4*9/v, product)
	require.InDelta(t, -16/(2*v)-0.5*math.Log(2*math.Pi*v), r.LogEvidence.Value, 5*r.LogEvidence.SE)
	require.Less(t, r.LogEvidence.SE, 0.05)
	for i := range d.Dim() {
		require.Less(t, r.RHat[i], 1.01)
		require.Greater(t, min(r.Bulk[i], r.Tail[i]), 1000.0)
	}
}

// Beyond a wall the density is three times as high: how much of the mass is there, the mean and the evidence are those of the closed form.
// Walls at which paths do not reverse, as those of OneWay, fail.
func TestWall(t *testing.T) {
	const height = 3.0
	d := density(t, func(m *graph.Model) {
		x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
		m.Factor(graph.If(graph.Greater(graph.Add(x, y), 1), math.Log(height), 0))
	})
	prior := distuv.UnitNormal.Survival(math.Sqrt(0.5))
	evidence := 1 + (height-1)*prior
	check := func(change func(smc.Settings) smc.Settings) (worst float64) {
		r, err := smc.Run(context.Background(), d, change(smc.Settings{Seed: 1, Effective: 40000}))
		require.NoError(t, err)
		beyond := make([]float64, len(r.Z))
		for k, z := range r.Z {
			if z[0]+z[1] > 1 {
				beyond[k] = 1
			}
		}
		off := func(want float64, got mc.Estimate) { worst = max(worst, math.Abs(got.Value-want)/got.SE) }
		off(height*prior/evidence, r.Mean(beyond))
		off((height-1)*distuv.UnitNormal.Prob(math.Sqrt(0.5))*math.Sqrt(0.5)/evidence, r.Mean(values(d, r, "x")))
		off(math.Log(evidence), r.LogEvidence)
		require.Less(t, r.Mean(beyond).SE, 0.01)
		return worst
	}
	require.Less(t, check(func(s smc.Settings) smc.Settings { return s }), 5.0)
	require.Greater(t, check(smc.Settings.OneWay), 5.0)
}

// Of parallel walls, the levels of one function, the masses between them and the evidence are those of the closed form.
func TestLevels(t *testing.T) {
	at, weights := []float64{-1, 0.2, 1}, []float64{1, 4, 0.5, 3}
	d := density(t, func(m *graph.Model) {
		x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
		for _, k := range []int{1, 0, 2} {
			m.Factor(graph.If(graph.Greater(graph.Add(x, graph.Mul(2, y)), at[k]), math.Log(weights[k+1]/weights[k]), 0))
		}
	})
	law, masses, evidence, below := distuv.Normal{Sigma: math.Sqrt(5)}, make([]float64, 4), 0.0, 0.0
	for j := range masses {
		to := 1.0
		if j < len(at) {
			to = law.CDF(at[j])
		}
		masses[j], below = weights[j]*(to-below), to
		evidence += masses[j]
	}
	check := func(change func(smc.Settings) smc.Settings) (worst float64) {
		r, err := smc.Run(context.Background(), d, change(smc.Settings{Seed: 1, Effective: 40000}))
		require.NoError(t, err)
		worst = math.Abs(r.LogEvidence.Value-math.Log(evidence)) / r.LogEvidence.SE
		for j := range masses {
			in := make([]float64, len(r.Z))
			for k, z := range r.Z {
				if n, _ := slices.BinarySearch(at, z[0]+2*z[1]); n == j {
					in[k] = 1
				}
			}
			got := r.Mean(in)
			require.Less(t, got.SE, 0.01)
			worst = max(worst, math.Abs(got.Value-masses[j]/evidence)/got.SE)
		}
		return worst
	}
	require.Less(t, check(func(s smc.Settings) smc.Settings { return s }), 5.0)
	require.Greater(t, check(smc.Settings.OneWay), 5.0)
}

// bendLogs are the logarithms of the weight of x below exp(y), from there to exp(y) + 1, and above it.
var bendLogs = []float64{0, math.Log(4), math.Log(0.1)}

func bends(m *graph.Model) {
	x, y := m.Sample("x", graph.Normal(1, 1)), m.Sample("y", graph.Normal(0, 1))
	bend := graph.Exp(y)
	m.Factor(graph.If(graph.Greater(x, graph.Add(bend, 1)), bendLogs[2], graph.If(graph.Greater(x, bend), bendLogs[1], bendLogs[0])))
	m.Factor(graph.If(graph.Greater(y, 1), -0.5, 0)) // a wall that is straight
}

// Walls may be curves, and several of one function: the masses between them, and the mean, are those of quadrature, and
// steps are long. Walls that are elsewhere fail.
func TestBends(t *testing.T) {
	d := density(t, bends)
	var masses [3]float64
	mean, law := 0.0, distuv.Normal{Mu: 1, Sigma: 1}
	for k := range 1 << 14 { // the midpoint rule, with a midpoint between panels at the straight wall
		y := -9 + (float64(k)+0.5)/(1<<10)
		p := distuv.UnitNormal.Prob(y) / (1 << 10)
		if y > 1 {
			p *= math.Exp(-0.5)
		}
		from := math.Inf(-1)
		for j, to := range []float64{math.Exp(y), math.Exp(y) + 1, math.Inf(1)} {
			mass := law.CDF(to) - law.CDF(from)
			masses[j] += p * math.Exp(bendLogs[j]) * mass
			mean += p * math.Exp(bendLogs[j]) * (mass + law.Prob(from) - law.Prob(to))
			from = to
		}
	}
	evidence := masses[0] + masses[1] + masses[2]
	check := func(change func(smc.Settings) smc.Settings) (worst, step float64) {
		r, err := smc.Run(context.Background(), d, change(smc.Settings{Seed: 1, Effective: 40000}))
		require.NoError(t, err)
		var in [3][]float64
		for j := range in {
			in[j] = make([]float64, len(r.Z))
		}
		x, y := values(d, r, "x"), values(d, r, "y")
		for k := range x {
			switch at := math.Exp(y[k]); {
			case x[k] > at+1:
				in[2][k] = 1
			case x[k] > at:
				in[1][k] = 1
			default:
				in[0][k] = 1
			}
		}
		off := func(want float64, got mc.Estimate) { worst = max(worst, math.Abs(got.Value-want)/got.SE) }
		for j := range in {
			off(masses[j]/evidence, r.Mean(in[j]))
			require.Less(t, r.Mean(in[j]).SE, 0.01)
		}
		off(mean/evidence, r.Mean(x))
		off(math.Log(evidence), r.LogEvidence)
		return worst, r.Step
	}
	worst, step := check(func(s smc.Settings) smc.Settings { return s })
	require.Less(t, worst, 5.0)
	worst, _ = check(smc.Settings.Misplaced)
	require.Greater(t, worst, 5.0)
	_, free := check(smc.Settings.Free) // where nothing is paid
	require.Greater(t, step, 10*free)
}

// A disc, which a step may pass through without being in it at either end, has the mass of the closed form.
func TestDisc(t *testing.T) {
	const height = 5.0
	d := density(t, func(m *graph.Model) {
		x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
		m.Factor(graph.If(graph.Less(graph.Add(graph.Mul(x, x), graph.Mul(y, y)), 1), math.Log(height), 0))
	})
	inside := -math.Expm1(-0.5) * height
	run := func(s smc.Settings) float64 {
		r, err := smc.Run(context.Background(), d, s)
		require.NoError(t, err)
		in := make([]float64, len(r.Z))
		for k, z := range r.Z {
			if z[0]*z[0]+z[1]*z[1] < 1 {
				in[k] = 1
			}
		}
		got := r.Mean(in)
		require.Less(t, got.SE, 0.005)
		require.Positive(t, r.Crossings)
		return math.Abs(got.Value-inside/(inside+math.Exp(-0.5))) / got.SE
	}
	s := smc.Settings{Seed: 1, Effective: 40000}
	require.Less(t, run(s), 5.0)
	require.Greater(t, run(s.Misplaced()), 5.0)
}

// A context ends a run with what is there, and says so.
func TestStopped(t *testing.T) {
	d := density(t, trials.Named("ranking").Build)
	for _, after := range []int{1, 3, 9} {
		ctx, stop := context.WithCancel(context.Background())
		reports := 0
		r, err := smc.Run(ctx, d, smc.Settings{Seed: 1, Progress: func(smc.Progress) {
			if reports++; reports == after {
				stop()
			}
		}})
		require.ErrorIs(t, err, context.Canceled)
		require.NotEmpty(t, r.Z)
		require.Len(t, r.Island, len(r.Z))
		require.Equal(t, after == 9, r.Beta == 1, "%v", r.Beta)
		stop()
	}
	_, err := smc.Run(context.Background(), d, smc.Settings{Islands: 1})
	require.ErrorContains(t, err, "smc: 1 islands: at least 2")
	for _, draws := range [][][]float64{{nil}, {make([]float64, d.Dim()), {1}}, {slices.Repeat([]float64{math.NaN()}, d.Dim())}} {
		_, err = smc.Run(context.Background(), d, smc.Settings{Draws: draws})
		require.ErrorContains(t, err, fmt.Sprintf("smc: draw %d is no point of %d finite coordinates", len(draws)-1, d.Dim()))
	}
	_, err = smc.Run(context.Background(), d, smc.Settings{Complete: func(int) smc.Completer { return nil }})
	require.ErrorContains(t, err, "smc: settings: Complete makes nil")
	var none smc.Result
	none.Diagnose(d.Arrangement())
	require.Equal(t, smc.Result{}, none)
}

// A context ends trajectories on their way: no wall is crossed any more, and points stay where they were.
func TestStoppedOnTheWay(t *testing.T) {
	d := density(t, trials.Named("ranking").Build)
	draws := make([][]float64, 100)
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range draws {
		draws[k] = make([]float64, d.Dim())
		for i := range draws[k] {
			draws[k][i] = rng.NormFloat64()
		}
	}
	c, err := smc.NewCrossing(d, draws, 64)
	require.NoError(t, err)
	for _, stopped := range []bool{false, true} {
		if stopped {
			c.Stop()
		}
		require.Equal(t, !stopped, c.Drift(1) > 0)
		moved, err := c.Trajectory()
		require.NoError(t, err)
		require.Equal(t, !stopped, moved)
	}
}

// Where log r is +Inf no temperature is low enough: the run ends, and says so.
func TestInfinite(t *testing.T) {
	d := density(t, func(m *graph.Model) { m.Factor(graph.Exp(graph.Mul(2000, m.Sample("x", graph.Normal(0, 1))))) })
	_, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1, Draws: [][]float64{{-1}, {-0.5}, {0}, {0.5}, {1}}})
	require.ErrorContains(t, err, "log r is +Inf at a draw")
}

// Where discrete latents are summed out in one program, and sampled in another, all else is the same.
func TestDiscrete(t *testing.T) {
	long.Skip(t)
	summed := density(t, trials.Named("nile").Build)
	switches := density(t, trials.Named("nile by switches").Build)
	effective := 500
	one, err := smc.Run(context.Background(), summed, smc.Settings{Seed: 1, Effective: effective})
	require.NoError(t, err)
	other, err := smc.Run(context.Background(), switches, smc.Settings{Seed: 2, Effective: effective})
	require.NoError(t, err)
	for _, latent := range []string{"p", "so", "level[0]", "level[42]"} {
		a, b := one.Mean(values(summed, one, latent)), other.Mean(values(switches, other, latent))
		require.InDelta(t, a.Value, b.Value, 5*math.Hypot(a.SE, b.SE), latent)
	}
	require.InDelta(t, one.LogEvidence.Value, other.LogEvidence.Value, 7*math.Hypot(one.LogEvidence.SE, other.LogEvidence.SE))
}

// nothing completes what nothing is summed out of.
type nothing struct{}

func (nothing) Uniforms() int            { return 0 }
func (nothing) Draw(log, z, u []float64) {}
func complete(int) smc.Completer         { return nothing{} }

// Where latents are summed out every second state is one half-way of a trajectory, and has the distribution of the others: a standard normal's, whose variance
// would be 1/(1 − h²/4) for steps of length h if all trajectories ended there.
func TestHalfway(t *testing.T) {
	const dim = 8
	d := density(t, func(m *graph.Model) {
		for i := range dim {
			m.Sample(fmt.Sprint("x", i), graph.Normal(0, 1))
		}
	})
	r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1, Effective: long.Or(100_000, 500_000), Complete: complete})
	require.NoError(t, err)
	var variance [2]mc.Moments // of the sums of squares, half-way and at the end
	for from := 0; from < len(r.Z); from += 2 * r.Chains {
		for c := range r.Chains {
			for at := range variance {
				sum := 0.0
				for _, x := range r.Z[from+at*r.Chains+c] {
					sum += x * x
				}
				variance[at].Add(sum / dim)
			}
		}
	}
	for at, v := range variance {
		t.Logf("%d: %.4f from %d states, accepted %.2f with steps of %.2f", at, v.Mean, v.N, r.Acceptance, r.Step)
		require.InDelta(t, 1, v.Mean, 5*math.Sqrt(2.0/dim/float64(v.N)))
	}
}

// A run whose numbers are known at once goes on until there are states enough for their errors to be believed, and where latents are summed out it is not
// asked for them before.
func TestFewestStates(t *testing.T) {
	d := density(t, func(m *graph.Model) { m.Sample("x", graph.Normal(0, 1)) })
	for _, c := range []struct {
		complete func(n int) smc.Completer
		fewest   int
	}{{nil, 64}, {complete, 192}} {
		asked := 0
		r, err := smc.Run(context.Background(), d, smc.Settings{Seed: 1, Complete: c.complete, Enough: func(r smc.Result) float64 {
			if asked++; c.complete != nil {
				require.GreaterOrEqual(t, len(r.Z), c.fewest*r.Chains)
			}
			return 0
		}})
		require.NoError(t, err)
		require.NotZero(t, asked)
		require.GreaterOrEqual(t, len(r.Z), c.fewest*r.Chains)
		require.Less(t, len(r.Z), 2*c.fewest*r.Chains)
	}
}
