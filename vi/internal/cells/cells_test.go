package cells

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

func found(t *testing.T, d *graph.Density, s Settings) *Search {
	rng := parallel.NewRand(1)
	for range 20 {
		s.Points = append(s.Points, d.PriorDraw(nil, rng))
	}
	s.Most = 1000
	f, err := Find(context.Background(), d, s)
	require.NoError(t, err)
	return f
}

// evidence is that of change, by conjugacy in each interval.
func evidence(ys []float64) (logs []float64) {
	part := func(ys []float64) float64 { // ∫ Π N(y; m, 1)·N(m; 0, 9) dm
		sum, squares, n := 0.0, 0.0, float64(len(ys))
		for _, y := range ys {
			sum += y
			squares += y * y
		}
		v := 1 / (n + 1.0/9)
		return 0.5 * (math.Log(v/9) - n*math.Log(2*math.Pi) - squares + sum*sum*v)
	}
	for k := range len(ys) + 1 {
		logs = append(logs, part(ys[:k])+part(ys[k:])-math.Log(12))
	}
	return logs
}

// The cells of a change point are its intervals, with their evidences.
func TestCellsAreIntervals(t *testing.T) {
	d := vitest.Change(t)
	f := found(t, d, Settings{Seed: 2})
	require.Len(t, f.Cells, 12)
	require.Equal(t, 12, f.Tried)
	kept, left, err := f.Finish(context.Background(), Finish{})
	require.NoError(t, err)
	require.Less(t, left, 2e-3)
	exact := evidence(d.Data())
	total := 0.0
	for _, c := range kept {
		i := int(math.Floor(d.Coordinate(0).Value(c.center[0])))
		require.InDelta(t, exact[i], c.LogEvidence.Value, 4*c.LogEvidence.SE+1e-3, "interval %d", i)
		require.Less(t, c.LogEvidence.SE, 0.05)
		require.LessOrEqual(t, c.ELBO.Value, exact[i]+4*c.ELBO.SE+1e-9)
		total += math.Exp(c.LogEvidence.Value)
	}
	all := 0.0
	for _, x := range exact {
		all += math.Exp(x)
	}
	require.InDelta(t, math.Log(all), math.Log(total), 0.02)
	require.Equal(t, "when in (6, 7)", f.Where(kept)[0])
}

// With the switch summed out there is one cell, and the same evidence.
func TestSummedEvidence(t *testing.T) {
	d := vitest.Change(t)
	switches := d.Engine().Switches()
	require.Len(t, switches, 1)
	f := found(t, d, Settings{Seed: 1, Switches: switches})
	require.Len(t, f.Cells, 1)
	kept, _, err := f.Finish(context.Background(), Finish{})
	require.NoError(t, err)
	all := 0.0
	for _, x := range evidence(d.Data()) {
		all += math.Exp(x)
	}
	require.InDelta(t, math.Log(all), kept[0].LogEvidence.Value, 4*kept[0].LogEvidence.SE)
	require.Less(t, kept[0].LogEvidence.SE, 0.05)
}

// When its context is done, a search has the cells that it has found, and Finish those that are kept, each as the search
// has found it, beside the context's error.
func TestStopped(t *testing.T) {
	d := vitest.Change(t)
	ctx, stop := context.WithCancel(context.Background())
	rng := parallel.NewRand(1)
	var points [][]float64
	for range 20 {
		points = append(points, d.PriorDraw(nil, rng))
	}
	f, err := Find(ctx, d, Settings{Points: points, Most: 1000, Progress: func(int, int) { stop() }})
	require.ErrorIs(t, err, context.Canceled)
	require.NotEmpty(t, f.Cells)
	require.Equal(t, f.Tried, len(f.Cells))
	logs := map[*Cell]mc.Estimate{}
	for _, c := range f.Cells {
		logs[c] = c.LogEvidence
	}
	kept, _, err := f.Finish(ctx, Finish{})
	require.ErrorIs(t, err, context.Canceled)
	require.NotEmpty(t, kept)
	for _, c := range kept {
		require.Equal(t, logs[c], c.LogEvidence)
	}
	q, err := refine(ctx, d, f.finders[0].x, newShape(kept[0].Q, nil), kept[0].Q, nil, rng)
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, q)
}

// A mixture of normals near draws of a posterior with two modes has both.
func TestOfDraws(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 2))
	y := m.Sample("y", graph.Normal(0, 2))
	m.Observe("square", graph.Normal(graph.Mul(x, x), 0.5), 4)
	m.Observe("line", graph.Normal(graph.Sub(y, x), 0.3), 0)
	d, err := m.Compile()
	require.NoError(t, err)
	rng := parallel.NewRand(2)
	var draws [][]float64
	for range 1000 {
		x := 2 + 0.12*rng.NormFloat64()
		if rng.Float64() < 0.5 {
			x = -x
		}
		draws = append(draws, []float64{x, x + 0.3*rng.NormFloat64()})
	}
	q, err := OfDraws(context.Background(), d, draws, 1)
	require.NoError(t, err)
	require.GreaterOrEqual(t, mixed(t, q).Len(), 2)
	require.InDelta(t, 0.5, family.Marginal(q, 0).Above(0), 0.06)
}

