package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

func pcg(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// room follows temperature in plain Go: the latents in their order, and the
// data that they lead to.
type room struct{ z, mean []float64 }

func walkRoom(steps int, normal func(mean, sd float64) float64) room {
	theta := normal(20, 0.001)
	r := room{[]float64{theta}, []float64{theta}}
	on := 0.0
	for range steps {
		mean := on
		if theta < 18 {
			mean = 0
		} else if theta > 22 {
			mean = 1
		}
		noise := normal(mean, 0.001)
		scale := 0.2
		if on = 0; noise > 0.5 {
			on, scale = 1, 0.22
		}
		theta = normal(theta+(32-(theta+21*on))/15, 2*scale)
		r.z, r.mean = append(r.z, noise, theta), append(r.mean, theta)
	}
	return r
}

// Draws of temperature follow the program: one stream gives the numbers that it
// gives to the program in plain Go, and so do the replicated data.
func TestTemperatureFollowsTheProgram(t *testing.T) {
	const steps = 20
	d := mustCompile(t, models.Temperature(models.SimulateTemperature(steps, 1)))
	rng, same := pcg(1), pcg(1)
	normal := func(mean, sd float64) float64 { return mean + sd*same.NormFloat64() }
	on, off := 0, 0
	for range 200 {
		z := d.PriorDraw(nil, rng)
		want := walkRoom(steps, normal)
		require.InDeltaSlice(t, want.z, z, 1e-12)
		for i := 1; i < len(z); i += 2 {
			if z[i] > 0.5 {
				on++
			} else {
				off++
			}
		}
		y := d.Replicate(nil, z, rng)
		for i, mean := range want.mean {
			require.InDelta(t, normal(mean, 1), y[i], 1e-12)
		}
	}
	require.Greater(t, on, 400, "the air conditioner is hardly ever on: no test of its branches")
	require.Greater(t, off, 400)
}

// branching has observations on one side of an If, on the other, in nested
// blocks, and behind a guard that is simply false.
func branching() *graph.Model {
	m := graph.NewModel()
	a := m.Sample("a", graph.Normal(0, 1))
	b := m.Sample("b", graph.Gamma(2, 1))
	m.Observe("mix", graph.Normal(graph.If(graph.Greater(a, 1), graph.Mul(10, b), a), graph.Mul(0.5, b)), 0)
	m.If(graph.Greater(a, 0), func() {
		m.Observe("in", graph.Poisson(b), 2)
		m.If(graph.And(graph.Less(b, 2), graph.Less(a, 3)), func() {
			m.Observe("deep", graph.Normal(a, 1), 0)
		}, nil)
	}, func() {
		m.Observe("in", graph.Normal(graph.Sqrt(graph.Neg(a)), 0.1), 3)
	})
	m.If(graph.Greater(2, 3), func() { m.Observe("never", graph.Normal(0, 1), 0) }, nil)
	return m
}

func TestReplicateOnlyTakenSides(t *testing.T) {
	d := mustCompile(t, branching())
	require.Equal(t, []string{"mix", "in", "deep", "in", "never"}, d.Observations())
	require.Len(t, d.Data(), 5)
	nan := func(a, b float64) (is []bool) {
		for _, y := range d.Replicate(nil, []float64{a, math.Log(b)}, pcg(1)) {
			is = append(is, math.IsNaN(y))
		}
		return is
	}
	require.Equal(t, []bool{false, false, false, true, true}, nan(0.5, 1))
	require.Equal(t, []bool{false, false, true, true, true}, nan(0.5, 3))
	require.Equal(t, []bool{false, false, true, true, true}, nan(3.5, 1))
	require.Equal(t, []bool{false, true, true, false, true}, nan(-0.5, 1))
}

// A replicate has the mean and the standard deviation of its distribution at z,
// on z's own side, and not those of the other side.
func TestReplicateMoments(t *testing.T) {
	d := mustCompile(t, branching())
	const n = 20000
	for _, c := range []struct{ a, b, mean, sd float64 }{
		{0.9, 3, 0.9, 1.5}, {1.1, 3, 30, 1.5}, {-2, 0.01, -2, 0.005},
	} {
		rng, y := pcg(3), make([]float64, 5)
		sum, square := 0.0, 0.0
		for range n {
			d.Replicate(y, []float64{c.a, math.Log(c.b)}, rng)
			r := (y[0] - c.mean) / c.sd
			sum, square = sum+r, square+r*r
		}
		require.Less(t, math.Abs(sum/n), 5/math.Sqrt(n), "mean")
		require.Less(t, math.Abs(square/n-1), 5*math.Sqrt(2./n), "variance")
	}
}

// Replicates of data drawn from the program come back from WithData, where all
// observations are on taken sides.
func TestReplicatesAreData(t *testing.T) {
	for name, p := range compilePaper(t) {
		rng := pcg(5)
		for range 20 {
			y := p.d.Replicate(nil, p.d.PriorDraw(nil, rng), rng)
			data := map[string][]float64{}
			for i, name := range p.d.Observations() {
				data[name] = append(data[name], y[i])
			}
			next, err := p.d.WithData(data)
			if err != nil {
				require.Contains(t, err.Error(), "NaN", name) // on a side that was not taken
				continue
			}
			require.Equal(t, y, next.Data(), name)
		}
	}
}

func TestWrongLengthsPanic(t *testing.T) {
	d := mustCompile(t, branching())
	z := make([]float64, 2)
	for name, f := range map[string]func(){
		"PriorDraw":       func() { d.PriorDraw(make([]float64, 3), pcg(1)) },
		"Replicate dst":   func() { d.Replicate(z, z, pcg(1)) },
		"Replicate z":     func() { d.Replicate(nil, make([]float64, 1), pcg(1)) },
		"DeterministicAt": func() { d.DeterministicAt(z, z) },
	} {
		require.Panics(t, f, name)
	}
	require.Equal(t, []float64{}, d.DeterministicAt(nil, z))
}

// raceDetector says that the race detector is on.
var raceDetector bool

func TestPriorDrawDoesNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector a sync.Pool forgets at random")
	}
	d := mustCompile(t, branching())
	rng, z, y := pcg(1), make([]float64, 2), make([]float64, 5)
	require.Zero(t, testing.AllocsPerRun(200, func() { d.Replicate(y, d.PriorDraw(z, rng), rng) }))
}

