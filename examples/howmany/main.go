// Howmany asks how often the slope of a series has changed, and what comes next: programs with no, one and more changes are fitted side by
// side, and their forecasts averaged by their probabilities.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/report"
)

// series rises, falls from about time 12 on, and hardly changes from about time 27 on, with noise of standard deviation 1.
var series = []float64{
	1.3, 0.8, 3.5, 2.4, 4.7, 5.9, 5.2, 8.1, 7.6, 9.9, 10.1, 11.8, 11.5, 10.3, 9.8, 7.4, 8.2, 6.1, 5.9, 3.7, 4.5, 2.4, 1.6, 0.2, 0.9, -1.1, -0.6, -2.1,
	-1.8, -2.3, -1.4, -2.9, -2.0, -1.5, -2.6,
}

const ahead = 8 // times to forecast

// program is a line whose slope changes k times.
func program(k int) (*graph.Density, error) {
	m := graph.NewModel()
	n := float64(len(series))
	level, slope := m.Sample("level", graph.Normal(0, 10)), m.Sample("slope", graph.Normal(0, 1))
	noise := m.Sample("noise", graph.HalfNormal(3))
	var when, change []graph.Expr
	if k > 0 {
		when = m.SampleVector("when", graph.Ordered(k, graph.Uniform(0, n)))
		change = m.SampleN("change", k, graph.Normal(0, 1))
	}
	for t := range len(series) + ahead {
		x, y := float64(t), math.NaN() // not observed yet
		if t < len(series) {
			y = series[t]
		}
		mean := graph.Add(level, graph.Mul(slope, x))
		for j, w := range when {
			mean = graph.Add(mean, graph.If(graph.Less(w, x), graph.Mul(change[j], graph.Sub(x, w)), 0))
		}
		m.Observe("y", graph.Normal(mean, noise), y)
	}
	return m.Compile()
}

func run(ctx context.Context, out io.Writer, most int, page string) error {
	var programs []vi.Program
	for k := range most + 1 {
		density, err := program(k)
		if err != nil {
			return err
		}
		programs = append(programs, vi.Program{Name: fmt.Sprintf("changes: %d", k), Density: density, Prior: math.Pow(0.5, float64(k))})
	}
	models, err := vi.HowMany(ctx, programs, vi.Settings{Seed: 1, Progress: os.Stderr})
	if err != nil {
		return err
	}
	fmt.Fprint(out, models)
	noise, err := models.Moments("noise")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe noise has standard deviation %.2f ± %.2f.\n", noise.Mean.Value, noise.SD.Value)
	forecast, err := models.Predict(4000, 1)
	if err != nil {
		return err
	}
	low, err := forecast.Quantile("y", 0.05)
	if err != nil {
		return err
	}
	high, err := forecast.Quantile("y", 0.95)
	if err != nil {
		return err
	}
	last := len(series) + ahead - 1
	fmt.Fprintf(out, "At time %d, %d after the last, it will be between %.1f and %.1f with probability 0.9.\n", last, ahead, low[last], high[last])
	fmt.Fprintf(out, "How the most probable program predicts each number from the others: %v", models.Models[models.Best].LOO)
	if page == "" {
		return nil
	}
	return report.SaveModels(page, models, report.Options{Title: "How often has the slope changed?"})
}

func main() {
	most, page := flag.Int("most", 2, "changes, at most"), flag.String("html", "", "`file` for a report")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *most, *page); err != nil {
		log.Fatal(err)
	}
}
