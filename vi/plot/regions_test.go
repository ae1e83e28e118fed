package plot

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot/plotter"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// crossed is a posterior of four latents with two slanted guards, one on r and one
// that involves all but r.
func crossed(t *testing.T) *vi.Posterior {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(0, 1))
	r := m.Sample("r", graph.LogNormal(0.2, 0.5))
	w := m.Sample("w", graph.Normal(0, 1))
	sum := m.Name("sum", graph.Greater(graph.Add(x, y), 0.5))
	m.Name("steep", graph.Greater(graph.Sub(x, graph.Mul(2, y)), 0.2))
	m.Name("all", graph.Greater(graph.Sum(x, y, w), 0.1))
	big := graph.Greater(r, 2)
	m.Factor(graph.If(sum, 1, graph.If(big, 2, 0)))
	d, err := m.Compile()
	require.NoError(t, err)
	return &vi.Posterior{Density: d, Q: family.Independent([]float64{0.4, 0.1, 0.2, 0.7}, []float64{0.5, 0.6, 0.4, 0.3})}
}

func sliceOf(t *testing.T, fit *vi.Posterior, x, y string) *slice {
	i, ok := fit.Density.Latent(x)
	require.True(t, ok)
	j, ok := fit.Density.Latent(y)
	require.True(t, ok)
	s, err := newSlice(fit, i, j)
	require.NoError(t, err)
	return s
}

func area(polygon plotter.XYs) (sum float64) {
	for k, p := range polygon {
		q := polygon[(k+1)%len(polygon)]
		sum += (p.X*q.Y - q.X*p.Y) / 2
	}
	return sum
}

func centre(polygon plotter.XYs) (p plotter.XY) {
	for _, q := range polygon {
		p.X += q.X / float64(len(polygon))
		p.Y += q.Y / float64(len(polygon))
	}
	return p
}

// The regions tile the window; inside each, all signs are the same, and their
// tint tells neighbours apart.
func TestRegionCells(t *testing.T) {
	fit := crossed(t)
	s := sliceOf(t, fit, "x", "y")
	lines := s.lines()
	require.Len(t, lines, 3)
	cells, odd := s.cells(lines)
	require.Len(t, cells, 6, "three lines of which two are parallel")
	total := 0.0
	signs := map[[3]bool]bool{}
	for k, cell := range cells {
		total += area(cell)
		var at [3]bool
		parity := false
		for i, l := range lines {
			at[i] = l.at(centre(cell)) > 0
			parity = parity != at[i]
			for _, p := range cell {
				if v := l.at(p); math.Abs(v) > 1e-9 {
					require.Equal(t, at[i], v > 0)
				}
			}
		}
		require.False(t, signs[at])
		signs[at] = true
		require.Equal(t, parity, odd[k])
		c := centre(cell)
		region := fit.Density.Arrangement().Signs([]float64{c.X, c.Y, fit.Q.Mean(2), fit.Q.Mean(3)})
		for i, l := range lines {
			require.Equal(t, region.Positive(l.plane), at[i])
		}
	}
	require.InDelta(t, area(s.corners()), total, 1e-9)
}

// The model's density along the slice, with the jump at r = 2, and contours that
// hold what they say.
func TestRegionContours(t *testing.T) {
	fit := crossed(t)
	s := sliceOf(t, fit, "r", "y")
	f, err := s.model(sliceNodes)
	require.NoError(t, err)
	logDensity := func(u, y float64) float64 {
		v := distuv.Normal{Mu: 0.2, Sigma: 0.5}.LogProb(u) + distuv.UnitNormal.LogProb(y)
		switch {
		case 0.4+y > 0.5:
			v++
		case u > math.Log(2):
			v += 2
		}
		return v
	}
	cols := len(f.u)
	k := len(f.log) / 2
	shift := f.log[k] - logDensity(f.u[k%cols], f.v[k/cols])
	highest := slices.Max(f.log)
	mass, held := 0.0, make([]float64, len(shares))
	levels := f.levels()
	for k, got := range f.log {
		c, r := k%cols, k/cols
		want := max(logDensity(f.u[c], f.v[r])+shift, highest-20)
		require.InDelta(t, want, got, 1e-9)
		if c > 0 && r > 0 {
			w := math.Exp(want-highest) * (f.u[c] - f.u[c-1]) * (f.v[r] - f.v[r-1])
			mass += w
			for i, level := range levels {
				if want >= level {
					held[i] += w
				}
			}
		}
	}
	for i, share := range shares {
		require.InDelta(t, share, held[i]/mass, 0.01)
	}
}

