// Nile asks whether the river's yearly flow at Aswan shifted to another level between 1871 and 1970, how often and when, and what
// comes next. There are three programs, with no, one and two shifts. Each year has an if for each shift: is it still to come?
//
//	first, second         ~ Uniform(1871, 1970)
//	before, middle, after ~ Normal(90, 20)               km³ a year
//	noise                 ~ HalfNormal(20)
//	flow_y                ~ Normal(level, noise), where the level is before, middle or after
//	    if none, one or both of the shifts have come by y
//
// By enumeration (main_test.go) one shift is e^21.5 times as probable as none, and two are .62 times as probable as one.
package main

import (
	"context"
	"errors"
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

const first = 1871 // the year of flow[0]

// flow is in km³ a year. Source: G. W. Cobb, The problem of the Nile, Biometrika 65 (1978), 243–251; data set Nile of R.
var flow = []float64{
	112, 116, 96.3, 121, 116, 116, 81.3, 123, 137, 114, 99.5, 93.5, 111, 99.4, 102, 96, 118, 79.9, 95.8, 114, 110, 121, 115, 125, 126, 122,
	103, 110, 77.4, 84, 87.4, 69.4, 94, 83.3, 70.1, 91.6, 69.2, 102, 105, 96.9, 83.1, 72.6, 45.6, 82.4, 70.2, 112, 110, 83.2, 76.4, 82.1,
	76.8, 84.5, 86.4, 86.2, 69.8, 84.5, 74.4, 79.6, 104, 75.9, 78.1, 86.5, 84.5, 94.4, 98.4, 89.7, 82.2, 101, 77.1, 67.6, 64.9, 84.6, 81.2,
	74.2, 80.1, 104, 86, 87.4, 84.8, 89, 74.4, 74.9, 83.8, 105, 91.8, 98.6, 79.7, 92.3, 97.5, 81.5, 102, 90.6, 90.1, 117, 91.2, 74.6, 91.9,
	71.8, 71.4, 74,
}

// program has the given number of shifts.
func program(shifts int) *graph.Model {
	m := graph.NewModel()
	names := []string{"first", "second"}[:shifts]
	var when, levels []graph.Expr
	for _, name := range names {
		when = append(when, m.Sample(name, graph.Uniform(first, first+len(flow)-1)))
	}
	for _, name := range [][]string{{"before"}, {"before", "after"}, {"before", "middle", "after"}}[shifts] {
		levels = append(levels, m.Sample(name, graph.Normal(90, 20)))
	}
	noise := m.Sample("noise", graph.HalfNormal(20))
	for i := range len(flow) + 1 {
		var ahead []graph.Guard
		for k, name := range names {
			ahead = append(ahead, m.Name(name+" ahead", graph.Greater(when[k], first+i)))
		}
		measured := math.NaN() // the year after the last
		if i < len(flow) {
			measured = flow[i]
		}
		m.Observe("flow", graph.Normal(m.Deterministic("level", levelOf(ahead, levels)), noise), measured)
	}
	return m
}

// levelOf is levels[k] after k of the shifts, given which are still ahead.
func levelOf(ahead []graph.Guard, levels []graph.Expr) graph.Expr {
	if len(ahead) == 0 {
		return levels[0]
	}
	return graph.If(ahead[0], levelOf(ahead[1:], levels), levelOf(ahead[1:], levels[1:]))
}

func compare(seed uint64) (c vi.Comparison, err error) {
	var programs []vi.Program
	for shifts, name := range []string{"no shift", "one shift", "two shifts"} {
		density, err := program(shifts).Compile()
		if err != nil {
			return c, err
		}
		programs = append(programs, vi.Program{Name: name, Density: density, Prior: 1})
	}
	return vi.HowMany(context.Background(), programs, vi.Settings{Seed: seed})
}

func run(out io.Writer, seed uint64, page string) error {
	shifts, err := compare(seed)
	if err != nil {
		return err
	}
	one, err := shifts.Models[1].Fit.Summary().Of("first", "before", "after", "noise")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%v\nWith one shift:\n%v\n", shifts, one)
	predicted, err := shifts.Predict(40000, seed) // by all three programs, as probable as they are
	if err != nil {
		return err
	}
	for _, name := range []string{"level", "flow"} {
		low, err1 := predicted.Quantile(name, 0.05)
		high, err2 := predicted.Quantile(name, 0.95)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		fmt.Fprintf(out, "The %s of %d is between %.0f and %.0f km³ with probability 0.9.\n", name, first+len(flow), low[len(flow)], high[len(flow)])
	}
	if page == "" {
		return nil
	}
	return report.SaveModels(page, shifts, report.Options{Title: "The Nile at Aswan", From: first})
}

func main() {
	seed := flag.Uint64("seed", 1, "of random numbers")
	page := flag.String("html", "", "`file` for a report")
	flag.Parse()
	if err := run(os.Stdout, *seed, *page); err != nil {
		log.Fatal(err)
	}
}
