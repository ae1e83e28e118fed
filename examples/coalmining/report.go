package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"

	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// report prints the answer.
func report(out io.Writer, fit *vi.Posterior, pending []graph.Guard) error {
	p, err := lastYear(fit, pending)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "last year of the old rate  probability")
	for i, p := range p {
		if p >= 0.005 {
			fmt.Fprintf(out, "%25d  %5.3f  %s\n", firstYear+i, p, strings.Repeat("█", int(60*p+0.5)))
		}
	}

	fmt.Fprintln(out, "\n                            mean ± sd     90 % between")
	row := func(name, digits string) error {
		mean, err1 := fit.Mean(name)
		sd, err2 := fit.SD(name)
		lo, err3 := fit.Quantile(name, 0.05)
		hi, err4 := fit.Quantile(name, 0.95)
		fmt.Fprintf(out, digits, mean, sd, lo, hi)
		return errors.Join(err1, err2, err3, err4)
	}
	if err := errors.Join(
		row("before", "disasters a year before   %6.2f ± %.2f   %6.2f and %.2f\n"),
		row("after", "disasters a year after    %6.2f ± %.2f   %6.2f and %.2f\n"),
		row("change", "year of the change        %6.1f ± %.1f    %6.1f and %.1f\n"),
	); err != nil {
		return err
	}

	draws := fit.Draws(4000, 0)
	before, _ := draws.Of("before")
	share, _ := draws.Of("after")
	for k := range share {
		share[k] *= 100 / before[k]
	}
	mean, lo, hi := picture.Interval(share)
	change, _ := fit.Mean("change")
	elbo, err := fit.ELBO(10000, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nAround %.0f disasters fell to %.0f %% of what they were (90 %% between %.0f and %.0f %%).\n",
		change, mean, lo, hi)
	fmt.Fprintf(out, "The best of %d starts, after %d steps; ELBO %v.\n", len(starts(fit.Density)), fit.Steps, elbo)
	return nil
}

// lastYear is the probability that each year but the last was the last one of
// the old rate.
func lastYear(fit *vi.Posterior, pending []graph.Guard) ([]float64, error) {
	p := make([]float64, len(pending)-1)
	for i := range p {
		now, err1 := fit.Prob(pending[i])
		later, err2 := fit.Prob(pending[i+1])
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		p[i] = now - later
	}
	return p, nil
}

// draw makes the picture: the counts, the rate, and when it changed.
func draw(fit *vi.Posterior) (*picture.Picture, error) {
	p := picture.New("Disasters in British coal mines", "year", "disasters a year")
	var years []float64
	for i := range disasters {
		years = append(years, float64(firstYear+i))
	}
	draws := fit.Draws(4000, 0)
	before, _ := draws.Of("before")
	after, _ := draws.Of("after")
	change, _ := draws.Of("change")
	rate := picture.CurveOf(years, len(change), func(k int, year float64) float64 {
		if year < change[k] {
			return before[k]
		}
		return after[k]
	})
	mean, lo, hi := picture.Interval(change)
	top := slices.Max(disasters) + 0.5
	err := errors.Join(
		p.Band("change, 90 %", plotter.XYs{{X: lo}, {X: hi}}, plotter.XYs{{X: lo, Y: top}, {X: hi, Y: top}}, picture.Orange),
		p.Dashed(fmt.Sprintf("change, mean %.0f", mean), plotter.XYs{{X: mean}, {X: mean, Y: top}}, picture.Vermillion),
		p.Band("rate, 90 %", rate.Low, rate.High, picture.Blue),
		p.Line("rate, mean", rate.Mean, picture.Blue),
		p.Points("count", picture.Points(years, disasters), picture.Black),
	)
	p.Y.Min, p.Y.Max = 0, top
	p.X.Tick.Marker = picture.Every(20, firstYear, 2000)
	return p, err
}
