package main

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/cli/clitest"
)

// exact is P(type 1) of each month by enumeration of all regions: see
// TestInfluenzaGuardsAgree in package vi, which prints it.
var exact = []float64{0, 0, 0, 0.00015, 0.33827, 0.34277, 0.30209, 0.23187, 0.18178, 0.02107, 0.01062, 0.00578}

// The printed answer; and the program is sure of what the exact posterior is sure
// of, and of nothing else.
func TestRun(t *testing.T) {
	steps := "2000"
	if testing.Short() {
		steps = "100"
	}
	var out, errOut bytes.Buffer
	require.Zero(t, cli.Call(context.Background(), run, []string{"-steps", steps}, &out, &errOut), errOut.String())
	for _, want := range []string{"type 2: Jan, Feb, Mar, Apr.", "\n222222222222", "After " + steps + " steps"} {
		require.Contains(t, out.String(), want)
	}
	require.Empty(t, errOut.String())

	rows := regexp.MustCompile(`(?m)^[A-Z].. .*(\d\.\d{3}) +(\w+)$`).FindAllStringSubmatch(out.String(), -1)
	require.Len(t, rows, len(exact))
	for i, row := range rows {
		p, err := strconv.ParseFloat(row[1], 64)
		require.NoError(t, err)
		if row[2] != "open" {
			require.InDelta(t, exact[i], p, 0.02, row[0])
		}
	}
}

func TestInterrupt(t *testing.T) { clitest.Interrupted(t, run, "After 0 steps") }

func TestBadFlags(t *testing.T) { clitest.WrongFlags(t, "influenza", run) }