// BenchmarkPriorDraw is a draw of temperature's latents, and its time for each
// time step.
func BenchmarkPriorDraw(b *testing.B) {
	for _, steps := range []int{20, 2000} {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			d := mustCompile(b, models.Temperature(models.SimulateTemperature(steps, 1)))
			rng, z := pcg(1), make([]float64, d.Dim())
			b.ReportAllocs()
			for b.Loop() {
				d.PriorDraw(z, rng)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/timestep")
		})
	}
}

// The end of 20000 steps, each of which needs the one before: the evaluator goes
// down all of them at once.
func TestTheEndOfALongChain(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	low := graph.Less(x, -1)
	end, want := x, 0.3
	for range 20000 {
		end = graph.If(low, 0, graph.Add(graph.Mul(2, graph.Sin(end)), 0.1))
		want = 2*math.Sin(want) + 0.1
	}
	m.Deterministic("end", end)
	d := mustCompile(t, m)
	require.Equal(t, want, d.DeterministicAt(nil, []float64{0.3})[0])
	require.Zero(t, d.DeterministicAt(nil, []float64{-2})[0])
}

// Draws and expressions may be asked for while another goroutine derives
// programs, which adds to the store; the results are those of one goroutine.
func TestDrawsWhileDeriving(t *testing.T) {
	m := models.Temperature(models.SimulateTemperature(10, 1))
	interval := m.Sample("interval", graph.Uniform(graph.Sub(1, 3), 5)) // bounds that are folded
	m.Deterministic("square", graph.Square(interval))
	d := mustCompile(t, m)
	type all struct {
		z, y, det, start []float64
		print            string
	}
	one := func() (a all) {
		rng := pcg(9)
		a.z = d.PriorDraw(nil, rng)
		a.y = d.Replicate(nil, a.z, rng)
		a.det = d.DeterministicAt(nil, a.z)
		a.start, _ = d.PriorStart()
		a.print = d.Fingerprint()
		d.NonFinite(a.z)
		_ = d.Guards()[3].String()
		d.Constrain(a.z)
		return a
	}
	var wg sync.WaitGroup
	results := make([]all, 6)
	wg.Go(func() {
		for k := range 3 {
			all := boundary.Reach{Name: fmt.Sprint(k), Moves: func(regions.Hyperplane, int) bool { return true }}
			_, err := boundary.NewJumps(d, all)
			if err != nil {
				t.Error(err)
			}
		}
	})
	for i := range results {
		wg.Go(func() {
			for range 20 {
				results[i] = one()
			}
		})
	}
	wg.Wait()
	want := one()
	for _, r := range results {
		require.Equal(t, want, r)
	}
}
