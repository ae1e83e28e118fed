//go:build long

package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/changes/internal/many"
	"github.com/facetvi/facet/examples/changes/internal/series"
	"github.com/facetvi/facet/vi"
)

var (
	histories = flag.Int("histories", 1, "how many histories of 60 benchmarks")
	count     = flag.Int("count", 6, "runs of each benchmark at each commit")
)

const commits, benchmarks = 40, 60

var settings = many.Settings{Likelihood: series.Normal, Prior: 0.1, Vi: vi.Settings{Seed: 1, Method: series.Method}}

// A plant is a change that was made: 0 if there is none.
type plant struct {
	row  int
	size float64
}

// simulated is a history with noise of 3 % in each run. A third of the benchmarks are changed by a commit: by 2, 5 or 10 %.
func simulated(seed uint64, count int) (text string, plants map[string]plant) {
	rng := rand.New(rand.NewPCG(seed, 40))
	plants = map[string]plant{}
	level := map[string]float64{}
	for b := range benchmarks {
		name := fmt.Sprintf("Work%02d", b)
		level[name] = 100 * math.Exp(6*rng.Float64())
		plants[name] = plant{}
		if b%3 == 0 {
			plants[name] = plant{3 + rng.IntN(commits-6), []float64{0.02, 0.05, 0.10}[b/3%3]}
		}
	}
	var out strings.Builder
	for c := range commits {
		fmt.Fprintf(&out, "commit: c%02d\n", c)
		for range count {
			for b := range benchmarks {
				name := fmt.Sprintf("Work%02d", b)
				mean := level[name]
				if p := plants[name]; p.row > 0 && c >= p.row {
					mean *= 1 + p.size
				}
				fmt.Fprintf(&out, "Benchmark%s-8 1000 %.4f ns/op\n", name, mean*math.Exp(0.03*rng.NormFloat64()))
			}
		}
	}
	return out.String(), plants
}

// Of changes of 5 and 10 % at a noise of 3 %, 95 % are found within a commit, and of 60 benchmarks one at most is said to be changed
// that is not. With -histories 20 the test is of 20 times as many, and -v prints a table.
func TestPlanted(t *testing.T) {
	found, all, alarms := map[float64]int{}, map[float64]int{}, 0
	inside := 0
	for seed := range *histories {
		text, plants := simulated(uint64(seed), *count)
		h := new(History)
		require.NoError(t, h.Read(strings.NewReader(text), "history.txt"))
		require.Len(t, h.Commits, commits)
		changes, err := h.Find(context.Background(), settings)
		require.NoError(t, err)
		require.Len(t, changes, benchmarks)
		wrong := 0
		for _, c := range changes {
			p := plants[strings.TrimSuffix(c.Benchmark, "-8")]
			all[p.size]++
			require.LessOrEqual(t, c.Worse, 1.0) // sums of many weights may not be
			switch {
			case c.Probability < 0.9:
			case p.row == 0:
				wrong++
			case c.Row >= p.row-1 && c.Row <= p.row+1:
				found[p.size]++
				if c.Ratio.Low <= 1+p.size && 1+p.size <= c.Ratio.High {
					inside++
				}
			}
		}
		require.LessOrEqual(t, wrong, 1)
		alarms += wrong
	}
	for _, size := range []float64{0.02, 0.05, 0.10} {
		t.Logf("%2.0f %%: %d of %d found within a commit", 100*size, found[size], all[size])
	}
	t.Logf("%d of %d that nothing changed are said to be changed; the interval of the ratio has the planted one in %d of %d",
		alarms, all[0], inside, found[0.02]+found[0.05]+found[0.10])
	if *count >= 6 {
		require.GreaterOrEqual(t, float64(found[0.05]+found[0.10]), 0.95*float64(all[0.05]+all[0.10]))
	}
}

func TestRead(t *testing.T) {
	h := new(History)
	for _, file := range []string{"a.txt", "old/b.txt", "c.txt"} {
		require.NoError(t, h.Read(strings.NewReader("goos: linux\nBenchmarkSort-8 10 5 ns/op 0 allocs/op\nBenchmarkSort-8 10 5.1 ns/op 0 allocs/op\nPASS\n"), file))
	}
	require.Equal(t, []string{"a", "b", "c"}, h.Commits)
	changes, err := h.Find(context.Background(), settings)
	require.NoError(t, err)
	require.Len(t, changes, 2)
	require.Equal(t, "sec/op", changes[0].Unit)
	require.Less(t, changes[0].Probability, 0.2)
	require.Equal(t, "is 0 in all runs", changes[1].Note)
}

func TestReadErrors(t *testing.T) {
	h := new(History)
	require.ErrorContains(t, h.Read(strings.NewReader("nothing\n"), "n.txt"), "n.txt: no results of benchmarks")
	require.ErrorContains(t, h.Read(strings.NewReader("BenchmarkSort-8 ten 5 ns/op\n"), "n.txt"), "n.txt:1: ")
	require.NoError(t, h.Read(bytes.NewBufferString("BenchmarkSort-8 10 5 ns/op\n"), "n.txt"))
	_, err := h.Find(context.Background(), settings)
	require.ErrorContains(t, err, "results of 1 commits")
}
