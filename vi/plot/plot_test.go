package plot

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// fitted is a posterior, not of any data, with latents of every support, and data
// and guards over time.
func fitted(t *testing.T) *vi.Posterior {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Sample("r", graph.Gamma(2, 1))
	m.Sample("p", graph.Beta(1, 1))
	m.Sample("u", graph.Uniform(-1, 3))
	for i, v := range []float64{1, 4, 2, 5} {
		rises := m.Name("rises", graph.Greater(x, float64(i)))
		m.Observe("y", graph.Normal(graph.If(rises, 1, 0), 0.5), v)
		m.Deterministic("level", graph.If(rises, 1, 0))
	}
	far := graph.Greater(x, 1e6) // never
	for i := range 4 {
		if i == 2 {
			m.If(far, func() { m.Observe("gap", graph.Normal(0, 1), 9) }, nil)
		} else {
			m.Observe("gap", graph.Normal(float64(10*i), 1), float64(i))
		}
	}
	m.If(far, func() { m.Observe("never", graph.Normal(0, 1), 0) }, nil)
	d, err := m.Compile()
	require.NoError(t, err)
	return &vi.Posterior{Density: d, Q: family.Independent([]float64{1.5, -0.3, 0.4, 0.9}, []float64{0.8, 0.6, 1.1, 0.7})}
}

// drawn lists what was added to p, by type.
func drawn[T plot.Plotter](p *plot.Plot) []T {
	field := reflect.ValueOf(p).Elem().FieldByName("plotters")
	all := *(*[]plot.Plotter)(unsafe.Pointer(field.UnsafeAddr()))
	var out []T
	for _, x := range all {
		if x, ok := x.(T); ok {
			out = append(out, x)
		}
	}
	return out
}

func legendOf(p *plot.Plot) []string {
	var names []string
	for _, l := range drawn[*legend](p) {
		for _, e := range l.entries {
			names = append(names, e.name)
		}
	}
	return names
}

func columns(xys plotter.XYs) (x, y []float64) {
	for _, p := range xys {
		x, y = append(x, p.X), append(y, p.Y)
	}
	return x, y
}

// trace makes points of steps, means and standard errors.
func trace(points ...[3]float64) []vi.TracePoint {
	out := make([]vi.TracePoint, len(points))
	for i, p := range points {
		out[i] = vi.TracePoint{Step: int(p[0]), ELBO: vi.Estimate{Value: p[1], SE: p[2]}}
	}
	return out
}

func TestELBO(t *testing.T) {
	points := [][3]float64{{1, -1e6, 10}, {10, -500, 5}, {20, -12, 1}, {30, -11, 1}, {40, -10, 0.5}, {50, -10.5, 0.5}}
	p, err := ELBO(trace(points...))
	require.NoError(t, err)
	lines, bands := drawn[*plotter.Line](p), drawn[*plotter.Polygon](p)
	require.Len(t, lines, 1)
	require.Len(t, bands, 1)
	ring := bands[0].XYs[0]
	for i, c := range points {
		require.Equal(t, plotter.XY{X: c[0], Y: c[1]}, lines[0].XYs[i])
		require.Equal(t, plotter.XY{X: c[0], Y: c[1] - 2*c[2]}, ring[i])
		require.Equal(t, plotter.XY{X: c[0], Y: c[1] + 2*c[2]}, ring[len(ring)-1-i])
	}
	// The second half lies in −13 … −9; the climb does not stretch the axis.
	require.InDelta(t, -13-1, p.Y.Min, 1e-12)
	require.InDelta(t, -9+1, p.Y.Max, 1e-12)
	require.Equal(t, []float64{1, 50}, []float64{p.X.Min, p.X.Max})
	require.Equal(t, []string{"estimate", "± 2 standard errors"}, legendOf(p))

	// Nor does one estimate that met a rare region, with an error as large.
	points = nil
	for i := range 40 {
		points = append(points, [3]float64{float64(i), -10, 1})
	}
	points[30] = [3]float64{30, -3e4, 3e4}
	p, err = ELBO(trace(points...))
	require.NoError(t, err)
	require.InDelta(t, -13, p.Y.Min, 1e-12)
	require.InDelta(t, -7, p.Y.Max, 1e-12)

	for _, c := range []struct {
		points [][3]float64
		want   string
	}{
		{nil, "of length 0"},
		{[][3]float64{{1, 2, 3}}, "of length 1"},
		{[][3]float64{{2, 0, 0}, {2, 0, 0}}, "step 2 comes after step 2"},
		{[][3]float64{{1, 0, 0}, {7, math.NaN(), 0}}, "step 7 is NaN"},
		{[][3]float64{{1, 0, 0}, {7, math.Inf(-1), 0}}, "step 7 is -Inf"},
		{[][3]float64{{1, 0, math.Inf(1)}, {7, 0, 0}}, "step 1 is 0"},
		{[][3]float64{{1, 0, -1}, {7, 0, 0}}, "step 1 is 0"},
	} {
		_, err := ELBO(trace(c.points...))
		require.ErrorContains(t, err, c.want)
	}
}

