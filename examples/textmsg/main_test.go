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
	require.Zero(t, cli.Call(context.Background(), run, []string{"-steps", "3000"}, &out, &errOut), errOut.String())
	for _, want := range []string{"The rate changed most likely after day 44, with probability 0.6", "it grew by 15 to 4", "good: trust"} {
		require.Contains(t, out.String(), want)
	}
	require.Empty(t, errOut.String())
}

func TestInterrupt(t *testing.T) { clitest.Interrupted(t, run, "After 0 steps") }

func TestBadFlags(t *testing.T) { clitest.WrongFlags(t, "textmsg", run) }
