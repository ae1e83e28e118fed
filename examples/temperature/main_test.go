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
	for _, want := range []string{"20 of 21 states as they were", "after 3000 steps", "With the rare sides of guards"} {
		require.Contains(t, out.String(), want)
	}
	require.Empty(t, errOut.String())

	// When the controller switched first the data do not say: in step 4 or 5, or in
	// step 3 with a probability of 0.08.
	require.Regexp(t, `\n   3 .* 0\.0\d\d  off `, out.String())
	require.Regexp(t, `\n   4 .* 0\.[2-6]\d\d  off .*on  ←\n`, out.String())
	require.Regexp(t, `\n   5 .* 1\.000  on `, out.String())
}

func TestInterrupt(t *testing.T) { clitest.Interrupted(t, run, "after 0 steps") }

func TestBadFlags(t *testing.T) { clitest.WrongFlags(t, "temperature", run) }
