package main

import (
	"bytes"
	"context"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/cli"
)

// The printed answer and the picture; in short mode, where the race detector
// makes fits slow, after too few steps for an answer.
func TestRun(t *testing.T) {
	steps, want := "300", "The threshold is 3.22"
	if testing.Short() {
		steps, want = "20", "240 steps, but 12 of 12 fits have not settled"
	}
	file := filepath.Join(t.TempDir(), "lynx.png")
	var out, errOut bytes.Buffer
	require.Zero(t, cli.Call(context.Background(), run, []string{"-steps", steps, "-plot", file}, &out, &errOut), errOut.String())
	for _, want := range []string{want, "From 12 windows", "The picture is in " + file} {
		require.Contains(t, out.String(), want)
	}
	require.Empty(t, errOut.String())

	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	picture, err := png.Decode(f)
	require.NoError(t, err)
	require.Greater(t, picture.Bounds().Dx(), 600)
}

// Interrupted, the program reports what it has, and says how to get a picture.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errOut bytes.Buffer
	require.Zero(t, cli.Call(ctx, run, nil, &out, &errOut), errOut.String())
	require.Contains(t, out.String(), " 0 steps")
	require.Contains(t, out.String(), "-plot lynx.png")
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-steps", "0"}, {"-steps", "x"}, {"-nonsense"}, {"7"}, {"-plot", "picture.doc"}} {
		var out, errOut bytes.Buffer
		require.Equal(t, 2, cli.Call(context.Background(), run, args, &out, &errOut), "%v", args)
		require.Empty(t, out.String())
		require.Regexp(t, "^lynx: .+\n$", errOut.String())
	}
}
