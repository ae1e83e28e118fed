package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/programs"
	"github.com/facetvi/facet/regions"
)

// anyProgram are the limits of random programs with all laws.
func anyProgram() programs.Limits {
	space := map[space]programs.Space{discrete: programs.Discrete, line: programs.Line, half: programs.Half, unit: programs.Unit, interval: programs.Interval}
	var l programs.Limits
	for _, x := range laws() {
		l.Laws = append(l.Laws, programs.Law{Make: x.make, LogProb: x.log, Kinds: x.kinds, Space: space[x.space], Params: x.params[0], Xs: x.xs})
	}
	return l
}

// small are those of programs that are small.
func small() programs.Limits {
	l := anyProgram()
	l.Depth = 1
	return l
}

// random is a program with its compiled density.
type random struct {
	*programs.Program
	d *graph.Density
}

// refused counts the programs that the language does not take.
var refused tally

// drawRandom draws a program, again if the language refuses it.
func drawRandom(t *rapid.T, l programs.Limits) random {
	for {
		p := programs.Draw(t, l)
		d, err := p.Model().Compile()
		if refused.skip(err != nil) {
			programs.RequireRefusal(t, err)
			continue
		}
		t.Logf("%v", p)
		require.Equal(t, p.Dim(), d.Dim())
		require.Equal(t, p.Params(), d.Params())
		return random{p, d}
	}
}

// point is a random point.
func (r random) point(rng *rand.Rand) []float64 {
	u := make([]float64, r.Dim())
	for i := range u {
		u[i] = 1.2 * rng.NormFloat64()
	}
	return u
}

// A place is a point, and another one whose region is continued to it, or the same.
type place struct{ u, of []float64 }

func (r random) place(rng *rand.Rand) place {
	u := r.point(rng)
	if rng.IntN(2) == 0 {
		return place{u, u}
	}
	return place{u, r.point(rng)}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// tally counts the points that an oracle could not judge.
type tally struct{ all, skipped int }

func (c *tally) skip(skip bool) bool {
	c.all++
	if skip {
		c.skipped++
	}
	return skip
}

func (c *tally) check(t *testing.T, atMost float64) {
	t.Logf("%d of %d comparisons skipped", c.skipped, c.all)
	require.LessOrEqual(t, float64(c.skipped), atMost*float64(c.all), "the test proves little")
}

// Values in the region of a point and in that of another, gradients, and recorded values
// are those of the interpreter.
func TestRandomModels(t *testing.T) {
	var values, slopes tally
	refused = tally{}
	rapid.Check(t, func(t *rapid.T) { checkValues(t, drawRandom(t, anyProgram()), &values, &slopes) })
	values.check(t, 0.01)
	slopes.check(t, 0.1)
	refused.check(t, 0.2)
}

func checkValues(t *rapid.T, r random, values, slopes *tally) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 0))
	var places []place
	for range 6 {
		places = append(places, r.place(rng))
	}
	out, grad := r.run(t, len(places), false, places)
	for k, at := range places {
		decisions := r.Run(at.of).Decisions
		want := r.RunAs(at.u, decisions).LogProb
		if values.skip(!finite(want)) {
			continue
		}
		closeTo(t, want, out[k], 1e-11, "value at", at)
		for i, g := range grad[k] {
			slope, trust := partial(func(u []float64) float64 { return r.RunAs(u, decisions).LogProb }, at.u, i)
			if !slopes.skip(!trust || !finite(slope)) {
				closeTo(t, slope, g, 1e-6, "gradient", i, "at", at)
			}
		}
	}
	u := places[0].u
	own := r.Run(u)
	value, err := r.d.LogProb(u)
	require.NoError(t, err)
	closeTo(t, own.LogProb, value, 1e-11, "value in its own region", u)
	for k, x := range r.d.DeterministicAt(nil, u) {
		closeTo(t, own.Records[k], x, 1e-11, "record", k, "at", u)
	}
}

// signs are those of the region that is continued to a place.
func (r random) signs(at place) regions.Signs { return r.d.Arrangement().Signs(at.of) }

// run evaluates places on an executor of n columns, and returns log r and the gradients.
func (r random) run(t fataler, n int, tape bool, places []place) (out []float64, grad [][]float64) {
	t.Helper()
	x, err := r.d.Executor(n, graph.Compute{Out: true, Grad: true, Tape: tape})
	require.NoError(t, err)
	for from := 0; from < len(places); from += n {
		for c := range n {
			at := places[min(from+c, len(places)-1)]
			for i, u := range at.u {
				x.Z[i*n+c] = u
			}
			for l, s := range r.signs(at).Floats(nil) {
				x.Signs[l*n+c] = s
			}
		}
		require.NoError(t, x.Run())
		for c := range min(n, len(places)-from) {
			out = append(out, x.Out[c])
			g := make([]float64, r.Dim())
			for i := range g {
				g[i] = x.Grad[i*n+c]
			}
			grad = append(grad, g)
		}
	}
	return out, grad
}

