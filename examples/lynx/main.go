// Lynx asks at which density the ten-year cycle of the Canadian lynx turns, and what the next years bring, by an autoregression. Each
// year has an if: were there more lynx two years ago than a threshold? With x the logarithm to base 10 of the number trapped,
//
//	x_t − x_{t−1} = base + momentum·(x_{t−1} − x_{t−2}) + pull·(x_{t−2} − centre) + noise
//
// where base, momentum, pull and the noise's scale are others above the threshold than below: H. Tong, Non-linear Time Series (1990).
// The exact posterior of the threshold is 3.226 ± 0.151, the log evidence −0.78, and −5.81 for one regime (main_test.go compares).
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

const first, ahead = 1821, 12 // the year of trapped[0], and how many years to forecast

// Source: C. Elton and M. Nicholson, The ten-year cycle in numbers of the lynx in Canada, Journal of Animal Ecology 11 (1942), 215–244.
var trapped = []float64{
	269, 321, 585, 871, 1475, 2821, 3928, 5943, 4950, 2577, 523, 98, 184, 279, 409, 2285, 2685, 3409, 1824, 409, 151, 45, 68, 213, 546,
	1033, 2129, 2536, 957, 361, 377, 225, 360, 731, 1638, 2725, 2871, 2119, 684, 299, 236, 245, 552, 1623, 3311, 6721, 4254, 687, 255,
	473, 358, 784, 1594, 1676, 2251, 1426, 756, 299, 201, 229, 469, 736, 2042, 2811, 4431, 2511, 389, 73, 39, 49, 59, 188, 377, 1292,
	4031, 3495, 587, 105, 153, 387, 758, 1307, 3465, 6991, 6313, 3794, 1836, 345, 382, 808, 1388, 2713, 3800, 3091, 2985, 3790, 674, 81,
	80, 108, 229, 399, 1132, 2432, 3574, 2935, 1537, 529, 485, 662, 1000, 1590, 2657, 3396,
}

// A law has the mean and the scale of a year's logarithm, given those of the two years before.
type law func(x1, x2 graph.Expr) (mean, scale graph.Expr)

func regime(m *graph.Model, name string, centre float64) law {
	slope := graph.Normal(0, 1)
	base, momentum, pull := m.Sample("base "+name, slope), m.Sample("momentum "+name, slope), m.Sample("pull "+name, slope)
	noise := m.Sample("noise "+name, graph.HalfNormal(0.5))
	return func(x1, x2 graph.Expr) (mean, scale graph.Expr) {
		return graph.Sum(x1, base, graph.Mul(momentum, graph.Sub(x1, x2)), graph.Mul(pull, graph.Sub(x2, centre))), noise
	}
}

// program has one regime or two, and years to come that are missing. In each draw of theirs the year decides which regime comes after it.
func program(regimes, ahead int) *graph.Model {
	m := graph.NewModel()
	var threshold graph.Expr
	var low, high law
	if regimes == 1 {
		low = regime(m, "all", 2.9)
	} else {
		threshold = m.Sample("threshold", graph.Normal(3, 0.5))
		low, high = regime(m, "low", 2.6), regime(m, "high", 3.5)
	}
	x2, x1 := graph.Add(math.Log10(trapped[0]), 0), graph.Add(math.Log10(trapped[1]), 0)
	for t := 2; t < len(trapped)+ahead; t++ {
		x := math.NaN()
		if t < len(trapped) {
			x = math.Log10(trapped[t])
		}
		mean, scale := low(x1, x2)
		if regimes == 2 {
			many := m.Name("high", graph.Greater(x2, threshold)) // the density jumps here
			highMean, highScale := high(x1, x2)
			mean, scale = graph.If(many, highMean, mean), graph.If(many, highScale, scale)
		}
		m.Observe("x", graph.Normal(mean, scale), x)
		x2, x1 = x1, m.Observed("x", t-2)
	}
	return m
}

// fit fits one regime and two, and predicts the years to come by two.
func fit(seed uint64) (regimes vi.Comparison, predicted vi.Predictive, err error) {
	one, err1 := program(1, 0).Compile()
	two, err2 := program(2, 0).Compile()
	next, err3 := program(2, ahead).Compile()
	if err := errors.Join(err1, err2, err3); err != nil {
		return regimes, predicted, err
	}
	programs := []vi.Program{{Name: "one regime", Density: one}, {Name: "two regimes", Density: two}}
	regimes, err = vi.HowMany(context.Background(), programs, vi.Settings{Seed: seed})
	if err == nil {
		predicted, err = regimes.Models[1].Fit.PredictWith(next, 10000, seed)
	}
	return regimes, predicted, err
}

func run(out io.Writer, seed uint64, page string) error {
	regimes, predicted, err := fit(seed)
	if err != nil {
		return err
	}
	low, err1 := predicted.Quantile("x", 0.05)
	high, err2 := predicted.Quantile("x", 0.95)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	fmt.Fprintf(out, "%v\nWith two regimes:\n%v\nlynx, with probability 0.9\n", regimes, regimes.Models[1].Fit.Summary())
	for i := len(trapped) - 2; i < len(low); i++ {
		fmt.Fprintf(out, "%d  %5.0f to %5.0f\n", first+2+i, math.Pow(10, low[i]), math.Pow(10, high[i]))
	}
	if page == "" {
		return nil
	}
	return report.SaveModels(page, regimes, report.Options{Title: "Lynx of the Mackenzie River"})
}

func main() {
	seed := flag.Uint64("seed", 1, "of random numbers")
	page := flag.String("html", "", "`file` for a report")
	flag.Parse()
	if err := run(os.Stdout, *seed, *page); err != nil {
		log.Fatal(err)
	}
}
