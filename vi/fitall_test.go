package vi

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

// shifts are data sets of a model with a level shift: the key says at which of eight times.
func shifts(t testing.TB) (d *graph.Density, sets iter.Seq2[string, map[string][]float64]) {
	t.Helper()
	const n = 8
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, n))
	low, high := m.Sample("low", graph.Normal(0, 3)), m.Sample("high", graph.Normal(0, 3))
	for i := range n {
		m.Observe("y", graph.Normal(graph.If(graph.Less(when, float64(i)+0.5), high, low), 1), 0)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	return d, func(yield func(string, map[string][]float64) bool) {
		for at := range n + 1 {
			ys := make([]float64, n)
			for i := range ys {
				ys[i] = math.Sin(float64(7*i + at))
				if i >= at {
					ys[i] += 4
				}
			}
			data := map[string][]float64{"y": ys}
			if at == 3 {
				data = map[string][]float64{"y": {1}} // too few
			}
			if !yield(fmt.Sprintf("shift/%d", at), data) {
				return
			}
		}
		yield("shift/1", nil)
	}
}

// Every data set has its fit, that of Fit, in the order of the sets, whatever GOMAXPROCS is;
// what is wrong with one is its own error.
func TestFitAll(t *testing.T) {
	d, sets := shifts(t)
	s := Settings{Seed: *seed}
	var first []float64
	for _, p := range []int{1, 3} {
		before := runtime.GOMAXPROCS(p)
		var progress bytes.Buffer
		s.Progress = &progress
		k := 0
		var evidence []float64
		for f := range FitAll(context.Background(), d, sets, s) {
			switch k {
			case 3:
				require.ErrorContains(t, f.Err, `vi: "shift/3": graph:`)
				require.Nil(t, f.Fit)
			case 9:
				require.ErrorContains(t, f.Err, `vi: "shift/1": the key was there before`)
			default:
				require.NoError(t, f.Err)
				require.Equal(t, fmt.Sprintf("shift/%d", k), f.Key)
				when, err := f.Fit.Quantile("when", 0.5)
				require.NoError(t, err)
				if k > 0 && k < 8 {
					require.InDelta(t, float64(k), when, 1)
				}
				e, err := f.Fit.LogEvidence()
				require.NoError(t, err)
				evidence = append(evidence, e.Mean)
				if k == 5 {
					alone, err := Fit(context.Background(), f.Fit.Density, Settings{Seed: SeedOf(*seed, f.Key)})
					require.NoError(t, err)
					requireSameCells(t, alone, f.Fit)
				}
			}
			k++
		}
		runtime.GOMAXPROCS(before)
		require.Equal(t, 10, k)
		require.Contains(t, progress.String(), "1 data sets done, 0 of them with errors")
		if first == nil {
			first = evidence
		}
		require.Equal(t, first, evidence)
	}
}

// What is done is not done again, and what had begun goes on.
func TestFitAllFromFolder(t *testing.T) {
	d, sets := shifts(t)
	folder := filepath.Join(t.TempDir(), "fits")
	s := Settings{Seed: *seed, Checkpoint: folder}
	var want []*Posterior
	for f := range FitAll(context.Background(), d, sets, Settings{Seed: *seed}) {
		if f.Err == nil {
			want = append(want, f.Fit)
		}
	}
	k := 0
	for f := range FitAll(context.Background(), d, sets, s) {
		require.NoError(t, f.Err)
		if k++; k == 2 {
			break
		}
	}
	file := filepath.Join(folder, "shift%2F0.fit")
	before, err := os.Stat(file)
	require.NoError(t, err)
	for f := range FitAll(context.Background(), d, sets, s) {
		if f.Err == nil {
			requireSameCells(t, want[0], f.Fit)
			want = want[1:]
		}
	}
	require.Empty(t, want)
	after, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime())

	require.NoError(t, os.WriteFile(file, []byte("broken"), 0o666))
	for f := range FitAll(context.Background(), d, sets, s) {
		require.ErrorContains(t, f.Err, "shift%2F0.fit")
		break
	}
	s.Seed++
	k = 0
	for f := range FitAll(context.Background(), d, sets, s) {
		if k++; k == 2 {
			require.ErrorContains(t, f.Err, "another seed")
			break
		}
	}
}

// A cancelled context ends it, with an error for what had begun, also of sets without end.
func TestFitAllStops(t *testing.T) {
	d, _ := shifts(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	endless := func(yield func(string, map[string][]float64) bool) {
		for k := 0; yield(fmt.Sprint(k), nil); k++ {
		}
	}
	good, bad := 0, 0
	for f := range FitAll(ctx, d, endless, Settings{Seed: *seed, Family: family.MeanField{}, Steps: 50, StartDraws: 10}) {
		if f.Err != nil {
			require.ErrorIs(t, f.Err, context.Canceled)
			bad++
			continue
		}
		if good++; good == 3 {
			cancel()
		}
	}
	require.GreaterOrEqual(t, good, 3)
	require.Positive(t, bad)
}
