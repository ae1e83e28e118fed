package safefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gofrs/flock"
)

// ErrLocked is wrapped by the error of Lock if the file has another writer.
var ErrLocked = errors.New("another writer has the lock")

// Lock makes the caller the one writer of the file, of all processes and within
// this one, until it calls release or is killed. It does not wait: if there is
// another writer it returns ErrLocked. Its place is the sidecar file.lock, beside
// what the file's symbolic links lead to.
//
// Parts that a killed writer has left are removed. Where the system or the file
// system has no locks, Lock excludes nobody and removes nothing.
func Lock(file string) (release func(), err error) {
	file, err = resolve(file)
	if err != nil {
		return nil, err
	}
	sidecar := file + ".lock"
	for {
		if info, err := os.Lstat(sidecar); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is in the way of a lock: it is %s", sidecar, kind(info.Mode()))
		}
		l := flock.New(sidecar, flock.SetFlag(os.O_RDWR|os.O_CREATE|noFollow), flock.SetPermissions(0o666))
		ok, err := l.TryLock()
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return func() {}, nil
		case err != nil:
			return nil, err
		case !ok:
			return nil, fmt.Errorf("%s: %w (%s)", file, ErrLocked, sidecar)
		case !names(sidecar, l): // its holder removed it after we had opened it
			_ = l.Unlock()
			continue
		}
		removeParts(file)
		return func() { unlock(l) }, nil
	}
}

// names reports whether the sidecar's name is that of the file that l holds.
func names(sidecar string, l *flock.Flock) bool {
	held, err := l.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(sidecar)
	return err == nil && os.SameFile(held, named)
}

// unlock removes the sidecar and gives up the lock. The name goes first, so that
// nobody's sidecar is removed but our own; in Windows an open file cannot be
// removed, and one that is locked again stays.
func unlock(l *flock.Flock) {
	if runtime.GOOS != "windows" {
		os.Remove(l.Path())
		_ = l.Unlock()
		return
	}
	_ = l.Unlock()
	os.Remove(l.Path())
}

// removeParts removes the parts of the file. The caller holds its lock.
func removeParts(file string) {
	dir, name := filepath.Split(file)
	all, _ := os.ReadDir(filepath.Dir(file)) // what cannot be seen cannot be removed
	for _, e := range all {
		rest, ok := strings.CutPrefix(e.Name(), "."+name+".")
		if ok && len(rest) == partRandom+len(partEnd) && strings.HasSuffix(rest, partEnd) && e.Type().IsRegular() {
			os.Remove(dir + e.Name())
		}
	}
}
