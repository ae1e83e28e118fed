package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/examples/models/coalmining"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/vi"
)

// compare prints how the data look beside data that the fit predicts.
func compare(out io.Writer, predicted vi.Predictive) error {
	low, err1 := predicted.Quantile("disasters", 0.05)
	high, err2 := predicted.Quantile("disasters", 0.95)
	draws, err3 := predicted.Of("disasters")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	inside := 0
	for i, n := range coalmining.Disasters {
		if low[i] <= n && n <= high[i] {
			inside++
		}
	}
	n, years := draws.Dims()
	calm := make([]float64, n) // the share of years without disasters
	for k := range calm {
		calm[k] = 1 - above(draws.RawRowView(k), 0)
	}
	_, lo, hi := picture.Interval(calm)
	all := float64(years)
	fmt.Fprintf(out, "    %d of %d years lie in the band of 90 %% of the fit's predictions\n", inside, years)
	fmt.Fprintf(out, "    %.0f years are without disasters, in 90 %% of the predictions between %.0f and %.0f\n",
		all*(1-above(coalmining.Disasters, 0)), all*lo, all*hi)
	return nil
}

// above is the share of the counts that are above x.
func above(counts []float64, x float64) float64 {
	return float64(floats.Count(func(n float64) bool { return n > x }, counts)) / float64(len(counts))
}

// decide prints what follows for somebody who plans for the years to come.
func decide(out io.Writer, fit *vi.Posterior, predicted vi.Predictive) error {
	left, err1 := predicted.Of("left")
	next, err2 := predicted.Of("disasters")
	change, err3 := fit.Mean("change")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	mean, lo, hi := picture.Interval(mat.Col(nil, 0, left))
	fmt.Fprintf(out, "\nAround %.0f disasters fell to %.0f %% of what they were (90 %% between %.0f and %.0f %%).\n",
		change.Value, 100*mean, 100*lo, 100*hi)

	last := coalmining.FirstYear + len(coalmining.Disasters) - 1
	from, old := coalmining.FirstYear, vi.Estimate{Value: 1}
	for ; from < last && old.Value > 0.01; from++ {
		var err error
		if old, err = fit.ProbNamed("old", from+1-coalmining.FirstYear); err != nil {
			return err
		}
	}
	counts := mat.Col(nil, last-coalmining.FirstYear, next) // a year like the last one
	_, _, ready := picture.Interval(counts)
	fmt.Fprintf(out, "Judge the risk by the years from %d on: by then the old rate was over with probability %.2f.\n", from, 1-old.Value)
	fmt.Fprintf(out, "Be ready for %.0f disasters a year: there are more in %.0f years of 100.\n", ready, 100*above(counts, ready))
	return nil
}

// lastYear is the probability that each year but the last was the last one of the old rate.
func lastYear(fit *vi.Posterior) ([]float64, error) {
	old, err := fit.Probs(fit.Density.Named("old"))
	if err != nil {
		return nil, err
	}
	p := make([]float64, len(coalmining.Disasters)-1)
	for i := range p {
		p[i] = old[i].Value - old[i+1].Value
	}
	return p, nil
}

// draw makes the picture: the counts, the rate, and when it changed.
func draw(fit *vi.Posterior) (*picture.Picture, error) {
	predicted, err := fit.Predict(4000, 0)
	if err != nil {
		return nil, err
	}
	rate, err1 := predicted.Mean("rate")
	low, err2 := predicted.Quantile("rate", 0.05)
	high, err3 := predicted.Quantile("rate", 0.95)
	change, err4 := lastYear(fit)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	years, between := make([]float64, len(coalmining.Disasters)), make([]float64, len(change))
	for i := range years {
		years[i] = float64(coalmining.FirstYear + i)
	}
	copy(between, years)
	floats.AddConst(0.5, between)
	p := picture.New("Disasters in British coal mines", "year", "disasters a year")
	top := slices.Max(coalmining.Disasters) + 0.5
	err = errors.Join(
		p.Chances("probability of the change", between, change, 0, top, picture.Orange),
		p.Band("rate, 90 %", picture.Points(years, low), picture.Points(years, high), picture.Blue),
		p.Line("rate, mean", picture.Points(years, rate), picture.Blue),
		p.Points("count", picture.Points(years, coalmining.Disasters), picture.Black),
	)
	p.Y.Min, p.Y.Max = 0, top
	p.X.Tick.Marker = picture.Every(20, coalmining.FirstYear, 2000)
	return p, err
}