// Where all latents are switches that do not meet, the fit is exact.
func TestNothingButSwitches(t *testing.T) {
	m := graph.NewModel()
	for i, y := range []float64{0.3, 1.2} {
		x := m.Sample("x"+string(rune('a'+i)), graph.Normal(0, 1))
		m.Observe("y", graph.Normal(graph.If(graph.Greater(x, 0.5), 1, 0), 0.5), y)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	f := found(t, d, Settings{Seed: 1, Switches: d.Engine().Switches()})
	require.Len(t, f.Cells, 1)
	above, want := distuv.UnitNormal.Survival(0.5), 0.0
	for _, y := range []float64{0.3, 1.2} {
		want += math.Log(above*distuv.Normal{Mu: 1, Sigma: 0.5}.Prob(y) + (1-above)*distuv.Normal{Mu: 0, Sigma: 0.5}.Prob(y))
	}
	require.InDelta(t, want, f.Cells[0].ELBO.Value, 1e-9)
	require.InDelta(t, want, f.Cells[0].LogEvidence.Value, 1e-9)
	require.Less(t, f.Cells[0].ELBO.SE, 1e-9)
}

// Cells of components of vectors are described by these.
func TestWhereOfComponents(t *testing.T) {
	m := graph.NewModel()
	at := m.SampleVector("at", graph.Ordered(4, graph.Uniform(0, 12)))
	for i := range 11 {
		level := graph.Mul(0, at[0])
		for k := range at {
			level = graph.If(graph.Less(float64(i)+0.5, at[k]), float64(k), level)
		}
		m.Observe("y", graph.Normal(level, 1), float64(i))
	}
	d, err := m.Compile()
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	z := d.PriorDraw(nil, rng)
	for v := d.ComponentsAt(z); v[0] < 0.5 || v[3] > 10.5; v = d.ComponentsAt(z) {
		z = d.PriorDraw(z, rng)
	}
	list, _ := Regions(d, []regions.Signs{d.Arrangement().Signs(z)})
	values := d.ComponentsAt(z)
	for k, x := range values {
		require.Contains(t, list[0], fmt.Sprintf("at[%d] in (%.6g, %.6g)", k, math.Floor(x-0.5)+0.5, math.Floor(x-0.5)+1.5))
	}
	require.NotContains(t, list[0], "least")
}

// Guards are counted as the program counts the latents that they compare, or else as their
// names do; long comparisons go by the guard's name or place; and no two cells read the same.
func TestWhere(t *testing.T) {
	m := graph.NewModel()
	var sum graph.Expr
	var hidden graph.Guard
	for i := range 6 {
		x := m.Sample(fmt.Sprintf("noise%d-of", 2*i+3), graph.Normal(0, 1))
		sum = graph.Add(sum, x)
		if i == 0 {
			hidden = graph.Greater(x, 0.5)
			m.Observe("y", graph.Normal(graph.If(hidden, 3, 0), 1), 1.5)
			continue
		}
		m.Observe("y", graph.Normal(graph.If(m.Name("on", graph.Greater(x, 0.1)), 2, 0), 1), 1)
		m.Name("pair", graph.Greater(x, sum))
	}
	m.Observe("y", graph.Normal(graph.If(graph.Less(sum, 1), 4, 0), 1), 2)
	d, err := m.Compile()
	require.NoError(t, err)
	f := &Search{d: d, lines: newLines(d.Arrangement())}
	w := newDescriber(f)
	require.Equal(t, []string{"noise5-of", "noise7-of", "noise9-of", "noise11-of", "noise13-of"}, w.label["on"])
	require.Equal(t, indices(5), w.label["pair"])
	cell := func(z ...float64) *Cell { // the region around z
		c := &Cell{area: area{region: d.Arrangement().Signs(z)}}
		for k := range f.lines.group {
			i := f.lines.interval(k, c.region)
			c.span = append(c.span, span{i, i})
		}
		return c
	}
	list := f.Where([]*Cell{cell(0.1, 1, 1, 1, 0, 1), cell(0.6, 1, 1, 1, 0, 1), cell(0, 0, 0, 0, 0, 0), cell(0, 0, 0, 0, 0, 0)})
	require.True(t, strings.HasPrefix(list[0], "on: noise5–9-of, noise13-of; pair: "), list[0])
	require.Contains(t, list[0], "; noise3-of < 0.5; not the guard at cells_test.go:")
	require.Contains(t, list[1], "; noise3-of > 0.5; not the guard at cells_test.go:")
	require.NotEqual(t, list[2], list[3])
	require.Contains(t, list[3], " (cell 4)")

	whole := cell(0, 1, 1, 1, 0, 1)
	for k := range whole.span {
		whole.span[k] = span{0, len(f.lines.group[k])}
	}
	require.Equal(t, []string{"everywhere"}, f.Where([]*Cell{whole}))
	require.Equal(t, "[1–3], [5]", ranges(indices(6), []bool{false, true, true, true, false, true}))
	require.Equal(t, "never", ranges(indices(2), []bool{false, false}))
}

// When the budget is over few of many cells are kept, and how much the others had is told: what is done with each takes time.
func TestManyCellsAndNoTime(t *testing.T) {
	m := graph.NewModel()
	for i := range 9 {
		z := m.Sample(fmt.Sprint("z", i), graph.Normal(0, 1))
		m.Observe("y", graph.Normal(graph.If(graph.Greater(z, 0), graph.Mul(2, z), graph.Add(graph.Mul(-2, z), 0.1)), 0.3), 2)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	over := false
	f := found(t, d, Settings{Seed: 1, Over: func() bool { return over }})
	all := f.total()
	require.Greater(t, len(f.Cells), mostUnjudged)
	over = true
	kept, left, err := f.Finish(context.Background(), Finish{})
	require.NoError(t, err)
	require.Len(t, kept, mostUnjudged)
	mass := 0.0
	for _, c := range kept {
		mass += math.Exp(c.LogEvidence.Value - all)
	}
	require.InDelta(t, 1, mass+left, 1e-3)
	require.Greater(t, left, 0.1)
}
