package vi

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/safefile"
	"github.com/facetvi/facet/vi/family"
)

// checkpointed is a short fit with that checkpoint.
func checkpointed(t *testing.T, path string) (*Posterior, error) {
	t.Helper()
	return Fit(context.Background(), small(t, "x", 1, 0, 1, 1), Settings{Checkpoint: path, Method: Climb{Family: family.MeanField{}, Steps: 10, StartDraws: 10}})
}

// A checkpoint goes where a link leads to, and touches no other file, whatever
// has been planted beside it.
func TestCheckpointThroughLinks(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("untouched"), 0o600))
	link := filepath.Join(dir, "link.json")
	require.NoError(t, os.Symlink("fit.json", link))
	for _, planted := range []string{"link.json.new", "fit.json.new"} {
		require.NoError(t, os.Symlink("victim", filepath.Join(dir, planted)))
	}
	_, err := checkpointed(t, link)
	require.NoError(t, err)
	untouched, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "untouched", string(untouched))
	to, err := os.Readlink(link)
	require.NoError(t, err)
	require.Equal(t, "fit.json", to)
	require.FileExists(t, filepath.Join(dir, "fit.json"))
}

// What is not a regular file is refused before the first step, and stays.
func TestCheckpointRefuses(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	for path, want := range map[string]string{dir: "a folder", socket: "a socket"} {
		p, err := checkpointed(t, path)
		require.ErrorContains(t, err, "vi: checkpoint: write "+path+": "+want+" cannot be replaced by a file")
		require.Nil(t, p)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.False(t, info.Mode().IsRegular())
	}
}

// A checkpoint has one writer.
func TestCheckpointLock(t *testing.T) {
	s := job{Settings: Settings{Checkpoint: filepath.Join(t.TempDir(), "fit.json")}}
	release, err := s.lockCheckpoint()
	require.NoError(t, err)
	_, err = s.lockCheckpoint()
	require.ErrorIs(t, err, safefile.ErrLocked)
	require.ErrorContains(t, err, "checkpoint: "+s.Checkpoint)
	none, err := new(job).lockCheckpoint()
	require.NoError(t, err)
	none()
	release()
	release, err = s.lockCheckpoint()
	require.NoError(t, err)
	release()
}

// Two fits on one checkpoint are an error before the second takes a step, and
// the first goes on; when it has ended, the file is free.
func TestCheckpointHasOneFit(t *testing.T) {
	d := small(t, "x", 1, 0, 1, 1)
	path := filepath.Join(t.TempDir(), "fit.json")
	s := Settings{Checkpoint: path, Method: Climb{Family: family.MeanField{}, Steps: 20, StartDraws: 10}}
	first := s
	first.climb().OnStep = func(step Step) error {
		if step.T == 10 {
			p, err := Fit(context.Background(), d, s)
			require.ErrorIs(t, err, safefile.ErrLocked)
			require.Nil(t, p)
		}
		return nil
	}
	p, err := Fit(context.Background(), d, first)
	require.NoError(t, err)
	require.Equal(t, 20, p.Steps)
	p.Settings.climb().OnStep, p.Settings.climb().Steps = nil, 30
	p, err = p.Resume(context.Background())
	require.NoError(t, err)
	require.Equal(t, 30, p.Steps)
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1)
}
