// Tobit asks how much households want to spend on durable goods, when all that is known of those who bought nothing is that they wanted
// to spend less than some limit: the smallest purchase that is worth making. Tobin (1958) took the limit to be 0; here it is a latent.
//
//	level, age, liquidity ~ Normal(0, 5)
//	spread                ~ HalfNormal(5)
//	limit                 ~ Normal(0, 1)
//	desired_i             ~ Normal(level + age·a_i + liquidity·l_i, spread)
//	bought_i              ~ Bernoulli(0.99 if desired_i > limit, else 0.01)
//
// with a_i in tens of years and l_i in 25 points of the liquidity ratio, both from the middle of the data. Whoever bought has spent what
// was desired; for the others it is a latent. One record in a hundred may be wrong. With none, the limit could not be above the smallest
// purchase, and its likelihood is greatest there (Carson and Sun, Econometrics Journal 10, 2007). The exact answer, by integration,
// is in main_test.go.
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

// A household of J. Tobin, Estimation of relationships for limited dependent variables, Econometrica 26 (1958), 24–36.
type household struct {
	spent     float64 // on durable goods; 0 if it bought none
	age       float64 // of its head, in years
	liquidity float64 // liquid assets over income, times 1000
}

var households = []household{
	{0, 57.7, 236}, {0.7, 50.9, 283}, {0, 48.5, 207}, {0, 41.7, 220}, {0, 47.7, 238},
	{0, 59.8, 216}, {0, 44.3, 284}, {3.7, 45.1, 221}, {0, 51.7, 275}, {3, 50, 269},
	{10.4, 46.8, 207}, {0, 58, 249}, {0, 58.9, 246}, {0, 40, 277}, {1.5, 34.1, 231},
	{0, 39.9, 219}, {0, 33.4, 240}, {3.5, 48.1, 266}, {6.1, 46.6, 214}, {0, 53.1, 251},
}

func program() *graph.Model {
	m := graph.NewModel()
	coefficient := graph.Normal(0, 5)
	level, age, liquidity := m.Sample("level", coefficient), m.Sample("age", coefficient), m.Sample("liquidity", coefficient)
	spread := m.Sample("spread", graph.HalfNormal(5))
	limit := m.Sample("limit", graph.Normal(0, 1))

	for i, h := range households {
		byAge, byLiquidity := graph.Mul(age, (h.age-48)/10), graph.Mul(liquidity, (h.liquidity-245)/25)
		wish := graph.Normal(graph.Sum(level, byAge, byLiquidity), spread)
		var desired graph.Expr
		if h.spent > 0 {
			m.Observe("spent", wish, h.spent)
			desired = graph.Add(h.spent, 0)
		} else {
			desired = m.Sample(fmt.Sprintf("desired[%d]", i), wish)
		}
		enough := m.Name("enough", graph.Greater(desired, limit)) // the density jumps here
		m.Observe("bought", graph.Bernoulli(graph.If(enough, 0.99, 0.01)), math.Min(1, math.Ceil(h.spent)))
	}
	m.Deterministic("buys", graph.Exp(graph.LogCCDF(graph.Normal(level, spread), limit))) // a household in the middle
	return m
}

func run(out io.Writer, seed uint64, page string) error {
	density, err := program().Compile()
	if err != nil {
		return err
	}
	fit, err := vi.Fit(context.Background(), density, vi.Settings{Seed: seed})
	if err != nil {
		return err
	}
	summary, err1 := fit.Summary().Of("level", "age", "liquidity", "spread", "limit")
	predicted, err2 := fit.Predict(10000, seed)
	below, err3 := fit.Expect(func(x []float64) float64 { return indicator(x[4] < 0.7) }) // limit, in the order of sampling
	falls, err4 := fit.Expect(func(x []float64) float64 { return indicator(x[1] < 0) })
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	low, err1 := predicted.Quantile("buys", 0.05)
	half, err2 := predicted.Quantile("buys", 0.5)
	high, err3 := predicted.Quantile("buys", 0.95)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	fmt.Fprintf(out, "%v\nThe limit is below 0.7, the smallest purchase, with probability %.3f.\n", summary, below.Value)
	fmt.Fprintf(out, "A household in the middle of the data buys with probability %.2f (90 %% between %.2f and %.2f).\n", half[0], low[0], high[0])
	fmt.Fprintf(out, "Spending falls with age with probability %.2f: twenty households cannot say.\n", falls.Value)
	if page == "" {
		return nil
	}
	return report.Save(page, fit, report.Options{Title: "Spending on durable goods"})
}

func indicator(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

func main() {
	seed := flag.Uint64("seed", 1, "of random numbers")
	page := flag.String("html", "", "`file` for a report")
	flag.Parse()
	if err := run(os.Stdout, *seed, *page); err != nil {
		log.Fatal(err)
	}
}