// The densities against their formulas, and their integrals against one.
// The densities are those of the posterior and of the prior, the former with its jumps and no others: of x, normal; of r, whose
// posterior is its prior; and of u, constant but for a jump at 1, where the data are more probable.
func TestMarginals(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Sample("r", graph.Gamma(2, 1))
	u := m.Sample("u", graph.Uniform(-1, 3))
	m.Observe("y", graph.Normal(x, 1), 1)
	m.Observe("z", graph.Normal(graph.If(graph.Greater(u, 1), 0, 1), 1), 0)
	graph.Greater(x, 0.7) // at which nothing jumps
	d, err := m.Compile()
	require.NoError(t, err)
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1})
	require.NoError(t, err)
	high := 1 / (1 + math.Exp(-0.5)) // P(u > 1)
	step := func(x float64) float64 {
		if x > 1 {
			return high / 2
		}
		return (1 - high) / 2
	}
	gamma := distuv.Gamma{Alpha: 2, Beta: 1}.Prob
	want := map[string][2]func(x float64) float64{ // prior, posterior
		"x": {distuv.UnitNormal.Prob, distuv.Normal{Mu: 0.5, Sigma: math.Sqrt(0.5)}.Prob},
		"r": {gamma, gamma},
		"u": {distuv.Uniform{Min: -1, Max: 3}.Prob, step},
	}
	p, err := Marginals(fit)
	require.NoError(t, err)
	lines := drawn[*plotter.Line](p)
	require.Len(t, lines, 6)
	for i, name := range d.Latents() {
		for k, exact := range want[name] {
			line := lines[2*i+k]
			require.Equal(t, palette[i], line.Color)
			require.Equal(t, k == 0, line.Dashes != nil)
			x, y := columns(line.XYs)
			require.Greater(t, len(x), 300)
			for j := range x {
				if name != "u" || x[j] != 1 {
					require.InDelta(t, exact(x[j]), y[j], 0.03, "%s at %v, line %d", name, x[j], k)
				}
			}
			if k == 1 {
				require.InDelta(t, 1, integrate.Trapezoidal(x, y), 0.01, name)
			}
		}
	}
	at, y := columns(lines[5].XYs)
	jump := sort.SearchFloat64s(at, 1)
	require.Equal(t, []float64{1, 1}, at[jump:jump+2])
	require.InDelta(t, (1-high)/2, y[jump], 0.01)
	require.InDelta(t, high/2, y[jump+1], 0.01)
	require.Equal(t, []string{"x", "r", "u", "prior"}, legendOf(p))
	require.Equal(t, 0.0, p.Y.Min)

	p, err = Marginals(fit, "u")
	require.NoError(t, err)
	require.Len(t, drawn[*plotter.Line](p), 2)
	require.Equal(t, "u", p.X.Label.Text)
	require.Equal(t, []string{"posterior", "prior"}, legendOf(p))

	_, err = Marginals(fit, "x", "nobody")
	require.ErrorContains(t, err, `"nobody"`)
}

// A discrete latent has a bar for each value, as high as its posterior probability, whatever the family says.
func TestMarginalsOfMasses(t *testing.T) {
	m := graph.NewModel()
	k := m.Sample("k", graph.Categorical(0.2, 0.3, 0.5))
	m.Observe("y", graph.Normal(k, 1), 1)
	d, err := m.Compile()
	require.NoError(t, err)
	q, err := family.MeanField{}.New(d)
	require.NoError(t, err)
	p, err := Marginals(&vi.Posterior{Density: d, Q: q}, "k")
	require.NoError(t, err)
	lines := drawn[*plotter.Line](p)
	e := math.Exp(-0.5)
	total := 0.2*e + 0.3 + 0.5*e
	for i, want := range [][]float64{{0.2, 0.3, 0.5}, {0.2 * e / total, 0.3 / total, 0.5 * e / total}} {
		_, heights := columns(lines[i].XYs)
		var bars []float64
		for j := 1; j < len(heights); j += 4 {
			bars = append(bars, heights[j])
		}
		require.InDeltaSlice(t, want, bars, 0.02)
	}
	require.Equal(t, "probability", p.Y.Label.Text)
}

