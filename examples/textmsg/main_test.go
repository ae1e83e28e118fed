package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/cli"
)

func TestRun(t *testing.T) {
	var out, errOut bytes.Buffer
	require.Zero(t, cli.Call(context.Background(), run, []string{"-steps", "3000"}, &out, &errOut), errOut.String())
	for _, want := range []string{"The rate changed most likely after day 44, with probability 0.6", "it grew by 15 to 41 %", "good: trust"} {
		require.Contains(t, out.String(), want)
	}
	require.Empty(t, errOut.String())
}

// Interrupted, the program reports what it has.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errOut bytes.Buffer
	require.Zero(t, cli.Call(ctx, run, nil, &out, &errOut), errOut.String())
	require.Contains(t, out.String(), "After 0 steps")
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-steps", "0"}, {"-steps", "x"}, {"-nonsense"}, {"7"}} {
		var out, errOut bytes.Buffer
		require.Equal(t, 2, cli.Call(context.Background(), run, args, &out, &errOut), "%v", args)
		require.Empty(t, out.String())
		require.Regexp(t, "^textmsg: .+\n$", errOut.String())
	}
}
