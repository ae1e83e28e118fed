package report

import (
	"fmt"
	"slices"

	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/plot"
)

const (
	openMarginals = 12 // that are not folded
	mostMarginals = 60
)

// A latentsView is the tables and pictures of a fit's latents and of the components of vectors.
type latentsView struct {
	Tables          []part
	Marginals, More []figure // more are folded
	NotDrawn        int      // marginals
	Intervals       []figure
	Correlations    table
}

func newLatents(fit *vi.Posterior, s vi.Summary) (l latentsView) {
	for _, list := range [][]vi.LatentSummary{s.Latents, s.Vectors} {
		l.Tables = append(l.Tables, latentTables(list)...)
	}
	if p := masses(s.Latents); len(p.Rows) > 0 {
		l.Tables = append(l.Tables, p)
	}
	if len(s.Correlations) > 0 {
		l.Correlations = table{Head: []string{"latents", "", "correlation"}, Text: 2}
		for _, c := range s.Correlations {
			l.Correlations.Rows = append(l.Correlations.Rows, []string{c.A, c.B, fmt.Sprintf("%.2f", c.Value)})
		}
	}
	if len(l.Tables) > 0 { // else there are no draws
		l.draw(fit, slices.Concat(s.Latents, s.Vectors))
	}
	return l
}

func latentTables(list []vi.LatentSummary) []part {
	return fold(table{Head: []string{"latent", "mean", "± se", "sd", "5 %", "50 %", "95 %"}, Text: 1},
		groups(len(list), func(i int) string { return list[i].Name }),
		func(i int) []string {
			l := list[i]
			return append([]string{l.Name}, text.Moments(l.Mean.Value, l.Mean.SE, l.SD.Value, l.SD.SE, l.Q5.Value, l.Q50.Value, l.Q95.Value)...)
		},
		func(g group) string { return fmt.Sprintf("%s, %d latents", g.name, len(g.of)) })
}

// masses are the probabilities of the values of discrete latents.
func masses(list []vi.LatentSummary) part {
	p := part{table: table{Head: []string{"latent", "value", "probability", "± se"}, Text: 1}}
	for _, l := range list {
		for j, x := range l.Values {
			if m := l.Masses[j]; m.Value >= 0.0005 {
				p.Rows = append(p.Rows, []string{l.Name, text.Short(x), text.Probability(m.Value), fmt.Sprintf("%.1g", m.SE)})
			}
		}
	}
	if len(p.Rows) >= manyRows {
		p.Summary = "Probabilities of values"
	}
	p.cut()
	return p
}

// draw makes pictures: a marginal of each that is one of few of its name, and intervals of those that are many.
func (l *latentsView) draw(fit *vi.Posterior, all []vi.LatentSummary) {
	marginal := plot.Small(fit)
	for _, g := range groups(len(all), func(i int) string { return all[i].Name }) {
		if len(g.of) >= manyRows {
			l.drawIntervals(fit, all, g)
			continue
		}
		for _, i := range g.of {
			if len(l.Marginals)+len(l.More) == mostMarginals {
				l.NotDrawn++
				continue
			}
			name := all[i].Name
			p, err := marginal(name)
			f := draw(p, err, "The density of "+name, "", smallWidth, smallHeight)
			if len(l.Marginals) < openMarginals {
				l.Marginals = append(l.Marginals, f)
			} else {
				l.More = append(l.More, f)
			}
		}
	}
}

// drawIntervals makes a picture of latents that are many of their name.
func (l *latentsView) drawIntervals(fit *vi.Posterior, all []vi.LatentSummary, g group) {
	if len(l.Intervals) == mostSeries {
		return
	}
	var names []string
	for _, i := range g.of[:min(mostRows, len(g.of))] {
		names = append(names, all[i].Name)
	}
	p, err := plot.Intervals(fit, names...)
	if err == nil {
		p.Y.Label.Text = g.name
	}
	l.Intervals = append(l.Intervals, draw(p, err, "The intervals of "+g.name, "", wideWidth, wideHeight))
}
