//go:build !js

package main

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed web
var web embed.FS

// build writes the files of the page into a folder.
func build(folder string) error {
	files, err := fs.Sub(web, "web")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	list, err := fs.ReadDir(files, ".")
	if err != nil {
		return err
	}
	for _, f := range list {
		text, err := fs.ReadFile(files, f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, f.Name()), text, 0o644); err != nil {
			return err
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "wasm_exec.js"), support, 0o644); err != nil {
		return err
	}
	return compile(folder)
}

// compile writes facet.wasm.zst, or facet.wasm.gz, which is larger by a third, where the command zstd is not installed.
func compile(folder string) error {
	plain := filepath.Join(folder, "facet.wasm")
	defer os.Remove(plain)
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", plain, "github.com/facetvi/facet/examples/live")
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("compiling to WebAssembly: %w", err)
	}
	if _, err := exec.LookPath("zstd"); err == nil {
		return exec.Command("zstd", "-q", "-f", "-19", "--long=27", plain, "-o", plain+".zst").Run()
	}
	code, err := os.ReadFile(plain)
	if err != nil {
		return err
	}
	f, err := os.Create(plain + ".gz")
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(code); err != nil {
		return err
	}
	return w.Close()
}