// Plan and TapeMachine agree, and so do batches of all widths; each want alone
// gives what both give, and so does the graph that a user builds on.
func TestRandomModelsOnAllMachines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkMachines(t, drawRandom(t, small())) })
}

func checkMachines(t *rapid.T, r random) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 0))
	var places []place
	for range 9 {
		places = append(places, r.place(rng))
	}
	out, grad := r.run(t, 1, false, places)
	same := func(o []float64, g [][]float64, what ...any) {
		t.Helper()
		for k := range out {
			close12(t, out[k], o[k], what...)
			for i := range g[k] {
				close12(t, grad[k][i], g[k][i], append(what, "gradient", i, "of point", k)...)
			}
		}
	}
	for _, n := range []int{2, 7, 1 + rng.IntN(40)} {
		o, g := r.run(t, n, false, places)
		same(o, g, "plan of", n)
	}
	n := 1 + rng.IntN(40)
	o, g := r.run(t, n, true, places)
	same(o, g, "tape of", n)

	u, signs := places[0].u, r.signs(places[0])
	value, err := r.d.LogProbAt(u, signs)
	require.NoError(t, err)
	require.Equal(t, math.Float64bits(out[0]), math.Float64bits(value), "value without gradient")
	alone, err := r.d.GradAt(u, signs)
	require.NoError(t, err)
	for i := range alone {
		close12(t, grad[0][i], alone[i], "gradient without value", i)
	}
	value, slope := r.runGraph(t, u, signs)
	close12(t, out[0], value, "Program.Graph")
	for i := range slope {
		close12(t, grad[0][i], slope[i], "gradient of Program.Graph", i)
	}
}

// FuzzRandomModels is all tests of random programs with programs that Go's fuzzer changes:
// it looks for code that none has come to yet.
func FuzzRandomModels(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		r := drawRandom(t, anyProgram())
		checkValues(t, r, new(tally), new(tally))
		checkMachines(t, r)
		checkJumps(t, r, new(tally), new(tally))
	}))
}

// runGraph runs the graph that a user builds on, on a TapeMachine.
func (r random) runGraph(t fataler, u []float64, s regions.Signs) (float64, []float64) {
	t.Helper()
	g, err := r.d.Graph(1)
	require.NoError(t, err)
	for _, in := range []struct {
		node   *gorgonia.Node
		values []float64
	}{{g.Z, append([]float64(nil), u...)}, {g.Signs, s.Floats(nil)}, {g.Data, r.d.Data()}} {
		if in.node != nil {
			require.NoError(t, gorgonia.Let(in.node, tensor.New(tensor.WithShape(len(in.values), 1), tensor.WithBacking(in.values))))
		}
	}
	var out, grad gorgonia.Value
	gorgonia.Read(g.Out, &out)
	if g.Grad != nil {
		gorgonia.Read(g.Grad, &grad)
	}
	require.NoError(t, gorgonia.NewTapeMachine(g.G).RunAll())
	if grad == nil {
		return firstNumber(out), make([]float64, len(u))
	}
	return firstNumber(out), append([]float64(nil), grad.Data().([]float64)...)
}

func firstNumber(v gorgonia.Value) float64 {
	if d, ok := v.Data().([]float64); ok {
		return d[0]
	}
	return v.Data().(float64)
}

// Where decisions of the interpreter change, on the way from one point to another, one
// plane is crossed, and the builder's jump is the change of the interpreter's log r: on
// the plane, and, but for kinks, at any other point that takes its place.
func TestRandomBuilders(t *testing.T) {
	var jumps, kinks tally
	rapid.Check(t, func(t *rapid.T) { checkJumps(t, drawRandom(t, small()), &jumps, &kinks) })
	jumps.check(t, 0.02)
	t.Logf("%d of %d jumps are of kinks", kinks.skipped, kinks.all)
	require.Positive(t, kinks.skipped)
}

