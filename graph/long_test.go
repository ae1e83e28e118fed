package graph_test

import (
	"flag"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The long test looks for what is rare: go test ./graph -run Long -long
// -longtime 1h -timeout 0.
var (
	long     = flag.Bool("long", false, "run the long test")
	longTime = flag.Duration("longtime", 10*time.Second, "how long it runs")
	longSeed = flag.Int("longseed", 1, "seed of its first hundred programs")
)

// Random programs in bulk: values, gradients, forced signs and machines.
func TestLongPrograms(t *testing.T) {
	if !*long {
		t.Skip("needs -long")
	}
	was := flag.Lookup("rapid.seed").Value.String()
	defer func() { require.NoError(t, flag.Set("rapid.seed", was)) }()
	var values, slopes tally
	programs := 0
	for end, s := time.Now().Add(*longTime), *longSeed; time.Now().Before(end); s++ {
		require.NoError(t, flag.Set("rapid.seed", strconv.Itoa(s)))
		rapid.Check(t, func(t *rapid.T) {
			checkValues(t, &values, &slopes)
			programs++
		})
		rapid.Check(t, func(t *rapid.T) {
			checkMachines(t)
			programs++
		})
	}
	t.Logf("%d programs, %d values, %d components of gradients", programs, values.all, slopes.all)
	values.check(t, 0.01)
	slopes.check(t, 0.1)
}
