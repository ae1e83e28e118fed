package safefile

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(data)
}

// names are those of all that lies in the folder.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A file appears, and is replaced; while it is written its readers see the old
// content.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "fit.json")
	require.NoError(t, Replace(file, text("one")))
	require.Equal(t, "one", read(t, file))
	open, err := os.Open(file)
	require.NoError(t, err)
	defer open.Close()
	require.NoError(t, Replace(file, func(w io.Writer) error {
		require.NoError(t, text("two")(w))
		require.Equal(t, "one", read(t, file))
		parts, err := filepath.Glob(filepath.Join(dir, Parts))
		require.NoError(t, err)
		require.Len(t, parts, 1)
		return nil
	}))
	require.Equal(t, "two", read(t, file))
	still, err := io.ReadAll(open)
	require.NoError(t, err)
	require.Equal(t, "one", string(still), "who has it open reads on")
	require.Equal(t, []string{"fit.json"}, namesIn(t, dir))

	t.Chdir(dir)
	require.NoError(t, Replace("fit.json", text("three")))
	require.Equal(t, "three", read(t, file))
}

// Whatever fails, the file is as it was and nothing is beside it.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "fit.json")
	full := errors.New("the disk is full")
	half := func(w io.Writer) error {
		require.NoError(t, text("ha")(w))
		return full
	}
	require.ErrorIs(t, Replace(file, half), full)
	require.Empty(t, namesIn(t, dir))
	require.NoError(t, Replace(file, text("one")))
	require.ErrorIs(t, Replace(file, half), full)
	require.PanicsWithError(t, full.Error(), func() { _ = Replace(file, func(io.Writer) error { panic(full) }) })
	require.Equal(t, "one", read(t, file))
	require.Equal(t, []string{"fit.json"}, namesIn(t, dir))

	require.ErrorIs(t, Replace(filepath.Join(dir, "no", "fit.json"), text("two")), fs.ErrNotExist)
	require.ErrorIs(t, Replace("", text("two")), fs.ErrNotExist)
	require.ErrorContains(t, Replace(filepath.Join(file, "fit.json"), text("two")), "not a directory")
}

// What a link leads to is replaced, through relative, absolute and dangling
// links and linked folders; the links stay.
func TestReplaceFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real", "deep")
	require.NoError(t, os.MkdirAll(real, 0o755))
	file := filepath.Join(real, "fit.json")
	for link, to := range map[string]string{
		"relative": "real/deep/fit.json",
		"absolute": file,
		"twice":    "relative",
		"folder":   "real/deep",
		"up":       "folder/../deep/fit.json", // real/deep, not deep
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	for _, way := range []string{"relative", "absolute", "twice", "folder/fit.json", "up"} {
		for _, content := range []string{"new", "again"} { // the link dangles at first
			require.NoError(t, Replace(dir+"/"+way, text(way+content)), way)
			require.Equal(t, way+content, read(t, file))
			require.Equal(t, []string{"fit.json"}, namesIn(t, real))
		}
		require.NoError(t, os.Remove(file))
	}
	require.Equal(t, []string{"absolute", "folder", "real", "relative", "twice", "up"}, namesIn(t, dir))
	require.NoError(t, os.Symlink("circle", filepath.Join(dir, "circle")))
	require.ErrorContains(t, Replace(filepath.Join(dir, "circle"), text("")), "too many levels of symbolic links")
}

// A link with the name of a part, planted where it could be guessed, is not
// followed.
func TestPartIsNew(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("untouched"), 0o644))
	file := filepath.Join(dir, "fit.json")
	for _, planted := range []string{file + ".new", partOf(file)} {
		require.NoError(t, os.Symlink(victim, planted))
		require.ErrorIs(t, fill(planted, nil, text("overwritten")), fs.ErrExist)
	}
	require.NoError(t, Replace(file, text("one")))
	require.Equal(t, "untouched", read(t, victim))
	require.NotEqual(t, partOf(file), partOf(file))
}

// Only regular files are replaced.
func TestReplaceRefuses(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, os.Symlink(os.DevNull, filepath.Join(dir, "null")))
	for file, want := range map[string]string{
		dir:                        "a folder cannot be replaced by a file",
		dir + "/":                  "a folder",
		os.DevNull:                 "a device cannot",
		filepath.Join(dir, "null"): "a device cannot",
		socket:                     "a socket cannot",
	} {
		require.ErrorContains(t, Replace(file, text("")), want)
		_, err := Lock(file)
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, []string{"null", "socket"}, namesIn(t, dir))
}
