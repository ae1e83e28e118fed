package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/plotter"

	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/examples/restarts"
)

// km3 is one unit of the model in km³.
const km3 = 10

// A history is one posterior draw of the levels, in km³ a year.
type history struct{ first, second, before, middle, after float64 }

func histories(fits []restarts.Explanation) []history {
	d := restarts.Draws(fits, 10000, 0)
	all := make([]history, len(d["first"]))
	for k := range all {
		all[k] = history{d["first"][k], d["second"][k], km3 * d["before"][k], km3 * d["middle"][k], km3 * d["after"][k]}
	}
	return all
}

// level is that of a year.
func (h history) level(year float64) float64 {
	switch {
	case year < h.first:
		return h.before
	case year < h.second:
		return h.middle
	}
	return h.after
}

// shifted reports whether year was the last before a shift.
func (h history) shifted(year int) bool {
	return int(h.first) == year || h.twice() && int(h.second) == year
}

func (h history) twice() bool { return h.second > h.first }

// large reports whether there was a second shift of more than 10 km³.
func (h history) large() bool { return h.twice() && math.Abs(h.after-h.middle) > 10 }

// share of the draws for which f holds.
func share(all []history, f func(history) bool) float64 {
	n := 0
	for _, h := range all {
		if f(h) {
			n++
		}
	}
	return float64(n) / float64(len(all))
}

// likeliest is the likeliest last year before a shift, and its probability.
func likeliest(all []history) (year int, p float64) {
	for y := firstYear; y < firstYear+len(flow)-1; y++ {
		if q := share(all, func(h history) bool { return h.shifted(y) }); q > p {
			year, p = y, q
		}
	}
	return year, p
}

// report prints the answer.
func report(out io.Writer, fits []restarts.Explanation) error {
	fmt.Fprintln(out, "explanation  weight  first shift    second shift   ELBO")
	for i, e := range fits {
		first, err1 := e.Mean("first")
		sd1, err2 := e.SD("first")
		second, err3 := e.Mean("second")
		sd2, err4 := e.SD("second")
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return err
		}
		fmt.Fprintf(out, "%11d  %6.3f  %.1f ± %-4.1f  %.1f ± %-4.1f  %v\n", i+1, e.Weight, first, sd1, second, sd2, e.ELBO)
	}

	all := histories(fits)
	fmt.Fprintln(out, "\nlast year before a shift  probability")
	for y := firstYear; y < firstYear+len(flow)-1; y++ {
		if p := share(all, func(h history) bool { return h.shifted(y) }); p >= 0.03 {
			fmt.Fprintf(out, "%24d  %5.3f  %s\n", y, p, strings.Repeat("█", int(60*p+0.5)))
		}
	}

	fmt.Fprintln(out, "\nflow in km³ a year   mean    90 % between")
	last := firstYear + len(flow) - 1
	for _, row := range []struct {
		text string
		of   func(history) float64
	}{
		{fmt.Sprint("level in ", firstYear), func(h history) float64 { return h.level(firstYear) }},
		{fmt.Sprint("level in ", last), func(h history) float64 { return h.level(float64(last)) }},
		{"difference", func(h history) float64 { return h.level(float64(last)) - h.level(firstYear) }},
	} {
		v := make([]float64, len(all))
		for k, h := range all {
			v[k] = row.of(h)
		}
		mean, lo, hi := picture.Interval(v)
		fmt.Fprintf(out, "%-19s %5.1f    %.1f and %.1f\n", row.text, mean, lo, hi)
	}

	year, p := likeliest(all)
	fmt.Fprintf(out, "\nThe level shifted after %d, with probability %.2f. A second shift of more than 10 km³\n", year, p)
	fmt.Fprintf(out, "has probability %.2f: the data hardly ask for one. After %d steps.\n", share(all, history.large), fits[0].Steps)
	return nil
}

// draw makes the picture: the flow, its level, and where it shifted.
func draw(fits []restarts.Explanation) (*picture.Picture, error) {
	p := picture.New("The Nile at Aswan", "year", "flow, km³ a year")
	all := histories(fits)
	var years, flows []float64
	for i, v := range flow {
		years, flows = append(years, float64(firstYear+i)), append(flows, v/unit*km3)
	}
	level := picture.CurveOf(years, len(all), func(k int, year float64) float64 { return all[k].level(year) })
	year, prob := likeliest(all)
	at := float64(year) + 0.5
	const bottom, top = 40, 145
	err := errors.Join(
		p.Band("level, 90 %", level.Low, level.High, picture.Blue),
		p.Line("level, mean", level.Mean, picture.Blue),
		p.Dashed(fmt.Sprintf("shift after %d, probability %.2f", year, prob),
			plotter.XYs{{X: at, Y: bottom}, {X: at, Y: top}}, picture.Vermillion),
		p.Points("flow", picture.Points(years, flows), picture.Black),
	)
	p.Y.Min, p.Y.Max = bottom, top
	p.X.Tick.Marker = picture.Every(20, firstYear, 2000)
	return p, err
}
