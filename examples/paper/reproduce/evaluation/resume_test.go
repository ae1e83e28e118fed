//go:build long

package evaluation

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/safefile"
)

// One seed gives the same CSV files, whatever GOMAXPROCS is; another seed,
// others; and a run is the same in another plan.
func TestSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	steps := "110"
	args := []string{"-steps", steps, "-stepsizes", "0.01", "-models", "temperature,textmsg", "-samples", "1,8"}
	runtime.GOMAXPROCS(1)
	first := t.TempDir()
	reproduce(t, first, args...)
	want := csvFiles(t, first)
	require.Len(t, want, 3+16+8+2)
	runtime.GOMAXPROCS(3)
	more := t.TempDir()
	reproduce(t, more, args...)
	require.Equal(t, want, csvFiles(t, more))
	other := t.TempDir()
	reproduce(t, other, append(args, "-seed", "2", "-models", "textmsg")...)
	for name, data := range csvFiles(t, other) {
		require.NotEqual(t, want[name], data, name)
	}
	alone := t.TempDir()
	reproduce(t, alone, "-steps", steps, "-stepsizes", "0.01", "-models", "textmsg", "-samples", "8", "-estimators", "ours")
	const file = "/runs/textmsg-0.01-N8-ours.elbo.csv"
	require.Equal(t, want[file], csvFiles(t, alone)[file])
}

// program starts this program as a process of its own.
func startProgram(t *testing.T, dir string, args []string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append(args, "-out", dir)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	require.NoError(t, cmd.Start())
	return cmd, &errOut
}

// waitForRuns waits until n runs are complete.
func waitForRuns(t *testing.T, dir string, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return completeRuns(dir) >= n }, time.Minute, time.Millisecond)
}

func completeRuns(dir string) int {
	names, _ := filepath.Glob(filepath.Join(dir, "runs", "*.json"))
	return len(names)
}

var longArgs = []string{"-steps", "1000", "-models", "textmsg,influenza", "-estimators", "reparam,ours", "-samples", "1,8"}

const longRuns = 16

// Killed in the middle, a second call gives the files of one that was not.
func TestKilledAndResumed(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	whole, dir := t.TempDir(), t.TempDir()
	cmd, errOut := startProgram(t, whole, longArgs)
	require.NoError(t, cmd.Wait(), "%s", errOut)

	killed, _ := startProgram(t, dir, longArgs)
	waitForRuns(t, dir, 3)
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())
	done := completeRuns(dir)
	require.Less(t, done, longRuns, "inconclusive: it had ended")
	require.NoFileExists(t, filepath.Join(dir, "elbo.csv"))
	part := filepath.Join(dir, "runs", ".textmsg.ABCDEFGHIJKL.part")
	require.NoError(t, os.WriteFile(part, []byte("half a"), 0o644)) // as a kill in the middle of a write leaves it

	resumed, errOut := startProgram(t, dir, longArgs)
	require.NoError(t, resumed.Wait(), "%s", errOut)
	kept := regexp.MustCompile(`^(\d+) of 16 runs are there already\n`).FindStringSubmatch(errOut.String())
	require.NotNil(t, kept, "%s", errOut)
	require.Equal(t, longRuns-done, strings.Count(errOut.String(), "\n")-1, "only the others are run")
	require.Equal(t, csvFiles(t, whole), csvFiles(t, dir))
	require.NoFileExists(t, part)
}

// Ctrl-C keeps what is complete, says so in one line, and exits with 130.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	cmd, errOut := startProgram(t, dir, longArgs)
	waitForRuns(t, dir, 2)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode(), "%s", errOut)
	lines := strings.Split(strings.TrimSpace(errOut.String()), "\n")
	require.Regexp(t, `^reproduce: stopped; \d+ of 16 runs are kept in .*, and the same command goes on from there$`, lines[len(lines)-1])
	require.GreaterOrEqual(t, completeRuns(dir), 2)
	left, err := filepath.Glob(filepath.Join(dir, "runs", safefile.Parts))
	require.NoError(t, err)
	require.Empty(t, left)
}

// A directory has one program at a time.
func TestOneProgram(t *testing.T) {
	dir := t.TempDir()
	s, err := openStore(dir)
	require.NoError(t, err)
	var out, errOut bytes.Buffer
	require.Equal(t, exitUsage, run(context.Background(), []string{"-out", dir}, &out, &errOut))
	require.Regexp(t, "^reproduce: -out .*: another writer has the lock .*\n$", errOut.String())
	s.close()
	reproduce(t, dir, "-models", "textmsg", "-estimators", "ours", "-samples", "8", "-stepsizes", "0.1", "-steps", "10")
}
