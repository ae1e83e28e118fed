package vi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// change is a series whose rate changes once, at an unknown time.
func change() (*graph.Density, error) {
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, 12))
	before := m.Sample("before", graph.Exponential(0.1))
	after := m.Sample("after", graph.Exponential(0.1))
	for t, n := range []float64{4, 7, 5, 3, 6, 5, 14, 11, 17, 13, 12, 15} {
		rate := graph.If(graph.Greater(when, float64(t)+0.5), before, after)
		m.Observe("count", graph.Poisson(rate), n)
	}
	return m.Compile()
}

// A start by name, for who knows where to look; and a fit that stops by itself.
func ExampleStartAt() {
	d, err := change()
	if err != nil {
		fmt.Println(err)
		return
	}
	start, err := vi.StartAt(d, map[string]float64{"when": 6, "before": 5, "after": 13})
	if err != nil {
		fmt.Println(err)
		return
	}
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: 1, Method: vi.Climb{Start: start, Stop: vi.Automatic}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range d.Latents() {
		mean, _ := fit.Mean(name)
		fmt.Printf("%-6s  %.0f\n", name, mean.Value)
	}
	fmt.Println("warnings:", len(fit.Warnings))
	// Output:
	// when    6
	// before  5
	// after   14
	// warnings: 0
}

// A fit that is interrupted, saved, loaded and resumed is the fit that was not
// interrupted, to the last bit.
func ExamplePosterior_Resume() {
	d, err := change()
	if err != nil {
		fmt.Println(err)
		return
	}
	climb := vi.Climb{Family: family.MeanField{}, Steps: 2000}
	s := vi.Settings{Seed: 1, Method: climb}
	whole, err := vi.Fit(context.Background(), d, s)
	if err != nil {
		fmt.Println(err)
		return
	}

	enough := errors.New("enough for today")
	climb.OnStep = func(step vi.Step) error {
		if step.T == 700 {
			return enough
		}
		return nil
	}
	s.Method = climb
	half, err := vi.Fit(context.Background(), d, s)
	fmt.Println(half.Steps, err)
	var file bytes.Buffer
	if err := half.Save(&file); err != nil {
		fmt.Println(err)
		return
	}

	half, err = vi.Load(&file, d)
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := half.Resume(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Steps, again.Q.Mean(0) == whole.Q.Mean(0))
	// Output:
	// 700 vi: step 700: enough for today
	// 2000 true
}