// Contours of a normal are the fit's ellipses, of one line each.
func TestContourOfANormal(t *testing.T) {
	m := graph.NewModel()
	m.Sample("x", graph.Normal(1, 2))
	m.Sample("y", graph.Normal(-1, 0.3))
	d, err := m.Compile()
	require.NoError(t, err)
	fit := &vi.Posterior{Density: d, Q: family.Independent([]float64{1, -1}, []float64{2, 0.3})}
	s := sliceOf(t, fit, "x", "y")
	f, err := s.model(sliceNodes)
	require.NoError(t, err)
	for i, level := range f.levels() {
		lines := f.contour(level)
		require.Len(t, lines, 1)
		line := lines[0]
		require.Equal(t, line[0], line[len(line)-1], "a loop")
		want := math.Sqrt(-2 * math.Log(1-shares[i]))
		for _, points := range []plotter.XYs{line, s.fitted(shares[i])} {
			around := 0.0
			for k, p := range points {
				x, y := (p.X-1)/2, (p.Y+1)/0.3
				require.InDelta(t, want, math.Hypot(x, y), 0.01)
				if k > 0 {
					turn := math.Atan2(y, x) - math.Atan2((points[k-1].Y+1)/0.3, (points[k-1].X-1)/2)
					around += math.Remainder(turn, 2*math.Pi)
				}
			}
			require.InDelta(t, 2*math.Pi, math.Abs(around), 1e-9, "once around")
		}
	}
}

// Two peaks: two loops, one loop, and lines that end at the rim; a saddle in one
// cell.
func TestContourJoins(t *testing.T) {
	f := &field{u: []float64{0, 1, 2, 3, 4}, v: []float64{0, 1, 2}, log: []float64{
		0, 0, 0, 0, 0,
		0, 4, 2, 4, 0,
		0, 0, 0, 0, 0,
	}}
	require.Len(t, f.contour(3), 2)
	require.Len(t, f.contour(1), 1)
	require.Empty(t, f.contour(5))
	f = &field{u: []float64{0, 1, 2}, v: []float64{0, 1}, log: []float64{0, 2, 2, 0, 2, 2}}
	require.Equal(t, []plotter.XYs{{{X: 0.5, Y: 0}, {X: 0.5, Y: 1}}}, f.contour(1))
	for _, low := range []float64{0, -3} { // the centre is above the level, or below
		f = &field{u: []float64{0, 1}, v: []float64{0, 1}, log: []float64{1, low, low, 1}}
		lines := f.contour(0.4)
		require.Len(t, lines, 2)
		for _, line := range lines {
			right, top := line[0].X+line[1].X > 1, line[0].Y+line[1].Y > 1
			require.Equal(t, low == 0, right != top, "it cuts off a low corner or a high one: %v", line)
		}
	}
}

// The window holds the 99 % contour of a posterior that is much wider than the
// fit, on one side.
func TestRegionsWindow(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Sample("y", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(x, 0), 1, 0))
	d, err := m.Compile()
	require.NoError(t, err)
	fit := &vi.Posterior{Density: d, Q: family.Independent([]float64{-0.5, 0}, []float64{0.1, 1})}
	s := sliceOf(t, fit, "x", "y")
	require.Greater(t, s.window[0][1], 2.6)
	require.Less(t, s.window[0][0], -2.3)
	require.Less(t, s.window[0][1], 6.)
	require.InDelta(t, 4, s.window[1][1], 1e-9, "wide enough before")
}

