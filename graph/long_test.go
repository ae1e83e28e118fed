//go:build long

package graph_test

import (
	"flag"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestLongPrograms looks for what is rare: go test ./graph -run LongPrograms -tags long
// -longtime 1h -timeout 0.
var (
	longTime = flag.Duration("longtime", 4*time.Second, "how long TestLongPrograms runs")
	longSeed = flag.Uint64("longseed", 1, "number of its first hundred programs")
)

// Random programs in bulk, no two from the same seed: values, gradients and
// jumps of all, and every tenth hundred on all machines.
func TestLongPrograms(t *testing.T) {
	was := flag.Lookup("rapid.seed").Value.String()
	defer func() { require.NoError(t, flag.Set("rapid.seed", was)) }()
	var values, slopes, jumps, kinks tally
	programs, machines, coordinates, planes, curves := 0, 0, 0, 0, 0
	refused = tally{}
	s := *longSeed
	for end := time.Now().Add(*longTime); time.Now().Before(end); s++ {
		// rapid adds to the seed as it goes: by less than n²/2 in n programs.
		require.NoError(t, flag.Set("rapid.seed", strconv.FormatUint(s<<32, 10)))
		rapid.Check(t, func(t *rapid.T) {
			r := drawRandom(t, anyProgram())
			checkValues(t, r, &values, &slopes)
			checkJumps(t, r, &jumps, &kinks)
			programs++
			coordinates += r.Dim()
			planes += r.d.Arrangement().Len()
			for l := range r.d.Arrangement().Len() {
				if r.d.Arrangement().Curve(l) != nil {
					curves++
				}
			}
			if s%10 == 0 {
				checkMachines(t, r)
				machines++
			}
		})
	}
	t.Logf("hundreds %d to %d: %d programs, %d on all machines, with %d coordinates, %d planes and %d curves; %d values, %d components of gradients, %d jumps",
		*longSeed, s-1, programs, machines, coordinates, planes-curves, curves, values.all, slopes.all, jumps.all)
	values.check(t, 0.01)
	slopes.check(t, 0.1)
	jumps.check(t, 0.02)
	refused.check(t, 0.2)
}
