// Package clitest tests an example as its user runs it: with arguments, by what it prints, draws
// and says of wrong ones.
//
//	arguments ─▶ cli.Call ─▶ output ─▶ has the texts that are wanted
package clitest

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/cli"
)

// Interrupted tests that a program, when it is interrupted, reports what it has,
// with the texts want.
func Interrupted(t *testing.T, run cli.Run, want ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errOut bytes.Buffer
	require.Zero(t, cli.Call(ctx, run, nil, &out, &errOut), errOut.String())
	for _, text := range want {
		require.Contains(t, out.String(), text)
	}
}

// Stopped tests that a program that is interrupted during the search for the
// posterior, when there is nothing to report, says so in one line.
func Stopped(t *testing.T, run cli.Run) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errOut bytes.Buffer
	require.Equal(t, 1, cli.Call(ctx, run, nil, &out, &errOut))
	require.Empty(t, out.String())
	require.Regexp(t, "^.*context canceled\\n$", errOut.String())
}

// WrongFlags tests that a wrong step count, an unknown flag, a stray argument,
// and more of the program's own end it with one line that names it and exit
// code 2.
func WrongFlags(t *testing.T, name string, run cli.Run, more ...[]string) {
	t.Helper()
	for _, args := range append([][]string{{"-steps", "0"}, {"-steps", "x"}, {"-nonsense"}, {"7"}}, more...) {
		var out, errOut bytes.Buffer
		require.Equal(t, 2, cli.Call(context.Background(), run, args, &out, &errOut), "%v", args)
		require.Empty(t, out.String())
		require.Regexp(t, "^"+name+": .+\n$", errOut.String())
	}
}
