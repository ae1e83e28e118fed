package safefile

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A file has one writer at a time, under any of its names; the lock leaves
// nothing.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "fit.json")
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("fit.json", link))
	for range 3 {
		release, err := Lock(file)
		require.NoError(t, err)
		for _, name := range []string{file, link, dir + "/./fit.json"} {
			_, err = Lock(name)
			require.ErrorIs(t, err, ErrLocked)
			require.ErrorContains(t, err, "fit.json")
		}
		other, err := Lock(filepath.Join(dir, "other.json"))
		require.NoError(t, err)
		other()
		require.NoError(t, Replace(file, text("one")))
		release()
		require.Equal(t, []string{"fit.json", "link"}, namesIn(t, dir))
	}
	_, err := Lock(filepath.Join(dir, "no", "fit.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A link planted for the sidecar is not followed.
func TestLockFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("victim", filepath.Join(dir, "fit.json.lock")))
	_, err := Lock(filepath.Join(dir, "fit.json"))
	require.ErrorContains(t, err, "fit.json.lock is in the way of a lock: it is a symbolic link")
	require.Equal(t, []string{"fit.json.lock"}, namesIn(t, dir))
}

// The next writer removes what one that was killed has left of this file, and
// nothing else.
func TestLockRemovesParts(t *testing.T) {
	dir := t.TempDir()
	others := []string{".fit.json.bak.ABCDEFGHIJKL.part", ".fit.json.short.part", ".other.ABCDEFGHIJKL.part", "fit.json"}
	for _, name := range append(others, filepath.Base(partOf("fit.json")), "fit.json.lock") {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	release, err := Lock(filepath.Join(dir, "fit.json"))
	require.NoError(t, err)
	release()
	require.Equal(t, others, namesIn(t, dir))
}

// Of many that try at once and often, never do two hold the lock.
func TestLockExcludes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fit.json")
	var holders, refused atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for taken := 0; taken < 50; {
				release, err := Lock(file)
				if err != nil {
					refused.Add(1)
					runtime.Gosched()
					continue
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				time.Sleep(10 * time.Microsecond)
				holders.Add(-1)
				release()
				taken++
			}
		})
	}
	wg.Wait()
	require.Greater(t, refused.Load(), int64(100), "inconclusive")
}

// A lock ends with its process, however that ends.
func TestLockOfKilled(t *testing.T) {
	if file := os.Getenv("SAFEFILE_HOLD"); file != "" {
		_, err := Lock(file)
		fmt.Println(err)
		time.Sleep(time.Minute)
		return
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "fit.json")
	child := exec.Command(os.Args[0], "-test.run=^TestLockOfKilled$")
	child.Env = append(os.Environ(), "SAFEFILE_HOLD="+file)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "<nil>\n", line)
	_, err = Lock(file)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	release, err := Lock(file)
	require.NoError(t, err)
	release()
	require.Empty(t, namesIn(t, dir))
}
