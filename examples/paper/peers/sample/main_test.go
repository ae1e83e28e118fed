//go:build long

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "draws.f64")
	require.NoError(t, run("schools", 1, 100, file))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Positive(t, info.Size())
	require.Zero(t, info.Size()%(10*512*8))
	require.ErrorContains(t, run("school", 1, 100, ""), `no trial "school"`)
}
