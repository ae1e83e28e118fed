package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// build builds the program.
func build(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manyfits")
	out, err := exec.Command("go", "build", "-o", file, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return file
}

// In one process and in two, also where the worker is killed in the middle, the fits are those of
// vi.FitAll, and failed keys are where they belong.
func TestManyFits(t *testing.T) {
	const n = "600"
	program := build(t)
	for name, args := range map[string][]string{
		"one process":      nil,
		"two processes":    {"-processes=2"},
		"a killed worker":  {"-processes=2", "-die-after=10", "-keep=" + t.TempDir()},
		"killed, not kept": {"-processes=2", "-die-after=10"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			out, err := exec.CommandContext(t.Context(), program, append([]string{"-series=" + n, "-check", "-out=" + folder, "-shards=8"}, args...)...).CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, string(out), "bit for bit")
			require.Contains(t, string(out), "599 series fitted, 1 failed")
			require.Equal(t, strings.Contains(name, "killed"), strings.Contains(string(out), "attempt 1: "), string(out))
			failures, err := os.ReadFile(filepath.Join(folder, "failures.csv"))
			require.NoError(t, err)
			require.Contains(t, string(failures), "series-000499")
		})
	}
}

// A line of CSV comes back.
func TestLines(t *testing.T) {
	d, err := density()
	require.NoError(t, err)
	x := simulated(3)
	fits, failures := fitAll(context.Background(), d, []Series{x, simulated(499)}, 1)
	require.Len(t, fits, 1)
	require.Len(t, failures, 1)
	file := filepath.Join(t.TempDir(), "fits.csv")
	require.NoError(t, os.WriteFile(file, []byte(fitLine(fits[0])+"\n"), 0o666))
	got, err := readFits(file)
	require.NoError(t, err)
	require.Equal(t, fits, got)
	_, err = parseSeries("a,1,x")
	require.Error(t, err)
}
