package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot/plotter"

	"github.com/facetvi/facet/examples/answer"
	"github.com/facetvi/facet/examples/models/tobit"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/vi"
)

// report prints the answer.
func report(out io.Writer, fit *vi.Posterior) error {
	d, err := answer.Draws(fit, 10000, 0)
	if err := errors.Join(err, answer.Verdict(out, fit)); err != nil {
		return err
	}
	fmt.Fprintln(out, "                                    mean ± sd      90 % between")
	for _, row := range []struct{ name, text string }{
		{"level", "desired at 48 years, ratio 245"},
		{"age", "… for each 10 years more"},
		{"liquidity", "… for each 25 points more"},
		{"spread", "spread between like households"},
		{"limit", "limit"},
	} {
		mean, err1 := fit.Mean(row.name)
		sd, err2 := fit.SD(row.name)
		low, err3 := fit.Quantile(row.name, 0.05)
		high, err4 := fit.Quantile(row.name, 0.95)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return err
		}
		fmt.Fprintf(out, "%-33s %6.2f ± %4.2f   %6.2f and %.2f\n", row.text, mean.Value, sd.Value, low.Value, high.Value)
	}

	smallest := smallestPurchase()
	buys := make([]float64, len(d["limit"])) // the probability that a household in the middle does
	below, falls := 0.0, 0.0
	for k, limit := range d["limit"] {
		buys[k] = distuv.Normal{Mu: d["level"][k], Sigma: d["spread"][k]}.Survival(limit)
		if limit < smallest {
			below += 1 / float64(len(buys))
		}
		if d["age"][k] < 0 {
			falls += 1 / float64(len(buys))
		}
	}
	mean, lo, hi := picture.Interval(buys)
	fmt.Fprintf(out, "\nThe limit is below %.1f, the smallest purchase, with probability %.2f.\n", smallest, below)
	fmt.Fprintf(out, "A household in the middle of the data buys with probability %.2f (90 %% between %.2f and %.2f).\n", mean, lo, hi)
	fmt.Fprintf(out, "Spending falls with age with probability %.2f: twenty households cannot say.\n", falls)
	return nil
}

// smallestPurchase is the least that anybody spent.
func smallestPurchase() float64 {
	var spent []float64
	for _, h := range tobit.Households {
		if h.Spent > 0 {
			spent = append(spent, h.Spent)
		}
	}
	return slices.Min(spent)
}

// draw makes the picture: what was spent and what was desired, by age.
func draw(fit *vi.Posterior) (*picture.Picture, error) {
	d, err := answer.Draws(fit, 4000, 0)
	if err != nil {
		return nil, err
	}
	p := picture.New("Spending on durable goods", "age", "spent, or desired")
	var bought, desires, low, high plotter.XYs
	for i, h := range tobit.Households {
		if h.Spent > 0 {
			bought = append(bought, plotter.XY{X: h.Age, Y: h.Spent})
			continue
		}
		mean, lo, hi := picture.Interval(d[tobit.Desired(i)])
		desires = append(desires, plotter.XY{X: h.Age, Y: mean})
		low, high = append(low, plotter.XY{X: h.Age, Y: lo}), append(high, plotter.XY{X: h.Age, Y: hi})
	}
	const youngest, oldest = 33, 61
	var ages []float64
	for a := youngest; a <= oldest; a++ {
		ages = append(ages, float64(a))
	}
	line := picture.CurveOf(ages, len(d["level"]), func(k int, age float64) float64 {
		return d["level"][k] + d["age"][k]*(age-tobit.MiddleAge)/tobit.AgeUnit
	})
	mean, lo, hi := picture.Interval(d["limit"])
	err = errors.Join(
		p.Band("desired at ratio 245, 90 %", line.Low, line.High, picture.SkyBlue),
		p.Line("mean", line.Mean, picture.Blue),
		p.Band("limit, 90 %", plotter.XYs{{X: youngest, Y: lo}, {X: oldest, Y: lo}},
			plotter.XYs{{X: youngest, Y: hi}, {X: oldest, Y: hi}}, picture.Orange),
		p.Dashed("mean", plotter.XYs{{X: youngest, Y: mean}, {X: oldest, Y: mean}}, picture.Vermilion),
		p.Points("bought", bought, picture.Black),
		p.Bars("", low, high, picture.Grey),
		p.Points("bought nothing: desired, mean and 90 %", desires, picture.Grey),
	)
	p.X.Min, p.X.Max = youngest, oldest
	return p, err
}
