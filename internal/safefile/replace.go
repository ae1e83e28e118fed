package safefile

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Replace makes what write writes the content of the file. On an error the file
// is as it was and nothing is left beside it, but for an error of the last step,
// which brings the folder to the disk.
//
// An existing file keeps its permissions, and its owner and group where the
// process may set them; a new one has the permissions that os.Create gives. A
// file that the process may not write, a folder, a device, a pipe and a socket
// are errors.
func Replace(file string, write func(w io.Writer) error) error {
	file, err := resolve(file)
	if err != nil {
		return err
	}
	old, err := writable(file)
	if err != nil {
		return err
	}
	part := partOf(file)
	defer os.Remove(part) // which is gone if all went well
	if err := fill(part, old, write); err != nil {
		return err
	}
	if err := os.Rename(part, file); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(file))
}

// Parts is the pattern, of filepath.Match, of what killed calls of Replace leave.
const Parts = ".*" + partEnd

// A part is named "." + the file's name + "." + random letters + partEnd.
const (
	partRandom = 12
	partEnd    = ".part"
)

// partOf is a new name beside the file.
func partOf(file string) string {
	dir, name := filepath.Split(file)
	return dir + "." + name + "." + rand.Text()[:partRandom] + partEnd
}

// fill writes a new file, never what a planted link points to, and brings it to
// the disk. It has owner and permissions of old, unless that is nil.
func fill(part string, old fs.FileInfo, write func(w io.Writer) error) error {
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = 0o600 // until it has its owner
	}
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer f.Close()
	if old != nil {
		setOwner(f, old)
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// writable describes an existing file that the process may write; it is nil if
// there is no file.
func writable(file string) (fs.FileInfo, error) {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

// resolve follows symbolic links to the file that is meant, which need not exist
// yet. What exists must be a regular file.
func resolve(file string) (string, error) {
	info, err := os.Stat(file)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return "", &fs.PathError{Op: "write", Path: file, Err: errors.New(kind(info.Mode()) + " cannot be replaced by a file")}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	dir, name := filepath.Split(file)
	if name == "" {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(cmp.Or(dir, ".")); err != nil {
		return "", err
	}
	file = filepath.Join(dir, name)
	link, err := os.Readlink(file)
	if err != nil { // it is no link, or is not there yet
		return file, nil
	}
	if !filepath.IsAbs(link) {
		link = dir + string(filepath.Separator) + link
	}
	return resolve(link)
}

// kind names what is not a regular file.
func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "a special file"
}

// syncFolder brings the folder's list of names to the disk, where the system can.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}