func TestRegions(t *testing.T) {
	fit := crossed(t)
	p, err := Regions(fit, "x", "r")
	require.NoError(t, err)
	require.Equal(t, "slice at y = 0.1, w = 0.7", p.Title.Text)
	require.Equal(t, "x", p.X.Label.Text)
	require.Equal(t, "r", p.Y.Label.Text)
	require.Equal(t, []string{
		"posterior: 50, 90, 99 %", "fit: 50, 90, 99 %", "draws of the fit", "sum", "steep", "all", "r > 2",
	}, legendOf(p))
	lines := drawn[*plotter.Line](p)
	lines = lines[len(lines)-4:]
	for k, at := range []float64{0.4, 0.4, -0.7} {
		require.InDelta(t, at, lines[k].XYs[0].X, 1e-9, "where y and w are fixed")
		require.InDelta(t, at, lines[k].XYs[1].X, 1e-9)
	}
	require.InDelta(t, 2, lines[3].XYs[0].Y, 1e-9)
	require.Positive(t, p.Y.Min)
	dots := drawn[*plotter.Scatter](p)[0].XYs
	require.Greater(t, len(dots), 280)
	for _, at := range dots {
		require.True(t, at.X > p.X.Min && at.X < p.X.Max && at.Y > p.Y.Min && at.Y < p.Y.Max)
	}
	file := filepath.Join(t.TempDir(), "regions.png")
	require.NoError(t, Save(p, file))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(10_000))

	for _, names := range [][2]string{{"x", "nobody"}, {"nobody", "x"}} {
		_, err = Regions(fit, names[0], names[1])
		require.ErrorContains(t, err, `no latent "nobody"`)
	}
	_, err = Regions(fit, "x", "x")
	require.ErrorContains(t, err, "two latents")
}

// Two latents alone are no slice, and many hyperplanes are counted.
func TestRegionsOfTwo(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Sample("y", graph.Normal(0, 1))
	for i := range 5 {
		m.Factor(graph.If(graph.Greater(x, float64(i)/3), 0.3, 0))
	}
	d, err := m.Compile()
	require.NoError(t, err)
	fit := &vi.Posterior{Density: d, Q: family.Independent([]float64{0.4, 0}, []float64{1, 1})}
	p, err := Regions(fit, "x", "y")
	require.NoError(t, err)
	require.Empty(t, p.Title.Text)
	require.Contains(t, legendOf(p), "5 hyperplanes")
	require.Len(t, drawn[*plotter.Polygon](p), 6)
}

// A guard that compares the logarithm of a latent is curved on the latent's own
// scale; so are the regions on both sides of it.
func TestRegionsBend(t *testing.T) {
	m := graph.NewModel()
	r := m.Sample("r", graph.LogNormal(0, 1))
	y := m.Sample("y", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(graph.Log(r), graph.Mul(0.5, y)), 1, 0))
	d, err := m.Compile()
	require.NoError(t, err)
	fit := &vi.Posterior{Density: d, Q: family.Independent([]float64{0.2, 0.1}, []float64{0.7, 1})}
	p, err := Regions(fit, "r", "y")
	require.NoError(t, err)
	lines := drawn[*plotter.Line](p)
	curve := lines[len(lines)-1].XYs
	require.Greater(t, len(curve), 50)
	for _, at := range curve {
		require.InDelta(t, 0.5*at.Y, math.Log(at.X), 1e-9)
	}
	cells := drawn[*plotter.Polygon](p)
	require.Len(t, cells, 2)
	for _, cell := range cells {
		on := 0
		for _, at := range cell.XYs[0] {
			if math.Abs(math.Log(at.X)-0.5*at.Y) < 1e-9 {
				on++
			}
		}
		require.Greater(t, on, 50)
	}
}

func TestRegionsNotFinite(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Sample("y", graph.Normal(0, 1))
	m.Factor(graph.Log(graph.Sub(x, 1e9)))
	d, err := m.Compile()
	require.NoError(t, err)
	fit := &vi.Posterior{Density: d, Q: family.Independent([]float64{0, 0}, []float64{1, 1})}
	_, err = Regions(fit, "x", "y")
	require.ErrorContains(t, err, "nowhere finite")
}

// A latent whose posterior is at its bound, in part or wholly.
func TestRegionsAtABound(t *testing.T) {
	m := graph.NewModel()
	m.Sample("u", graph.Uniform(-1, 3))
	m.Sample("y", graph.Normal(0, 1))
	d, err := m.Compile()
	require.NoError(t, err)
	for _, c := range []struct{ mu, sd float64 }{{30, 4}, {5000, 1}} {
		fit := &vi.Posterior{Density: d, Q: family.Independent([]float64{c.mu, 0}, []float64{c.sd, 1})}
		p, err := Regions(fit, "u", "y")
		if c.mu == 5000 {
			require.ErrorContains(t, err, "at a bound")
			continue
		}
		require.NoError(t, err)
		require.NoError(t, Save(p, filepath.Join(t.TempDir(), "bound.svg")))
	}
}
