// Thermostat tunes a heater with hysteresis, as the case study of DeGAS does (Randone, Doz, Tribastone and Bortolussi, 2026,
// src/REACHABILITY/Thermostat.ipynb of github.com/frarandone/DeGAS):
//
//	T_0 ~ Normal(30, 1), heater off;   T_t ~ Normal(0.9·T_t−1 + 3·on_t−1, 0.1)
//	on_t = on_t−1, but true where T_t < low, and false where T_t > high
//
// Wanted are the thresholds, low and high, at which the room is likeliest to be at 20 ± 0.1 degrees with the heater on after steps 6, 18 and 24, all three.
// DeGAS smooths the ifs and follows a surrogate of that probability. Here the event is data, a normal around 20 with the variance of 20 ± 0.1, and
// its evidence is climbed through the ifs: automatic differentiation would leave the thresholds where they are. How often the event happens
// then is simulated; the tests compare with its exact probability, and the largest there is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/report"
)

const steps, kept, heat, noise, target, within = 24, 0.9, 3.0, 0.1, 20.0, 0.1

// Where DeGAS starts, and where it ends after 200 steps.
var start, degas = [2]float64{16.5, 22}, [2]float64{16.9157, 21.5852}

func hits(t int) bool { return t == 6 || t == 18 || t == 24 }

// program is the heater, with what is wanted of it as data.
func program(at [2]float64) (*graph.Density, error) {
	m := graph.NewModel()
	low, high := m.Param("low", at[0], graph.Scale(1)), m.Param("high", at[1], graph.Scale(1))
	temperature := m.Sample("T[0]", graph.Normal(30, 1))
	mean := graph.Mul(kept, temperature)
	var on graph.Guard
	for t := 1; t <= steps; t++ {
		temperature = m.Sample(fmt.Sprintf("T[%d]", t), graph.Normal(mean, noise))
		cold := graph.Less(temperature, low)
		if t == 1 {
			on = cold
		} else {
			on = graph.Or(cold, graph.And(on, graph.Not(graph.Greater(temperature, high))))
		}
		mean = graph.Add(graph.Mul(kept, temperature), graph.If(on, heat, 0))
		if hits(t) {
			m.Observe("room", graph.Normal(temperature, within/math.Sqrt(3)), target)
			m.Observe("heater", graph.Bernoulli(graph.If(on, 0.999, 0.001)), 1)
		}
	}
	return m.Compile()
}

// frequency is how often the event happens among n simulations.
func frequency(at [2]float64, n int, rng *rand.Rand) float64 {
	happened := 0
	for range n {
		temperature, on, fails := 30+rng.NormFloat64(), false, false
		for t := 1; t <= steps && !fails; t++ {
			temperature = kept*temperature + noise*rng.NormFloat64()
			if on {
				temperature += heat
			}
			on = temperature < at[0] || on && temperature <= at[1]
			fails = hits(t) && !(on && math.Abs(temperature-target) <= within)
		}
		if !fails {
			happened++
		}
	}
	return float64(happened) / float64(n)
}

func run(out io.Writer, seed uint64, most int, html string) error {
	d, err := program(start)
	if err != nil {
		return err
	}
	fit, err := vi.Fit(context.Background(), d, vi.Settings{Seed: seed, Method: vi.Climb{Steps: most, Stop: vi.Automatic}})
	if err != nil {
		return err
	}
	found, err := thresholds(fit)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-26s %6s %7s   runs of 100 000 that are at 20 ± 0.1 degrees and heated all three times\n", "thresholds", "low", "high")
	line := func(what string, at [2]float64) {
		fmt.Fprintf(out, "%-26s %6.2f %7.2f   %.0f\n", what, at[0], at[1], 1e5*frequency(at, 1e5, rand.New(rand.NewPCG(seed, 1))))
	}
	line("start", start)
	line("as DeGAS tunes them", degas)
	line("learned through the ifs", found)
	if html != "" {
		return report.Save(html, fit, report.Options{Title: "A heater that is to be at 20 degrees", Seed: seed})
	}
	return nil
}

// thresholds are those that a fit has learned.
func thresholds(fit *vi.Posterior) ([2]float64, error) {
	low, err1 := fit.Param("low")
	high, err2 := fit.Param("high")
	return [2]float64{low, high}, errors.Join(err1, err2)
}

func main() {
	seed, most := flag.Uint64("seed", 1, "of random numbers"), flag.Int("steps", 3000, "at most")
	html := flag.String("html", "", "write a report of the fit to this `file`")
	flag.Parse()
	if err := run(os.Stdout, *seed, *most, *html); err != nil {
		log.Fatal(err)
	}
}
