package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/plot"
)

// Sizes in points: of marginals, of which some stand side by side, and of what is over time.
const (
	smallWidth, smallHeight = 250, 150
	wideWidth, wideHeight   = 370, 200
)

const (
	openMarginals = 12 // that are not folded
	mostMarginals = 60
	mostSeries    = 12 // pictures over time
)

func (v *view) pictures(fit *vi.Posterior, s vi.Summary, o Options) error {
	if len(s.Latents)+len(s.Vectors) > 0 { // else there are no draws
		v.marginals(fit, s)
		if err := v.guardPictures(fit, o); err != nil {
			return err
		}
		if err := v.predictions(fit, s, o); err != nil {
			return err
		}
	}
	if len(fit.Trace) > 1 {
		p, err := plot.ELBO(fit.Trace)
		v.Trace = []figure{draw(p, err, "ELBO over the steps", "The ELBO while the fit climbed.", wideWidth, wideHeight)}
	}
	return nil
}

// draw is a plot as a figure, or why there is none.
func draw(p *gonum.Plot, err error, label, caption string, width, height int) figure {
	var b strings.Builder
	if err == nil {
		err = plot.SVG(&b, p, vg.Length(width), vg.Length(height), label)
	}
	if err != nil {
		return figure{Caption: label + " is not drawn: " + strings.TrimPrefix(err.Error(), "plot: ")}
	}
	return figure{SVG: template.HTML(b.String()), Caption: caption}
}

// marginals are pictures of the latents and components of vectors that are few of their name.
func (v *view) marginals(fit *vi.Posterior, s vi.Summary) {
	marginal := plot.Small(fit)
	all := slices.Concat(s.Latents, s.Vectors)
	for _, g := range groups(len(all), func(i int) string { return all[i].Name }) {
		if len(g.of) >= manyRows {
			v.intervals(fit, all, g)
			continue
		}
		for _, i := range g.of {
			if len(v.Marginals)+len(v.More) == mostMarginals {
				v.NotDrawn++
				continue
			}
			name := all[i].Name
			p, err := marginal(name)
			f := draw(p, err, "The density of "+name, "", smallWidth, smallHeight)
			if len(v.Marginals) < openMarginals {
				v.Marginals = append(v.Marginals, f)
			} else {
				v.More = append(v.More, f)
			}
		}
	}
}

