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
	d := small(t, "x", 1, 0, 1, 1)
	s := job{Settings: Settings{Checkpoint: filepath.Join(t.TempDir(), "fit.json")}}
	release, err := s.lockCheckpoint(d)
	require.NoError(t, err)
	_, err = s.lockCheckpoint(d)
	require.ErrorIs(t, err, safefile.ErrLocked)
	require.ErrorContains(t, err, "checkpoint: "+s.Checkpoint)
	none, err := new(job).lockCheckpoint(d)
	require.NoError(t, err)
	none()
	release()
	release, err = s.lockCheckpoint(d)
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

// A checkpoint of another program, or of other observations, and a file that is no fit, stay: the error says what is there and what is
// fitted. A fit of the same program is replaced.
func TestCheckpointOfAnotherProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fit.json")
	fit := func(latent string, data int) error {
		d := small(t, latent, 1, 0, 1, data)
		for _, method := range []Method{Climb{Family: family.MeanField{}, Steps: 10, StartDraws: 10}, nil} {
			if _, err := Fit(context.Background(), d, Settings{Checkpoint: path, Method: method}); err != nil {
				return err
			}
		}
		return nil
	}
	require.NoError(t, fit("x", 1))
	require.NoError(t, fit("x", 1))
	was, err := os.ReadFile(path)
	require.NoError(t, err)
	require.ErrorContains(t, fit("w", 1), "vi: checkpoint: "+path+` is not replaced: the fit is of another model: its latent 0 is "x", here it is "w"`)
	require.ErrorContains(t, fit("x", 2), "is not replaced: the fit is of another model: it has 1 observations, here are 2")
	is, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, was, is)
	require.NoError(t, os.WriteFile(path, []byte("day,deaths\n"), 0o600))
	require.ErrorContains(t, fit("x", 1), "is not replaced")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, fit("x", 1))
}