func checkJumps(t *rapid.T, r random, jumps, kinks *tally) {
	planes := r.d.Arrangement().Len()
	if planes == 0 {
		return
	}
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 0))
	replaced := make([]bool, r.Dim())
	fixed := make(map[int]float64)
	for i := range replaced {
		if replaced[i] = rng.IntN(2) == 0; !replaced[i] && rng.IntN(3) == 0 {
			fixed[i] = rng.NormFloat64()
		}
	}
	prog, err := r.allJumps(replaced, fixed)
	require.NoError(t, err)
	for _, tape := range []bool{false, true} {
		x, err := r.d.Engine().Executor(prog, 1, graph.Compute{Out: true, Tape: tape})
		require.NoError(t, err)
		from := r.point(rng)
		for _, c := range r.Crossings(from, r.point(rng), 16) {
			l, up, ok := r.crossed(t, from, c)
			if jumps.skip(!ok) || l < 0 {
				continue
			}
			// jump compares at u, with the signs of the region before the crossing.
			jump := func(u []float64, tol float64, what string) {
				at := append([]float64(nil), u...)
				row := 0
				for i := range at {
					x.Z[i] = u[i]
					if replaced[i] {
						x.Points[row], x.Z[i] = u[i], rng.NormFloat64() // must not be read but through Points
						row++
					} else if v, ok := fixed[i]; ok {
						at[i] = v
					}
				}
				r.d.Arrangement().Signs(r.before(from, c)).Floats(x.Signs)
				x.PointSigns[0] = x.Signs[planes-1]
				x.Signs[planes-1] = 1 - x.Signs[planes-1] // must not be read but through PointSigns
				require.NoError(t, x.Run())
				after, before := r.RunAs(at, c.After).LogProb, r.RunAs(at, c.Before).LogProb
				want := after - before
				if !up {
					want = -want
				}
				if !jumps.skip(!finite(want)) {
					require.InDelta(t, want, x.Out[l], tol*(1+math.Abs(after)+math.Abs(before)), "%s, plane %d, tape %v, at %v", what, l, tape, u)
				}
			}
			if len(fixed) == 0 {
				jump(c.At, 1e-9, "on the plane")
			}
			if !kinks.skip(graph.Kinked(r.d, l)) {
				jump(r.point(rng), 1e-11, "elsewhere")
			}
		}
	}
}

// allJumps is the program of the jumps on all planes, with some latents replaced by points
// or numbers, and a point sign for the last plane.
func (r random) allJumps(replaced []bool, fixed map[int]float64) (*graph.Program, error) {
	planes := r.d.Arrangement().Len()
	made, err := derive.Cached(r.d.Engine(), "builder", func() (any, error) {
		v := r.d.Engine().Builder()
		points := make([]ir.ID, len(replaced))
		for i := range points {
			if replaced[i] {
				points[i] = v.Point()
			}
		}
		last := v.PointSign()
		outs := make([]ir.ID, planes)
		for l := range outs {
			outs[l] = v.Jump(l, ir.Substitution{
				Latent: func(i int) (ir.ID, bool) {
					if x, ok := fixed[i]; ok {
						return v.Number(x), true
					}
					return points[i], replaced[i]
				},
				Sign: func(k int) (ir.ID, bool) { return last, k == planes-1 },
			})
		}
		return v.Compile(outs)
	})
	if err != nil {
		return nil, err
	}
	return made.(*graph.Program), nil
}

// before is a point a little before a crossing.
func (r random) before(from []float64, c programs.Crossing) []float64 { return beside(from, c, 1e-7) }

// beside is a crossing's point, moved by so much of the way to from.
func beside(from []float64, c programs.Crossing, by float64) []float64 {
	u := append([]float64(nil), c.At...)
	for i := range u {
		u[i] += by * (from[i] - u[i])
	}
	return u
}

// crossed is the plane that changes its sign where decisions do, and whether it becomes
// positive. It is −1 where none does, as log r does not jump there. It is not ok if
// other decisions change nearby.
func (r random) crossed(t *rapid.T, from []float64, c programs.Crossing) (l int, up, ok bool) {
	before, after := r.before(from, c), beside(from, c, -1e-7)
	if !slices.Equal(r.Run(before).Decisions, c.Before) || !slices.Equal(r.Run(after).Decisions, c.After) {
		return 0, false, false
	}
	a, b := r.d.Arrangement().Signs(before), r.d.Arrangement().Signs(after)
	l = -1
	for k := range r.d.Arrangement().Len() {
		if a.Positive(k) != b.Positive(k) {
			require.Equal(t, -1, l, "one surface is two planes, %v and %v, at %v", r.d.Arrangement().Plane(k), r.d.Arrangement().Plane(max(l, 0)), c.At)
			l, up = k, b.Positive(k)
		}
	}
	if l < 0 {
		plus, minus := r.RunAs(c.At, c.After).LogProb, r.RunAs(c.At, c.Before).LogProb
		require.InDelta(t, plus, minus, 1e-9*(1+math.Abs(plus)), "a jump without a plane at %v", c.At)
	}
	return l, up, true
}
