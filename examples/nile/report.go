package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/examples/answer"
	"github.com/facetvi/facet/examples/models/nile"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/vi"
)

// km3 is one unit of the model in km³.
const km3 = 10

// A history is one posterior draw: the years of the earlier and the later
// shift, the levels, in km³ a year, and the flow in the year after the last.
type history struct{ early, late, before, middle, after, next float64 }

func histories(fit *vi.Posterior) ([]history, error) {
	d, err := answer.Draws(fit, 10000, 0)
	all := make([]history, len(d["first"]))
	rng := rand.New(rand.NewPCG(0, 0))
	for k, first := range d["first"] {
		second, after := d["second"][k], km3*d["after"][k]
		next := after + km3*d["noise"][k]*rng.NormFloat64()
		all[k] = history{min(first, second), max(first, second), km3 * d["before"][k], km3 * d["middle"][k], after, next}
	}
	return all, err
}

// level is that of a year.
func (h history) level(year float64) float64 {
	switch {
	case year < h.early:
		return h.before
	case year < h.late:
		return h.middle
	}
	return h.after
}

// shifted reports whether year was the last before a shift.
func (h history) shifted(year int) bool { return int(h.early) == year || int(h.late) == year }

// twice reports whether both shifts were of more than 10 km³.
func (h history) twice() bool {
	return min(math.Abs(h.middle-h.before), math.Abs(h.after-h.middle)) > 10 && int(h.early) != int(h.late)
}

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
	for y := nile.FirstYear; y < nile.FirstYear+len(nile.Flow)-1; y++ {
		if q := share(all, func(h history) bool { return h.shifted(y) }); q > p {
			year, p = y, q
		}
	}
	return year, p
}

// report prints the answer, and returns the histories of two shifts.
func report(out io.Writer, fits [3]*vi.Posterior) ([]history, error) {
	shifts, err := vi.Compare(fits[:]...)
	if err != nil {
		return nil, err
	}
	for k, name := range []string{"no shift", "one shift", "two shifts"} {
		shifts.Models[k].Name = name
	}
	fmt.Fprint(out, shifts)
	fmt.Fprintln(out, "\nOne shift.")
	if err := answer.Verdict(out, fits[1]); err != nil {
		return nil, err
	}
	answer.Cells(out, fits[1], 10)
	fmt.Fprintln(out, "\nTwo shifts.")
	if err := answer.Verdict(out, fits[2]); err != nil {
		return nil, err
	}
	all, err := histories(fits[2])
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(out, "last year before a shift  probability")
	for y := nile.FirstYear; y < nile.FirstYear+len(nile.Flow)-1; y++ {
		if p := share(all, func(h history) bool { return h.shifted(y) }); p >= 0.03 {
			fmt.Fprintf(out, "%24d  %5.3f  %s\n", y, p, answer.Bar(p))
		}
	}

	fmt.Fprintln(out, "\nflow in km³ a year    mean    90 % between")
	last := nile.FirstYear + len(nile.Flow) - 1
	for _, row := range []struct {
		text string
		of   func(history) float64
	}{
		{fmt.Sprint("level in ", nile.FirstYear), func(h history) float64 { return h.level(nile.FirstYear) }},
		{fmt.Sprint("level in ", last), func(h history) float64 { return h.level(float64(last)) }},
		{fmt.Sprint("flow in ", last+1), func(h history) float64 { return h.next }},
		{"difference of levels", func(h history) float64 { return h.level(float64(last)) - h.level(nile.FirstYear) }},
	} {
		v := make([]float64, len(all))
		for k, h := range all {
			v[k] = row.of(h)
		}
		mean, lo, hi := picture.Interval(v)
		fmt.Fprintf(out, "%-20s %5.1f    %.1f and %.1f\n", row.text, mean, lo, hi)
	}

	year, p := likeliest(all)
	fmt.Fprintf(out, "\nThe level shifted: one shift is e^%.0f times as probable as none, if both are as probable beforehand.\n", shifts.Models[1].LogBayes.Value-shifts.Models[0].LogBayes.Value)
	fmt.Fprintf(out, "A second one the data do not ask for: two are %.2f times as probable as one.\n", math.Exp(shifts.Models[2].LogBayes.Value-shifts.Models[1].LogBayes.Value))
	fmt.Fprintf(out, "With two shifts one came after %d, with probability %.2f; both are of more than 10 km³ with\n", year, p)
	fmt.Fprintf(out, "probability %.2f only.\n", share(all, history.twice))
	return all, nil
}

// draw makes the picture: the flow, its level, and where it shifted.
func draw(all []history) (*picture.Picture, error) {
	p := picture.New("The Nile at Aswan, two shifts", "year", "flow, km³ a year")
	var years, flows []float64
	for i, v := range nile.Flow {
		years, flows = append(years, float64(nile.FirstYear+i)), append(flows, v/nile.Unit*km3)
	}
	level := picture.CurveOf(years, len(all), func(k int, year float64) float64 { return all[k].level(year) })
	between, shift := make([]float64, len(years)-1), make([]float64, len(years)-1)
	for i := range between {
		between[i] = years[i] + 0.5
		shift[i] = share(all, func(h history) bool { return h.shifted(nile.FirstYear + i) })
	}
	const bottom, top = 40, 145
	err := errors.Join(
		p.Chances("probability of a shift", between, shift, bottom, top, picture.Orange),
		p.Band("level, 90 %", level.Low, level.High, picture.Blue),
		p.Line("level, mean", level.Mean, picture.Blue),
		p.Points("flow", picture.Points(years, flows), picture.Black),
	)
	p.Y.Min, p.Y.Max = bottom, top
	p.X.Tick.Marker = picture.Every(20, nile.FirstYear, 2000)
	return p, err
}
