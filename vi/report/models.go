package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/plot"
)

// WriteModels writes the report of a comparison: how probable each model is, and below that the report of each fit, folded but
// for the most probable one. Options hold for all fits.
func WriteModels(w io.Writer, c vi.Comparison, o Options) error {
	d := document{Title: cmp.Or(o.Title, "Models of the same data"), About: o.About}
	m := &models{table: table{Head: []string{"model", "log evidence", "prior", "probability", "± se", "verdict"}, Text: 1}, Trusted: true}
	if len(c.Models) == 0 {
		return errors.New("report: no models")
	}
	for _, warning := range c.Warnings {
		m.Warnings = append(m.Warnings, strings.ReplaceAll(warning, "\n", "; "))
	}
	likely := 0
	for k, x := range c.Models {
		if x.Prob.Value > c.Models[likely].Prob.Value {
			likely = k
		}
	}
	for k, x := range c.Models {
		v, err := newView(x.Fit, o) // with an error for a nil fit
		if err != nil {
			return fmt.Errorf("%s: %w", x.Name, err)
		}
		v.Name, v.Open = x.Name, k == likely
		m.Trusted = m.Trusted && x.Trust == vi.TrustFit
		d.Fits = append(d.Fits, v)
		m.Rows = append(m.Rows, []string{x.Name, estimate(x.LogEvidence), text.Probability(x.Prior), text.Probability(x.Prob.Value),
			fmt.Sprintf("%.1g", x.Prob.SE), string(x.Trust)})
	}
	m.Best = fmt.Sprintf("The most probable model is “%s”, with probability %s.", c.Models[likely].Name, text.Probability(c.Models[likely].Prob.Value))
	p, err := plot.Models(c)
	m.Figures = []figure{draw(p, err, "The probabilities of the models", "", wideWidth, wideHeight)}
	if err := m.averaged(c, o); err != nil {
		return err
	}
	d.Models = m
	return write(w, d)
}

// averaged are predictions by all models, as probable as they are.
func (m *models) averaged(c vi.Comparison, o Options) error {
	d := c.Models[c.Best].Fit.Density
	r, err := c.Predict(predictiveDraws(d), o.Seed)
	if err != nil { // they have nothing in common, or too little is known of one
		m.Warnings = append(m.Warnings, "no averaged predictions: "+strings.TrimPrefix(err.Error(), "vi: "))
		return nil
	}
	m.Averaged, err = predicted(r, nil, o)
	return err
}

// SaveModels is WriteModels to a file, which is replaced.
func SaveModels(file string, c vi.Comparison, o Options) error {
	return save(file, func(w io.Writer) error { return WriteModels(w, c, o) })
}
