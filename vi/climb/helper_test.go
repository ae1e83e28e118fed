package climb

import (
	"flag"
	"testing"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/internal/watch"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

func mustCompile(t testing.TB, m *graph.Model) *graph.Density { return vitest.Compile(t, m) }

func paperSpec(t testing.TB, name string) (models.Spec, *graph.Density) { return vitest.Paper(t, name) }

// newJob is a climb of d by the settings that nobody watches.
func newJob(d *graph.Density, s Settings) Job {
	s.Fill(d)
	return Job{Settings: s, Seed: *seed, Watch: watch.New(nil, nil, 0)}
}

// newFitter is the first fit of a climb, from Settings.Start.
func newFitter(d *graph.Density, s Job) (*fitter, error) {
	a, err := New(d, s)
	if err != nil {
		return nil, err
	}
	return a.fitter(0, s.Start)
}
