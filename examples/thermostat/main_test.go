//go:build long

package main

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	page := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, run(&out, 1, 20, page))
	for _, text := range []string{"start                       16.50   22.00   0\n", "DeGAS", "learned through the ifs"} {
		require.Contains(t, out.String(), text)
	}
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "<h2>Parameters</h2>")
}

// The recursion is a simulation by hand, and its grid is fine enough.
func TestExact(t *testing.T) {
	const n = 400_000
	rng := rand.New(rand.NewPCG(1, 1))
	for _, at := range [][2]float64{{19, 21.5}, {19.75, 20.5}, {20.5, 19.5}} {
		p := exact(at, 0.02)
		require.InDelta(t, p, frequency(at, n, rng), 4.5*math.Sqrt(p/n))
		require.InEpsilon(t, p, exact(at, 0.01), 0.003)
	}
	require.Less(t, exact(degas, 0.02), 1e-9)
	require.InDelta(t, 0.0043, exact(best(0.25), 0.02), 5e-5)
}

// From where DeGAS starts most climbs find thresholds at which the event is four fifths as likely as at the best of the grid, and one of eight seeds another
// maximum of seven tenths; without the boundary part they stay where they are.
func TestLearned(t *testing.T) {
	d, err := program(start)
	require.NoError(t, err)
	most := exact(best(0.25), 0.02)
	likely := 0
	for seed := range uint64(4) {
		fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: seed, Method: vi.Climb{Steps: 3000, Stop: vi.Automatic}})
		require.NoError(t, err)
		at, err := thresholds(fit)
		require.NoError(t, err)
		t.Logf("%.3f: %.5f of at most %.5f", at, exact(at, 0.02), most)
		require.Greater(t, exact(at, 0.02), 0.7*most)
		if exact(at, 0.02) > 0.8*most {
			likely++
		}
	}
	require.GreaterOrEqual(t, likely, 3)
	climb := vi.Climb{Steps: 300, Start: vi.PriorStart(d), Estimator: vi.Reparam{}}
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1, Method: climb})
	require.NoError(t, err)
	at, err := thresholds(fit)
	require.NoError(t, err)
	require.Equal(t, start, at)
}
