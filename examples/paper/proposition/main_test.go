package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/cli/clitest"
)

func TestRun(t *testing.T) {
	var out, errOut bytes.Buffer
	require.Zero(t, cli.Call(context.Background(), run, []string{"-draws", "20000"}, &out, &errOut), errOut.String())
	for _, want := range []string{"exactly -4.1967", "← biased", "optimum    -0.9099"} {
		require.Contains(t, out.String(), want)
	}
	require.Empty(t, errOut.String())
}

func TestInterrupt(t *testing.T) { clitest.Interrupted(t, run, "after 0 steps") }

func TestBadFlags(t *testing.T) { clitest.WrongFlags(t, "proposition", run) }
