package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
)

// An element of a page is well-formed, scales, is clear, and says what it is, whatever its names have in them.
func TestSVG(t *testing.T) {
	p, err := Marginals(fitted(t), "x")
	require.NoError(t, err)
	p.X.Label.Text = `<script>alert("α & β")</script>`
	var b bytes.Buffer
	require.NoError(t, SVG(&b, p, 300, 200, `the density of "<x>"`))
	assert.True(t, strings.HasPrefix(b.String(), `<svg role="img" aria-label="the density of &#34;&lt;x&gt;&#34;" viewBox="0 0 300 200">`), b.String()[:100])
	assert.NotContains(t, b.String(), "<script")
	assert.NotContains(t, b.String(), "#FFFFFF")
	assert.NotNil(t, p.BackgroundColor, "the plot stays what it was")
	d := xml.NewDecoder(&b)
	for err == nil {
		_, err = d.Token()
	}
	require.ErrorIs(t, err, io.EOF)
	require.ErrorContains(t, SVG(full{}, p, 300, 200, ""), "plot: disk full")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// A small picture is that of Marginals without its legend.
func TestSmall(t *testing.T) {
	fit := fitted(t)
	small := Small(fit)
	for _, name := range []string{"x", "r"} {
		p, err := small(name)
		require.NoError(t, err)
		q, err := Marginals(fit, name)
		require.NoError(t, err)
		assert.Empty(t, legendOf(p))
		assert.Equal(t, []string{"posterior", "prior"}, legendOf(q))
		assert.Equal(t, [4]float64{q.X.Min, q.X.Max, q.Y.Min, q.Y.Max}, [4]float64{p.X.Min, p.X.Max, p.Y.Min, p.Y.Max})
	}
	_, err := small("nobody")
	require.ErrorContains(t, err, `no latent "nobody"`)
}

// The bands of many latents are their quantiles, and the prior is cut to the figure.
func TestIntervals(t *testing.T) {
	fit := fitted(t)
	p, err := Intervals(fit, "x", "r", "u")
	require.NoError(t, err)
	assert.Equal(t, []string{"prior, 90 %", "90 %", "50 %", "median"}, legendOf(p))
	bands := drawn[*plotter.Polygon](p)
	require.Len(t, bands, 3)
	median := drawn[*plotter.Line](p)[0].XYs
	for k, name := range []string{"x", "r", "u"} {
		for b, prob := range map[int]float64{1: 0.05, 2: 0.25} {
			want, err := fit.Quantile(name, prob)
			require.NoError(t, err)
			assert.Equal(t, plotter.XY{X: float64(k) - 0.5, Y: want.Value}, bands[b].XYs[0][2*k])
		}
		want, err := fit.Quantile(name, 0.5)
		require.NoError(t, err)
		assert.Equal(t, want.Value, median[2*k].Y)
	}
	for _, xy := range bands[0].XYs[0] {
		assert.GreaterOrEqual(t, xy.Y, p.Y.Min)
		assert.LessOrEqual(t, xy.Y, p.Y.Max)
	}
	_, err = Intervals(fit)
	require.ErrorContains(t, err, "no latents")
	_, err = Intervals(fit, "nobody")
	require.ErrorContains(t, err, `no latent "nobody"`)
}