// What is missing has bands of another colour and no points; the bands of what was observed end where it begins.
func TestPredictiveMissing(t *testing.T) {
	m := graph.NewModel()
	level := m.Sample("level", graph.Normal(0, 1))
	for _, y := range []float64{0.3, 0.5, math.NaN(), 0.1, math.NaN(), math.NaN()} {
		m.Observe("y", graph.Normal(level, 1), y)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	fit, err := vi.Fit(t.Context(), d, vi.Settings{Seed: 1})
	require.NoError(t, err)
	r, err := fit.Predict(500, 1)
	require.NoError(t, err)
	p, err := Predictive(r, "y", nil)
	require.NoError(t, err)
	dots, lines, bands := drawn[*plotter.Scatter](p), drawn[*plotter.Line](p), drawn[*plotter.Polygon](p)
	require.Len(t, dots, 1)
	require.Equal(t, plotter.XYs{{X: 0, Y: 0.3}, {X: 1, Y: 0.5}, {X: 3, Y: 0.1}}, dots[0].XYs)
	var ends [][2]float64
	for i, l := range lines {
		ends = append(ends, [2]float64{l.XYs[0].X, l.XYs[len(l.XYs)-1].X})
		require.Equal(t, palette[i%2], l.Color)
		require.Equal(t, pale(palette[i%2], 0.18), bands[2*i].Color)
	}
	require.Equal(t, [][2]float64{{-0.5, 1.5}, {1.5, 2.5}, {2.5, 3.5}, {3.5, 5.5}}, ends)
	require.Equal(t, []string{"median", "50 % of draws", "90 % of draws",
		"median, missing", "50 % of draws, missing", "90 % of draws, missing", "observed"}, legendOf(p))
}

func TestPredictive(t *testing.T) {
	fit := fitted(t)
	r, err := fit.Predict(500, 1)
	require.NoError(t, err)
	p, err := Predictive(r, "y", []float64{0, 1, 3, 4})
	require.NoError(t, err)
	bands, lines, dots := drawn[*plotter.Polygon](p), drawn[*plotter.Line](p), drawn[*plotter.Scatter](p)
	require.Len(t, bands, 2)
	require.Len(t, lines, 1)
	require.Len(t, dots, 1)
	require.Equal(t, plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 4}, {X: 3, Y: 2}, {X: 4, Y: 5}}, dots[0].XYs)
	require.Equal(t, []string{"median", "50 % of draws", "90 % of draws", "observed"}, legendOf(p))

	ends := []float64{-0.5, 0.5, 2, 3.5, 4.5}
	quantile := func(prob float64) []float64 {
		q, err := r.Quantile("y", prob)
		require.NoError(t, err)
		return q
	}
	for i := range 4 {
		for k, end := range ends[i : i+2] {
			require.Equal(t, plotter.XY{X: end, Y: quantile(0.5)[i]}, lines[0].XYs[2*i+k])
			for b, probs := range [][2]float64{{0.05, 0.95}, {0.25, 0.75}} {
				ring := bands[b].XYs[0]
				require.Equal(t, plotter.XY{X: end, Y: quantile(probs[0])[i]}, ring[2*i+k])
				require.Equal(t, plotter.XY{X: end, Y: quantile(probs[1])[i]}, ring[len(ring)-1-2*i-k])
			}
		}
	}

	p, err = Predictive(r, "level", nil) // no data
	require.NoError(t, err)
	require.Empty(t, drawn[*plotter.Scatter](p))
	require.Equal(t, []string{"median", "50 % of draws", "90 % of draws"}, legendOf(p))

	p, err = Predictive(r, "gap", nil) // no draw has element 2
	require.NoError(t, err)
	lines = drawn[*plotter.Line](p)
	require.Len(t, lines, 2)
	require.Len(t, lines[0].XYs, 4)
	require.Len(t, lines[1].XYs, 2)
	require.Equal(t, 2.5, lines[1].XYs[0].X)
	require.Len(t, legendOf(p), 4)

	_, err = Predictive(r, "nobody", nil)
	require.ErrorContains(t, err, `"nobody"`)
	_, err = Predictive(r, "never", nil)
	require.ErrorContains(t, err, "no draw reaches any element of never")
	// In any order, and with two elements in one place, of which all draws are one sample.
	p, err = Predictive(r, "y", []float64{4, 0, 4, 1})
	require.NoError(t, err)
	require.Equal(t, plotter.XYs{{X: 0, Y: 4}, {X: 1, Y: 5}, {X: 4, Y: 1}, {X: 4, Y: 2}}, drawn[*plotter.Scatter](p)[0].XYs)
	draws, err := r.Of("y")
	require.NoError(t, err)
	both := append(mat.Col(nil, 0, draws), mat.Col(nil, 2, draws)...)
	slices.Sort(both)
	line := drawn[*plotter.Line](p)[0].XYs
	require.Equal(t, plotter.XY{X: -0.5, Y: quantile(0.5)[1]}, line[0])
	require.Equal(t, plotter.XY{X: 5.5, Y: stat.Quantile(0.5, stat.Empirical, both, nil)}, line[5])

	for _, x := range [][]float64{{1, 2}, {0, 1, 2, math.NaN()}, {0, 1, 2, math.Inf(1)}} {
		_, err = Predictive(r, "y", x)
		require.ErrorContains(t, err, "y: ", "%v", x)
		require.ErrorContains(t, err, "position", "%v", x)
	}
}

