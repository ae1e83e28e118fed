package climb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

var iterationSamples = []int{1, 16, 1000}

// BenchmarkIteration is one iteration of a fit: draws, gradient, Adam's step. θ
// stays where the paper's fits start. BenchmarkFloor is what to compare it with.
func BenchmarkIteration(b *testing.B) {
	for _, model := range floorModels {
		for _, estimator := range []string{"score", "reparam", "boundary", "boundary_single"} {
			for _, n := range iterationSamples {
				b.Run(fmt.Sprintf("model=%s/estimator=%s/N=%d", model, estimator, n), func(b *testing.B) {
					spec, d := paperSpec(b, model)
					q := family.Softplus{}.At(spec.ThetaInit)
					benchmarkIteration(b, d, q, estimator, n)
				})
			}
		}
	}
}

func benchmarkIteration(b *testing.B, d *graph.Density, q family.Q, estimator string, n int) {
	f := newIteration(b, d, q, estimator, n)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.step(); err != nil {
			b.Fatal(err)
		}
	}
}

// newIteration is a fit at q that has taken a step, so that what is made once
// for a fit is made.
func newIteration(b testing.TB, d *graph.Density, q family.Q, estimator string, n int) *fitter {
	b.Helper()
	e, err := gradient.Named(estimator)
	require.NoError(b, err)
	f, err := newFitter(d, newJob(d, Settings{Estimator: e, Samples: n, StepSize: tinyStep, Start: q}))
	require.NoError(b, err)
	require.NoError(b, f.step())
	return f
}

// BenchmarkTape runs the graph of temperature's gradient, one sample, by
// facet's plan and by Gorgonia's TapeMachine.
func BenchmarkTape(b *testing.B) {
	for _, tape := range []bool{false, true} {
		name := map[bool]string{false: "plan", true: "tape"}[tape]
		b.Run("executor="+name, func(b *testing.B) {
			spec, d := paperSpec(b, "temperature")
			x, err := d.Executor(1, graph.Compute{Grad: true, Tape: tape})
			require.NoError(b, err)
			for i := range x.Z {
				x.Z[i] = spec.ThetaInit[2*i]
			}
			d.Arrangement().SignBatch(x.Signs, x.Z, 1)
			b.ReportAllocs()
			for b.Loop() {
				if err := x.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
