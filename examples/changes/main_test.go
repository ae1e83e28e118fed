package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/internal/long"
)

// call runs the command.
func call(args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	code = cli.Call(context.Background(), run, args, &o, &e)
	return code, o.String(), e.String()
}

// Without a file the command looks at the coal mines, and says so. Flags may be before and after a file's name.
func TestCoalMines(t *testing.T) {
	code, out, errOut := call("-max", "1", "-ahead", "2")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "No file was named")
	require.Contains(t, out, "likelihood poisson (counts)")
	require.Contains(t, out, "change after year 1891 (probability 0.24")
	require.Contains(t, out, "Verdict on the fit: trust")
	if !long.On() {
		return
	}
	code, again, errOut := call("-max", "1", "data/coalmining.csv", "-y", "disasters", "-x", "year", "-ahead", "2")
	require.Zero(t, code, errOut)
	require.Contains(t, out, again)
}

func TestFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"one file at a time":            {"a.csv", "b.csv"},
		"-ahead: must be at least 0":    {"-ahead", "-1"},
		"-max: must be at least 1":      {"-max", "0"},
		"-likelihood gamma: there":      {"-likelihood", "gamma"},
		"of a file, and none was named": {"-y", "count"},
		"not defined: -why":             {"-why"},
	} {
		code, _, errOut := call(args...)
		require.Equal(t, 2, code, args)
		require.Contains(t, errOut, want)
		require.Contains(t, errOut, "-h lists the flags")
	}
	code, out, _ := call("-h")
	require.Zero(t, code)
	require.Contains(t, out, "-likelihood distribution")
}