// intervals are a picture of latents that are many of their name.
func (v *view) intervals(fit *vi.Posterior, all []vi.LatentSummary, g group) {
	if len(v.Intervals) == mostSeries {
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
	v.Intervals = append(v.Intervals, draw(p, err, "The intervals of "+g.name, "", wideWidth, wideHeight))
}

func (v *view) guardPictures(fit *vi.Posterior, o Options) error {
	for _, name := range fit.Density.GuardNames() {
		guards := fit.Density.Named(name)
		x, err := o.at(name, len(guards))
		if err != nil {
			return err
		}
		if len(guards) < 3 || len(v.GuardFigures) == mostSeries {
			continue
		}
		p, err := plot.Guards(fit, guards, x)
		v.GuardFigures = append(v.GuardFigures, draw(p, err, "The probability of "+name, fmt.Sprintf("How probable it is that %s holds.", name), wideWidth, wideHeight))
	}
	return nil
}

// predictiveDraws is how many draws bands are made of: fewer of programs that predict much.
func predictiveDraws(d *graph.Density) int {
	return max(400, min(4000, 8_000_000/max(1, len(d.Data())+len(d.Deterministics()))))
}

// predictions are of new data like those that were observed, and of what the program names.
func (v *view) predictions(fit *vi.Posterior, s vi.Summary, o Options) error {
	if len(fit.Density.Data())+len(fit.Density.Deterministics()) == 0 {
		return nil
	}
	r, err := fit.Predict(predictiveDraws(fit.Density), o.Seed)
	if err != nil {
		v.Predictions = []figure{{Caption: "There are no predictions: " + strings.TrimPrefix(err.Error(), "vi: ")}}
		return nil
	}
	return v.predicted(r, s, o)
}

// predicted are tables and pictures of predictive draws.
func (v *view) predicted(r vi.Predictive, s vi.Summary, o Options) error {
	var few [][]string
	for _, name := range r.Observations {
		data, err := r.Data(name)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		x, err := o.at(name, len(data))
		if err != nil {
			return err
		}
		if len(data) < fewElements {
			rows, err := predictedRows(r, name)
			if err != nil {
				return fmt.Errorf("report: %w", err)
			}
			for i, row := range rows {
				few = append(few, slices.Insert(row, 1, observed(data[i])))
			}
		} else if len(v.Predictions) < mostSeries {
			p, err := plot.Predictive(r, name, x)
			v.Predictions = append(v.Predictions, draw(p, err, "The prediction of "+name, within(r, name, x), wideWidth, wideHeight))
		}
	}
	v.Predicted = fold(table{Head: []string{"observation", "observed", "mean", "sd", "5 %", "50 %", "95 %"}, Text: 1}, apart(few),
		func(i int) []string { return few[i] }, nil)
	return v.expressions(r, s, o)
}

// apart are rows that no name holds together.
func apart(rows [][]string) (list []group) {
	for i := range rows {
		list = append(list, group{of: []int{i}})
	}
	return list
}

// fewElements is from how many on something has a picture over time.
const fewElements = 3

func observed(x float64) string {
	if math.IsNaN(x) {
		return "missing"
	}
	return text.Short(x)
}

// within says how the data lie beside the predictions. Elements at the same position are of one observation, on the sides of
// an if for instance, and so are their draws.
func within(r vi.Predictive, name string, x []float64) string {
	draws, err1 := r.Of(name)
	data, err2 := r.Data(name)
	if err1 != nil || err2 != nil {
		return ""
	}
	at := map[float64][]int{}
	for i := range data {
		position := float64(i)
		if x != nil {
			position = x[i]
		}
		at[position] = append(at[position], i)
	}
	n, _ := draws.Dims()
	inside, seen, missing := 0, 0, 0
	for _, elements := range at {
		var all []float64
		for _, i := range elements {
			all = append(all, mat.Col(nil, i, draws)...)
		}
		all = slices.DeleteFunc(all, math.IsNaN)
		y := data[elements[0]]
		switch {
		case math.IsNaN(y):
			missing++
		case 2*len(all) >= n: // else it is mostly in a branch that the program does not take
			slices.Sort(all)
			seen++
			if stat.Quantile(0.05, stat.Empirical, all, nil) <= y && y <= stat.Quantile(0.95, stat.Empirical, all, nil) {
				inside++
			}
		}
	}
	caption := fmt.Sprintf("%s: %d of %d observed lie in the band of 90 %% of the fit's predictions.", name, inside, seen)
	if missing > 0 {
		caption += fmt.Sprintf(" %d are missing.", missing)
	}
	return caption
}

// expressions are tables and pictures of named expressions.
func (v *view) expressions(r vi.Predictive, s vi.Summary, o Options) error {
	vectors := map[string]bool{} // which have a table already
	for _, x := range s.Vectors {
		vectors[stem(x.Name)] = true
	}
	var all [][]string
	var list []group
	for _, name := range r.Deterministics {
		if vectors[name] {
			continue
		}
		rows, err := predictedRows(r, name)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		x, err := o.at(name, len(rows))
		if err != nil {
			return err
		}
		if len(rows) >= fewElements && len(v.ExpressionFigures) < mostSeries {
			p, err := plot.Predictive(r, name, x)
			v.ExpressionFigures = append(v.ExpressionFigures, draw(p, err, "The posterior of "+name, name+", element by element.", wideWidth, wideHeight))
		}
		g := group{name: name}
		for i := range rows {
			g.of = append(g.of, len(all)+i)
		}
		all, list = append(all, rows...), append(list, g)
	}
	v.Expressions = fold(table{Head: []string{"expression", "mean", "sd", "5 %", "50 %", "95 %"}, Text: 1}, list,
		func(i int) []string { return all[i] },
		func(g group) string { return fmt.Sprintf("%s, %d elements", g.name, len(g.of)) })
	return nil
}
