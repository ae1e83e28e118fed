//go:build long

package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchmath"
)

// alarms are how many commits benchstat's test says to have changed benchmarks that nothing changed, and how many planted changes
// it finds within a commit, by size, where each commit is compared with the one before.
func alarms(t *testing.T, text string, plants map[string]plant) (wrong int, benchmarksWrong int, found map[float64]int) {
	h := new(History)
	require.NoError(t, h.Read(strings.NewReader(text), "history.txt"))
	found = map[float64]int{}
	limits := benchmath.DefaultThresholds // a p-value below 0.05
	for n, byCommit := range h.runs {
		p, right, own := plants[strings.TrimSuffix(n.benchmark, "-8")], false, 0
		for c := 1; c < commits; c++ {
			before := benchmath.NewSample(slices.Clone(byCommit[c-1]), &limits)
			after := benchmath.NewSample(slices.Clone(byCommit[c]), &limits)
			if test := benchmath.AssumeNothing.Compare(before, after); test.P >= test.Alpha {
				continue
			}
			switch {
			case p.row == 0:
				own++
			case c >= p.row-1 && c <= p.row+1:
				right = true
			}
		}
		if wrong += own; own > 0 {
			benchmarksWrong++
		}
		if right {
			found[p.size]++
		}
	}
	return wrong, benchmarksWrong, found
}

// Benchstat's test, of each commit against the one before, is another question: it says of most benchmarks that nothing changed that
// some commit did.
func TestBesideBenchstat(t *testing.T) {
	for seed := range *histories {
		text, plants := simulated(uint64(seed), *count)
		wrong, benchmarksWrong, found := alarms(t, text, plants)
		t.Logf("history %d: benchstat finds %v, with %d false alarms at %d of 40 benchmarks", seed, found, wrong, benchmarksWrong)
		if *count >= 6 {
			require.Greater(t, benchmarksWrong, 20)
		}
	}
}
