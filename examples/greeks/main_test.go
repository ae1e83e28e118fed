package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	page := filepath.Join(t.TempDir(), "options.html")
	require.NoError(t, run(context.Background(), &out, 1, 2000, page))
	require.Contains(t, out.String(), "1.9848 ± 0.0000")
	require.Regexp(t, `barrier +50  0\.\d+ ± 0\.\d+ +2\.\d+ ± 0\.\d+\n`, out.String())
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "<td>1.9848 ± 0.0000</td>")
}

// Prices and deltas are those of the quadrature, and that has known values.
func TestExact(t *testing.T) {
	for k, o := range options(12, 50) {
		price, delta := o.quadrature().at(0)
		if k < 3 {
			require.InDelta(t, []float64{0.4601721627, 0.4283308723, 0.4143313594}[k], price, 1e-10, o.name)
			require.InDelta(t, []float64{1.9847627374, 2.3214955347, 2.4353676291}[k], delta, 1e-9, o.name)
		}
		e, err := o.expectation()
		require.NoError(t, err)
		got, err := e.Estimate(context.Background(), 100_000, 3)
		require.NoError(t, err)
		require.InDelta(t, price, got.Value.Value, 4.5*got.Value.SE+1e-10, o.name)
		require.InDelta(t, delta, got.Gradient[0].Value, 4.5*got.Gradient[0].SE+1e-9, o.name)
	}
}

// The other ways have the biases that the quadrature says, and variances that are larger by as much.
func TestWays(t *testing.T) {
	const draws, dates = 200_000, 12
	o := options(dates)[1]
	_, delta := o.quadrature().at(0)
	for _, w := range ways {
		m := w.measure(dates, draws, 0.02, 5)
		require.InDelta(t, delta+m.bias, m.mean, 4.5*math.Sqrt(m.variance/draws), w.name)
		if w.bias != nil {
			require.Greater(t, math.Abs(m.bias), 1e-3, w.name)
		}
	}
	for dates, least := range map[int]float64{12: 40, 50: 100} {
		e, err := options(dates)[1].expectation()
		require.NoError(t, err)
		m, err := ours(context.Background(), e, 20_000, 1)
		require.NoError(t, err)
		require.Greater(t, ways[0].measure(dates, 50_000, 0, 1).variance/m.variance, least)
	}
}
