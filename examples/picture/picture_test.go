package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// sketch is a picture with one of everything.
func sketch(t *testing.T) *Picture {
	p := New("title", "x", "y")
	low, high := Points([]float64{0, 1, 2}, []float64{0, 1, 0}), Points([]float64{0, 1, 2}, []float64{2, 3, 2})
	require.NoError(t, errors.Join(
		p.Band("a band with a long name that fills the row", low, high, Blue),
		p.Line("a line with a long name as well", low, Vermilion),
		p.Dashed("a dashed line, which needs the next row", high, Orange),
		p.Bars("bars", low, high, SkyBlue),
		p.Points("points", plotter.XYs{{X: 1, Y: 2}}, Black),
		p.Points("", plotter.XYs{{X: 1, Y: 1}}, Grey),
	))
	p.X.Tick.Marker = Every(1, 0, 2)
	return p
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.png", "a.svg", "a.pdf", "a.PNG"} {
		require.NoError(t, Check(name))
		file := filepath.Join(dir, name)
		require.NoError(t, sketch(t).Save(file))
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		switch filepath.Ext(name) {
		case ".png", ".PNG":
			_, err = png.Decode(bytes.NewReader(data))
			require.NoError(t, err)
		case ".svg":
			d := xml.NewDecoder(bytes.NewReader(data))
			for err == nil {
				_, err = d.Token()
			}
			require.ErrorIs(t, err, io.EOF)
		case ".pdf":
			assert.True(t, bytes.HasPrefix(data, []byte("%PDF-")))
		}
	}
	require.Error(t, sketch(t).Save(filepath.Join(dir, "none", "a.png")))
	for _, name := range []string{"a.doc", "a", "png"} {
		assert.ErrorContains(t, Check(name), ".png, .svg or .pdf", name)
		require.Error(t, sketch(t).Save(filepath.Join(dir, name)))
	}
	require.NoError(t, Check(""))
}

// The legend has a row more when it does not fit, and an entry for each name.
func TestLegend(t *testing.T) {
	p := sketch(t)
	rows := p.rows(width - 2*margin)
	assert.Len(t, rows, 2)
	assert.Equal(t, 5, len(rows[0])+len(rows[1]))
}

func TestOffer(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Offer(&out, "some", "", nil))
	assert.Equal(t, "For the picture: go run ./examples/some -plot some.png\n", out.String())

	out.Reset()
	file := filepath.Join(t.TempDir(), "a.svg")
	require.NoError(t, Offer(&out, "some", file, func() (*Picture, error) { return sketch(t), nil }))
	assert.Equal(t, "The picture is in "+file+"\n", out.String())
	assert.FileExists(t, file)

	broken := errors.New("no data")
	require.ErrorIs(t, Offer(&out, "some", file, func() (*Picture, error) { return nil, broken }), broken)
}

func TestInterval(t *testing.T) {
	var v []float64
	for i := range 101 {
		v = append(v, float64((i*37)%101)) // 0 to 100, shuffled
	}
	mean, low, high := Interval(v)
	assert.InDelta(t, 50, mean, 1e-12)
	assert.Equal(t, []float64{5, 95}, []float64{low, high})
	c := CurveOf([]float64{1, 2}, len(v), func(k int, x float64) float64 { return v[k] * x })
	assert.InDelta(t, 100, c.Mean[1].Y, 1e-12)
	assert.Equal(t, plotter.XY{X: 2, Y: 190}, c.High[1])
	assert.Equal(t, plotter.XY{X: 1, Y: 5}, c.Low[0])
}

func TestEvery(t *testing.T) {
	var at []string
	for _, tick := range Every(20, 1871, 1920) {
		at = append(at, tick.Label)
	}
	assert.Equal(t, []string{"1880", "1900", "1920"}, at)
}

// The bars of probabilities have an axis of their own, on the right: to the left of it is less room than without.
func TestChances(t *testing.T) {
	p := New("", "x", "y")
	sheet := draw.New(vgsvg.New(width, height))
	require.NoError(t, p.Line("", plotter.XYs{{X: 0.5, Y: 0}, {X: 3.5, Y: 6}}, Black))
	before := p.DataCanvas(sheet).Max.X
	require.NoError(t, p.Chances("chance", []float64{1, 2, 3}, []float64{0.1, 0.24, 0.05}, 0, 6, Orange))
	require.Less(t, p.DataCanvas(sheet).Max.X, before-2*tick)
	var labels []string
	for _, t := range (scale{0, 6, 0.24}).ticks() {
		labels = append(labels, t.Label)
	}
	require.Equal(t, []string{"0.0", "0.1", "0.2"}, labels)
}
