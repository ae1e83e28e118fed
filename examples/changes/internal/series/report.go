package series

import (
	"fmt"

	"github.com/facetvi/facet/vi/report"
)

// Report writes an HTML file of all fits.
func (r *Result) Report(file string, seed uint64) error {
	x := r.Series.X
	if r.Series.Dates {
		x = make([]float64, r.Rows)
		for i, days := range r.Series.X {
			x[i] = 1970 + days/365.2425
		}
	}
	step := (x[len(x)-1] - x[0]) / float64(len(x)-1) // of what is ahead
	for range r.Next {
		x = append(x[:len(x):len(x)], x[len(x)-1]+step)
	}
	o := report.Options{
		Title: fmt.Sprintf("Changes in %s", r.Column),
		About: fmt.Sprintf("How often the level of %s changed, with the likelihood %s, in %d rows by %s.", r.Column, r.Likelihood, r.Rows, r.Series.XName),
		X:     map[string][]float64{"y": x},
		Seed:  seed,
	}
	for k := range r.HowMany {
		o.X[state(k)] = x
	}
	return report.SaveModels(file, r.Models, o)
}
