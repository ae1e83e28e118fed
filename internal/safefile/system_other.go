//go:build !unix

package safefile

import (
	"io/fs"
	"os"
)

const noFollow = 0

func setOwner(*os.File, fs.FileInfo) {}
