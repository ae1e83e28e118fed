//go:build unix

package safefile

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A pipe is refused without waiting for its reader.
func TestReplaceRefusesPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	require.ErrorContains(t, Replace(pipe, text("")), "a pipe cannot be replaced by a file")
}

// An existing file keeps its permissions and, if root replaces it, its owner; a
// new one obeys the umask. The part has them while it is written.
func TestReplaceKeepsPermissions(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "fit.json")
	defer syscall.Umask(syscall.Umask(0o027))
	require.NoError(t, Replace(file, text("one")))
	mode := func(file string) os.FileMode {
		info, err := os.Stat(file)
		require.NoError(t, err)
		return info.Mode()
	}
	require.Equal(t, os.FileMode(0o640), mode(file))
	for _, perm := range []os.FileMode{0o600, 0o666, 0o755} {
		require.NoError(t, os.Chmod(file, perm))
		require.NoError(t, Replace(file, func(io.Writer) error {
			parts, err := filepath.Glob(filepath.Join(dir, Parts))
			require.NoError(t, err)
			require.Equal(t, perm, mode(parts[0]))
			return nil
		}))
		require.Equal(t, perm, mode(file))
	}
	if os.Getuid() != 0 {
		return
	}
	require.NoError(t, os.Chown(file, 1234, 5678))
	require.NoError(t, Replace(file, text("two")))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, [2]uint32{1234, 5678}, [2]uint32{info.Sys().(*syscall.Stat_t).Uid, info.Sys().(*syscall.Stat_t).Gid})
	require.Equal(t, os.FileMode(0o755), mode(file))
}

// inChild runs the test named name in a process of its own, in which env is set.
func inChild(t *testing.T, name, env, value string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$")
	cmd.Env = append(os.Environ(), env+"="+value)
	return cmd
}

// A file that outgrows the space that there is leaves nothing.
func TestReplaceWithoutSpace(t *testing.T) {
	if file := os.Getenv("SAFEFILE_NO_SPACE"); file != "" {
		signal.Ignore(syscall.SIGXFSZ)
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10000, Max: 10000}))
		require.ErrorIs(t, Replace(file, text(string(make([]byte, 20000)))), syscall.EFBIG)
		return
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "fit.json")
	require.NoError(t, Replace(file, text("one")))
	out, err := inChild(t, t.Name(), "SAFEFILE_NO_SPACE", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "one", read(t, file))
	require.Equal(t, []string{"fit.json"}, namesIn(t, dir))
}

// A file that the process may not write is not replaced, though its folder would
// allow it.
func TestReplaceRefusesReadOnly(t *testing.T) {
	if file := os.Getenv("SAFEFILE_READ_ONLY"); file != "" {
		require.ErrorIs(t, Replace(file, text("two")), os.ErrPermission)
		return
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o777))
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	file := filepath.Join(dir, "fit.json")
	require.NoError(t, os.WriteFile(file, []byte("one"), 0o444))
	cmd := inChild(t, t.Name(), "SAFEFILE_READ_ONLY", file)
	if os.Getuid() == 0 { // who may write anything
		program, err := os.ReadFile(os.Args[0])
		require.NoError(t, err)
		cmd.Path = filepath.Join(t.TempDir(), "program") // where others may run it
		require.NoError(t, os.WriteFile(cmd.Path, program, 0o755))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1234, Gid: 1234}}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "one", read(t, file))
	require.Equal(t, []string{"fit.json"}, namesIn(t, dir))
}
