package vi_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// A drug works from some dose on. From which, and how well?
func Example() {
	dose := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	response := []float64{0.2, -0.4, 0.1, 0.3, -0.2, 0.4, 2.3, 1.7, 2.2, 1.9}

	m := graph.NewModel()
	threshold := m.Sample("threshold", graph.Normal(5, 3))
	without := m.Sample("without", graph.Normal(0, 2))
	with := m.Sample("with", graph.Normal(0, 2))
	for i, x := range dose {
		works := graph.Greater(x, threshold) // the density jumps here
		m.Observe("response", graph.Normal(graph.If(works, with, without), 0.5), response[i])
	}

	density, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range density.Latents() {
		mean, _ := fit.Mean(name)
		sd, _ := fit.SD(name)
		fmt.Printf("%-9s %4.1f ± %.1f\n", name, mean.Value, sd.Value)
	}
	// Output:
	// threshold  6.5 ± 0.3
	// without    0.1 ± 0.2
	// with       2.0 ± 0.3
}

// The README's quick start is the Example above.
func TestREADMEQuickStart(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(readme), "```go\nfunc Example() {\n")
	require.True(t, ok, "README.md has no quick start")
	code, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	require.Contains(t, string(source), "func Example() {\n"+code)
}

// The README's common shapes are parts of examples.
func TestREADMEShapes(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	files, err := filepath.Glob("example_*_test.go")
	require.NoError(t, err)
	var examples strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		examples.Write(text)
	}
	_, shapes, ok := strings.Cut(string(readme), "## Five common shapes\n")
	require.True(t, ok)
	shapes, _, _ = strings.Cut(shapes, "\n## ")
	blocks := strings.Split(shapes, "```go\n")[1:]
	require.Len(t, blocks, 4)
	for _, block := range blocks {
		code, _, ok := strings.Cut(block, "```")
		require.True(t, ok)
		require.LessOrEqual(t, strings.Count(code, "\n"), 10)
		require.Contains(t, examples.String(), code)
	}
}