func TestGuards(t *testing.T) {
	fit := fitted(t)
	guards := fit.Density.Named("rises")
	p, err := Guards(fit, guards, []float64{1970, 1980, 1990, 2010})
	require.NoError(t, err)
	lines, bands := drawn[*plotter.Line](p), drawn[*plotter.Polygon](p)
	require.Len(t, lines, 1)
	require.Len(t, bands, 1)
	for i := range guards {
		e, err := fit.Prob(guards[i])
		require.NoError(t, err)
		require.Equal(t, e.Value, lines[0].XYs[2*i].Y)
		require.Equal(t, e.Value, lines[0].XYs[2*i+1].Y)
		require.Zero(t, bands[0].XYs[0][2*i].Y)
	}
	require.Equal(t, []float64{0, 1}, []float64{p.Y.Min, p.Y.Max})
	require.Equal(t, []float64{1965, 2020}, []float64{p.X.Min, p.X.Max})

	p, err = Guards(fit, guards, []float64{2, 1, 2, 0}) // the first and the third are in one place
	require.NoError(t, err)
	probs, err := fit.Probs(guards)
	require.NoError(t, err)
	xys := drawn[*plotter.Line](p)[0].XYs
	require.Len(t, xys, 6)
	require.Equal(t, probs[3].Value, xys[0].Y)
	require.InDelta(t, (probs[0].Value+probs[2].Value)/2, xys[5].Y, 1e-12)

	_, err = Guards(fit, nil, nil)
	require.ErrorContains(t, err, "no guards")
	_, err = Guards(fit, guards, []float64{1})
	require.ErrorContains(t, err, "1 positions for 4 elements")
	_, err = Guards(fit, append(guards, fitted(t).Density.Named("rises")[0]), nil)
	require.ErrorContains(t, err, "graph: the guard belongs to another model")
}

// Every picture, as SVG: XML without a NaN, with its words.
func TestSave(t *testing.T) {
	fit := fitted(t)
	r, err := fit.Predict(200, 1)
	require.NoError(t, err)
	dir := t.TempDir()
	for name, make := range map[string]func() (*plot.Plot, error){
		"ELBO (nats)":       func() (*plot.Plot, error) { return ELBO(trace([3]float64{1, -2, 1}, [3]float64{2, -2, 1})) },
		"flat":              func() (*plot.Plot, error) { return ELBO(trace([3]float64{1, -2, 0}, [3]float64{2, -2, 0})) },
		"posterior density": func() (*plot.Plot, error) { return Marginals(fit) },
		"observed":          func() (*plot.Plot, error) { return Predictive(r, "gap", nil) },
		"level":             func() (*plot.Plot, error) { return Predictive(r, "level", nil) },
		"probability":       func() (*plot.Plot, error) { return Guards(fit, fit.Density.Named("rises"), nil) },
	} {
		p, err := make()
		require.NoError(t, err)
		p.Title.Text = name
		file := filepath.Join(dir, "plot.svg")
		require.NoError(t, Save(p, file))
		svg, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotContains(t, string(svg), "NaN")
		require.NotContains(t, string(svg), "Inf")
		words := map[string]bool{}
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			if text, ok := token.(xml.CharData); ok {
				words[strings.TrimSpace(string(text))] = true
			}
		}
		require.True(t, words[name], "%q in %v", name, words)
		for _, l := range legendOf(p) {
			require.True(t, words[l], l)
		}
	}

	p, err := Marginals(fit, "x")
	require.NoError(t, err)
	for ext, magic := range map[string]string{"PNG": "\x89PNG", "pdf": "%PDF", "jpg": "\xff\xd8"} {
		file := filepath.Join(dir, "plot."+ext)
		require.NoError(t, Save(p, file))
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(b, []byte(magic)), ext)
	}
	require.ErrorContains(t, Save(p, filepath.Join(dir, "plot.docx")), "docx")
	require.ErrorIs(t, Save(p, filepath.Join(dir, "no", "plot.svg")), os.ErrNotExist)
}

