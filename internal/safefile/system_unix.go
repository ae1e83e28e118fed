//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow, a flag of open, refuses symbolic links.
const noFollow = syscall.O_NOFOLLOW

// setOwner gives f the owner and the group of old, or else its group, or else
// neither: only root may do the first, and the second needs to be in the group.
func setOwner(f *os.File, old fs.FileInfo) {
	s := old.Sys().(*syscall.Stat_t)
	if f.Chown(int(s.Uid), int(s.Gid)) != nil {
		_ = f.Chown(-1, int(s.Gid))
	}
}
