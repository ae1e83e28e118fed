package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/facetvi/facet/examples/answer"
	"github.com/facetvi/facet/examples/models/lynx"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/vi"
)

// report prints the answer.
func report(out io.Writer, fits [2]*vi.Posterior, predicted vi.Predictive) error {
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
	return reportForecast(out, predicted)
}

// A forecast is the mean and the central 90 % of the logarithm of each year from the third on.
type forecast struct{ mean, low, high []float64 }

func forecastOf(predicted vi.Predictive) (f forecast, err error) {
	var errs [3]error
	f.mean, errs[0] = predicted.Mean("x")
	f.low, errs[1] = predicted.Quantile("x", 0.05)
	f.high, errs[2] = predicted.Quantile("x", 0.95)
	return f, errors.Join(errs[:]...)
}

// reportForecast prints the years to come, and when the numbers are highest then.
func reportForecast(out io.Writer, predicted vi.Predictive) error {
	f, err1 := forecastOf(predicted)
	draws, err2 := predicted.Of("x")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	first := len(f.mean) - years
	n, _ := draws.Dims()
	peaks := make([]float64, years)
	for k := range n {
		peaks[floats.MaxIdx(draws.RawRowView(k)[first:])] += 1 / float64(n)
	}
	fmt.Fprintf(out, "\nAfter %.0f lynx in %d expect\n\nyear  lynx  90 %% between   highest of these years\n", lynx.Trapped[len(lynx.Trapped)-1], lynx.FirstYear+len(lynx.Trapped)-1)
	for h, p := range peaks {
		k := first + h
		fmt.Fprintf(out, "%d  %4.0f  %4.0f and %-5.0f  %.2f  %s\n", lynx.FirstYear+2+k, math.Pow(10, f.mean[k]), math.Pow(10, f.low[k]), math.Pow(10, f.high[k]), p, answer.Bar(p))
	}
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

// draw makes the picture: the numbers, what the model predicts from the two
// years before and for the years to come, and the threshold.
func draw(fit *vi.Posterior, predicted vi.Predictive) (*picture.Picture, error) {
	d, err1 := answer.Draws(fit, 4000, 0)
	f, err2 := forecastOf(predicted)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	p := picture.New("Lynx trapped in the Mackenzie River district", "year", "lynx trapped, logarithmic scale")
	x := lynx.Logs(lynx.Trapped)
	var at []float64
	for t := range len(x) + years {
		at = append(at, float64(lynx.FirstYear+t))
	}
	known := len(x) - 2 // of what is predicted
	curve := func(y []float64, from, to int) plotter.XYs { return picture.Points(at[2+from:2+to], y[from:to]) }
	mean, lo, hi := picture.Interval(d["threshold"])
	from, to := at[0], at[len(at)-1]
	err := errors.Join(
		p.Band("threshold, 90 %", plotter.XYs{{X: from, Y: lo}, {X: to, Y: lo}},
			plotter.XYs{{X: from, Y: hi}, {X: to, Y: hi}}, picture.Orange),
		p.Dashed("threshold, mean", plotter.XYs{{X: from, Y: mean}, {X: to, Y: mean}}, picture.Vermilion),
		p.Band("predicted from two years, 90 %", curve(f.low, 0, known), curve(f.high, 0, known), picture.SkyBlue),
		p.Line("predicted, mean", curve(f.mean, 0, known), picture.Blue),
		p.Band("years to come, 90 %", curve(f.low, known, known+years), curve(f.high, known, known+years), picture.Vermilion),
		p.Line("years to come, mean", curve(f.mean, known, known+years), picture.Blue),
		p.Points("trapped", picture.Points(at[:len(x)], x), picture.Black),
	)
	p.X.Tick.Marker = picture.Every(20, int(from), int(to))
	var ticks plot.ConstantTicks
	for _, n := range []int{30, 100, 300, 1000, 3000, 10000} {
		ticks = append(ticks, plot.Tick{Value: math.Log10(float64(n)), Label: strconv.Itoa(n)})
	}
	p.Y.Tick.Marker, p.Y.Min, p.Y.Max = ticks, math.Log10(25), math.Log10(16000)
	return p, err
}