// Plots that are saved below each other are in one picture of the same width.
func TestStack(t *testing.T) {
	fit := fitted(t)
	p, err := Marginals(fit, "x")
	require.NoError(t, err)
	below, err := Guards(fit, fit.Density.Named("rises"), nil)
	require.NoError(t, err)
	dots, err := Points([]float64{0, 1}, []float64{0.25, 0.75})
	require.NoError(t, err)
	below.Add(dots)
	size := func(below ...*plot.Plot) image.Point {
		file := filepath.Join(t.TempDir(), "plot.png")
		require.NoError(t, Save(p, file, below...))
		f, err := os.Open(file)
		require.NoError(t, err)
		defer f.Close()
		picture, err := png.Decode(f)
		require.NoError(t, err)
		return picture.Bounds().Size()
	}
	one, two := size(), size(below)
	require.Equal(t, one.X, two.X)
	require.InDelta(t, 2*one.Y, two.Y, 1)
	_, err = Points([]float64{1}, nil)
	require.ErrorContains(t, err, "1 values of x and 0 of y")
	_, err = Points([]float64{1}, []float64{math.NaN()})
	require.ErrorContains(t, err, "point 0 is (1, NaN)")
}

// The data ends where the legend begins.
func TestLegendBeside(t *testing.T) {
	fit := fitted(t)
	two, err := Marginals(fit, "x", "r")
	require.NoError(t, err)
	sheet := draw.New(vgsvg.New(Width, Height))
	l := drawn[*legend](two)[0]
	need := l.GlyphBoxes(two)[0].Size().X
	require.Greater(t, need, legendGap+legendSample+legendSpace)
	require.InDelta(t, float64(sheet.Max.X), float64(two.DataCanvas(sheet).Max.X+need), 1e-6)
}

// The components of a vector are drawn by their names, with the jump at a guard on them, and no latents that they are computed from.
func TestMarginalsOfComponents(t *testing.T) {
	m := graph.NewModel()
	x := m.SampleVector("t", graph.Ordered(2, graph.Uniform(0, 1)))
	m.Factor(graph.If(graph.Greater(x[1], 0.5), math.Log(4), 0))
	d, err := m.Compile()
	require.NoError(t, err)
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1})
	require.NoError(t, err)
	all, err := Marginals(fit)
	require.NoError(t, err)
	require.Len(t, drawn[*plotter.Line](all), 4) // t[0] and t[1], each with its prior
	p, err := Small(fit)("t[1]")
	require.NoError(t, err)
	lines := drawn[*plotter.Line](p)
	require.Len(t, lines, 2)
	for k, exact := range []func(x float64) float64{
		func(x float64) float64 { return 2 * x },
		func(x float64) float64 { // 1/4 of the prior is below the guard
			if x > 0.5 {
				return 8 * x / 3.25
			}
			return 2 * x / 3.25
		},
	} {
		xs, ys := columns(lines[k].XYs)
		near := 0
		for i, at := range xs {
			if k == 1 && 0.45 < at && at < 0.55 && at != 0.5 || 0.2 < at && at < 0.4 || 0.6 < at && at < 0.9 {
				require.InDelta(t, exact(at), ys[i], 0.15, "line %d at %v", k, at)
				near++
			}
		}
		require.Greater(t, near, 100)
	}
	_, err = Intervals(fit, "t[0]", "t[1]")
	require.NoError(t, err)
	_, err = Marginals(fit, "t[2]")
	require.ErrorContains(t, err, `no latent "t[2]" in the model`)
}
