package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/facetvi/facet/examples/answer"
	"github.com/facetvi/facet/examples/models/lynx"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/vi"
)

// report prints the answer.
func report(out io.Writer, fits [2]*vi.Posterior) error {
	regimes, err1 := vi.Compare(fits[:]...)
	d, err2 := answer.Draws(fits[1], 10000, 0)
	in, err3 := between(fits[1])
	low, err4 := fits[1].Quantile("threshold", 0.05)
	high, err5 := fits[1].Quantile("threshold", 0.95)
	moments, err6 := fits[1].Moments()
	if err := errors.Join(err1, err2, err3, err4, err5, err6, answer.Verdict(out, fits[1])); err != nil {
		return err
	}
	one, two := &regimes.Models[0], &regimes.Models[1]
	one.Name, two.Name = "one regime", "two regimes"
	fmt.Fprintln(out, regimes)
	fmt.Fprintln(out, "threshold    lynx         probability")
	for k, in := range in {
		from := lowest + binWidth*float64(k)
		fmt.Fprintf(out, "%.2f–%.2f  %4.0f–%4.0f  %14.3f  %s\n", from, from+binWidth, math.Pow(10, from), math.Pow(10, from+binWidth), in.Value, answer.Bar(in.Value))
	}

	fmt.Fprintln(out, "\nyear after     constant       × last year    × the year before  noise")
	for _, side := range []string{"low", "high"} {
		var constant, last, before []float64
		for k, pull := range d["pull "+side] {
			constant = append(constant, d["base "+side][k]-pull*lynx.Centre[side])
			last = append(last, 1+d["momentum "+side][k])
			before = append(before, pull-d["momentum "+side][k])
		}
		fmt.Fprintf(out, "%-4s numbers  %s  %s  %s      %s\n", side,
			pm(constant), pm(last), pm(before), pm(d["noise "+side]))
	}

	threshold := moments[0]
	fmt.Fprintf(out, "\nThe threshold is %.2f ± %.2f (90 %% between %.2f and %.2f), that is %.0f lynx (90 %% between %.0f and %.0f).\n",
		threshold.Mean.Value, threshold.SD.Value, low.Value, high.Value,
		math.Pow(10, threshold.Mean.Value), math.Pow(10, low.Value), math.Pow(10, high.Value))
	fmt.Fprintf(out, "Two regimes are %.0f times as probable as one, if both are as probable beforehand.\n", math.Exp(two.LogBayes.Value-one.LogBayes.Value))
	x := lynx.Logs(lynx.Trapped)
	year := lynx.FirstYear + len(x)
	next := picture.CurveOf([]float64{float64(year)}, len(d["threshold"]), forecast(x, d))
	fmt.Fprintf(out, "After %.0f lynx in %d expect %.0f in %d (90 %% between %.0f and %.0f).\n", lynx.Trapped[len(x)-1], year-1,
		math.Pow(10, next.Mean[0].Y), year, math.Pow(10, next.Low[0].Y), math.Pow(10, next.High[0].Y))
	return nil
}

// The threshold's table has bins from lowest on.
const (
	lowest   = 2.7
	binWidth = 0.1
	bins     = 9
)

// between are the probabilities that the threshold is in each bin.
func between(fit *vi.Posterior) (in [bins]vi.Estimate, err error) {
	threshold, _ := fit.Density.Latent("threshold")
	for k := range in {
		from := lowest + binWidth*float64(k)
		if in[k], err = fit.Expect(func(x []float64) float64 {
			if from < x[threshold] && x[threshold] <= from+binWidth {
				return 1
			}
			return 0
		}); err != nil {
			return in, err
		}
	}
	return in, nil
}

// pm is mean ± sd.
func pm(v []float64) string {
	mean, sd := stat.MeanStdDev(v, nil)
	return fmt.Sprintf("%5.2f ± %.2f", mean, sd)
}

// forecast is what draw k predicts for a year from the two years before.
func forecast(x []float64, d map[string][]float64) func(k int, year float64) float64 {
	rng := rand.New(rand.NewPCG(0, 0))
	return func(k int, year float64) float64 {
		t, side := int(year)-lynx.FirstYear, "low"
		if x[t-2] > d["threshold"][k] {
			side = "high"
		}
		growth := d["base "+side][k] + d["momentum "+side][k]*(x[t-1]-x[t-2]) + d["pull "+side][k]*(x[t-2]-lynx.Centre[side])
		return x[t-1] + growth + d["noise "+side][k]*rng.NormFloat64()
	}
}

// draw makes the picture: the numbers, what the model predicts from the two
// years before, and the threshold.
func draw(fit *vi.Posterior) (*picture.Picture, error) {
	d, err := answer.Draws(fit, 4000, 0)
	if err != nil {
		return nil, err
	}
	p := picture.New("Lynx trapped in the Mackenzie River district", "year", "lynx trapped, logarithmic scale")
	x := lynx.Logs(lynx.Trapped)
	var years []float64
	for t := range x {
		years = append(years, float64(lynx.FirstYear+t))
	}
	next := picture.CurveOf(years[2:], len(d["threshold"]), forecast(x, d))
	mean, lo, hi := picture.Interval(d["threshold"])
	from, to := years[0], years[len(years)-1]
	err = errors.Join(
		p.Band("threshold, 90 %", plotter.XYs{{X: from, Y: lo}, {X: to, Y: lo}},
			plotter.XYs{{X: from, Y: hi}, {X: to, Y: hi}}, picture.Orange),
		p.Dashed("threshold, mean", plotter.XYs{{X: from, Y: mean}, {X: to, Y: mean}}, picture.Vermilion),
		p.Band("predicted from two years, 90 %", next.Low, next.High, picture.SkyBlue),
		p.Line("predicted, mean", next.Mean, picture.Blue),
		p.Points("trapped", picture.Points(years, x), picture.Black),
	)
	p.X.Tick.Marker = picture.Every(20, int(from), int(to))
	var ticks plot.ConstantTicks
	for _, n := range []int{30, 100, 300, 1000, 3000, 10000} {
		ticks = append(ticks, plot.Tick{Value: math.Log10(float64(n)), Label: strconv.Itoa(n)})
	}
	p.Y.Tick.Marker, p.Y.Min, p.Y.Max = ticks, math.Log10(25), math.Log10(16000)
	return p, err
}
