package vi_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The README's quick start is the package example.
func TestREADMEQuickStart(t *testing.T) {
	_, rest, ok := strings.Cut(read(t, "../README.md"), "```go\nfunc Example() {\n")
	require.True(t, ok, "README.md has no quick start")
	code, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	require.Contains(t, read(t, "example_test.go"), "func Example() {\n"+code)
}

// The README's common shapes are parts of examples, as they stand there.
func TestREADMEShapes(t *testing.T) {
	files, err := filepath.Glob("example_*_test.go")
	require.NoError(t, err)
	var examples strings.Builder
	for _, file := range files {
		examples.WriteString(read(t, file))
	}
	_, shapes, ok := strings.Cut(read(t, "../README.md"), "## Five common shapes\n")
	require.True(t, ok)
	shapes, _, _ = strings.Cut(shapes, "\n## ")
	blocks := blocksOf(shapes)
	require.Len(t, blocks, 4)
	for _, block := range blocks {
		require.LessOrEqual(t, strings.Count(block, "\n"), 10)
		require.Contains(t, examples.String(), block)
	}
}

// All Go code in the README and in docs is of examples that are tested or run: the lines of a block stand in one file, in
// the same order. Lines that check errors may be left out, and comments differ.
func TestPagesAreOfExamples(t *testing.T) {
	var examples [][]string
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		example := strings.HasPrefix(filepath.Base(path), "example") && strings.HasSuffix(path, "_test.go")
		if err == nil && (example || strings.HasPrefix(path, "../examples/") && strings.HasSuffix(path, ".go")) {
			examples = append(examples, linesOf(read(t, path)))
		}
		return err
	})
	require.NoError(t, err)
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	blocks := 0
	for _, page := range append(pages, "../README.md") {
		for _, block := range blocksOf(read(t, page)) {
			blocks++
			lines, most := linesOf(block), 0
			for _, example := range examples {
				most = max(most, inOrder(lines, example))
			}
			if most < len(lines) {
				assert.Fail(t, "no example has this line after those before it", "%s: %s\n%s", page, lines[most], block)
			}
		}
	}
	require.Greater(t, blocks, 20)
}

// Each question has a page, with code that is tested, to which the README and the introduction of a package point.
func TestQuestions(t *testing.T) {
	readme := read(t, "../README.md")
	for page, introduction := range map[string]string{
		"model": "../graph/doc.go", "fit": "doc.go", "trust": "doc.go", "families": "doc.go", "many": "doc.go", "how": "doc.go",
		"learning": "../expect/doc.go",
	} {
		file := "docs/" + page + ".md"
		require.NotEmpty(t, blocksOf(read(t, "../"+file)), page)
		require.Contains(t, readme, "["+file+"]("+file+")")
		require.Contains(t, read(t, introduction), "]: https://github.com/facetvi/facet/blob/main/"+file+"\n")
	}
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// blocksOf are the blocks of Go code in a page.
func blocksOf(page string) (blocks []string) {
	for _, rest := range strings.Split(page, "```go\n")[1:] {
		code, _, _ := strings.Cut(rest, "```")
		blocks = append(blocks, code)
	}
	return blocks
}

var comment = regexp.MustCompile(`(^|\s)//.*`)

// linesOf are the lines of code in a text, without comments and with single spaces.
func linesOf(code string) (lines []string) {
	for line := range strings.Lines(strings.ReplaceAll(code, "context.Background()", "ctx")) {
		if line = strings.Join(strings.Fields(comment.ReplaceAllString(line, "")), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// inOrder is how many of the first lines occur in all, in this order.
func inOrder(lines, all []string) (n int) {
	for _, line := range all {
		if n < len(lines) && line == lines[n] {
			n++
		}
	}
	return n
}
