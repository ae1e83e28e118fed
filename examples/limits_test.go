package examples

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a file of an example has at most, so that it can be copied.
const mostLines, mostImports = 120, 3

// files are how many files an example may have beside its tests, if more than one.
var files = map[string]int{
	"live": 5, // a page, and what answers it in the browser
}

// without are the programs that have no flag -html, and why.
var without = map[string]string{
	"live":               "a page itself",
	"paper/reproduce":    "writes a page always",
	"paper/peers/sample": "what a script calls",
}

// faults are what is wrong with a file of an example.
func faults(name string, source []byte) (list []string, main bool, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
	if err != nil {
		return nil, false, err
	}
	own := 0
	for _, i := range f.Imports {
		if strings.HasPrefix(i.Path.Value, `"github.com/facetvi/facet`) {
			own++
		}
	}
	if n := bytes.Count(source, []byte("\n")); n > mostLines {
		list = append(list, fmt.Sprintf("%s has %d lines: at most %d", name, n, mostLines))
	}
	if own > mostImports {
		list = append(list, fmt.Sprintf("%s imports %d packages of facet: at most %d", name, own, mostImports))
	}
	return list, f.Name.Name == "main", nil
}

// An example is small enough to be copied, and writes a page.
func TestLimits(t *testing.T) {
	programs, pages := map[string]int{}, map[string]bool{}
	require.NoError(t, fs.WalkDir(os.DirFS("."), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		list, main, err := faults(name, source)
		if main {
			programs[path.Dir(name)]++
			if bytes.Contains(source, []byte("\"html\", \"\", \"")) {
				pages[path.Dir(name)] = true
			}
			for _, fault := range list {
				t.Error(fault)
			}
		}
		return err
	}))
	require.Greater(t, len(programs), 15)
	for name, n := range programs {
		if most := max(1, files[name]); n > most {
			t.Errorf("%s has %d files: at most %d", name, n, most)
		}
		if pages[name] == (without[name] != "") {
			t.Errorf("%s has a flag -html: %v", name, pages[name])
		}
	}
}

// Too long a file is found, and one that imports too much.
func TestFaults(t *testing.T) {
	source := "package main\n\nimport (\n\t\"fmt\"\n"
	for _, name := range []string{"graph", "vi", "vi/report"} {
		source += "\t\"github.com/facetvi/facet/" + name + "\"\n"
	}
	long := source + ")\n" + strings.Repeat("\n", mostLines-8)
	for text, want := range map[string][]string{
		long:        nil,
		long + "\n": {"main.go has 121 lines: at most 120"},
		source + "\t\"github.com/facetvi/facet/vi/family\"\n)\n": {"main.go imports 4 packages of facet: at most 3"},
	} {
		got, main, err := faults("main.go", []byte(text))
		require.NoError(t, err)
		require.True(t, main)
		require.Equal(t, want, got)
	}
}
