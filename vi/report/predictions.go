package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/plot"
)

// A predictionsView is the tables and pictures of new data like those that were observed, and of what the program names.
type predictionsView struct {
	Observations []part // what has few elements
	Data         []figure
	Expressions  []part
	Figures      []figure // of expressions
}

// predictiveDraws is how many draws bands are made of: fewer of programs that predict much.
func predictiveDraws(d *graph.Density) int {
	return max(400, min(4000, 8_000_000/max(1, len(d.Data())+len(d.Deterministics()))))
}

// newPredictions are those of a fit.
func newPredictions(fit *vi.Posterior, vectors []vi.LatentSummary, o Options) (predictionsView, error) {
	if len(fit.Density.Data())+len(fit.Density.Deterministics()) == 0 {
		return predictionsView{}, nil
	}
	r, err := fit.Predict(predictiveDraws(fit.Density), o.Seed)
	if err != nil {
		return predictionsView{Data: []figure{{Caption: "There are no predictions: " + strings.TrimPrefix(err.Error(), "vi: ")}}}, nil
	}
	return predicted(r, vectors, o)
}

// predicted are those of predictive draws. Vectors have a table already.
func predicted(r vi.Predictive, vectors []vi.LatentSummary, o Options) (p predictionsView, err error) {
	if err := p.observations(r, o); err != nil {
		return predictionsView{}, err
	}
	return p, p.expressions(r, vectors, o)
}

func (p *predictionsView) observations(r vi.Predictive, o Options) error {
	var few [][]string
	var list []group // that no name holds together
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
				list = append(list, group{of: []int{len(few)}})
				few = append(few, slices.Insert(row, 1, observed(data[i])))
			}
		} else if len(p.Data) < mostSeries {
			drawn, err := plot.Predictive(r, name, x)
			p.Data = append(p.Data, draw(drawn, err, "The prediction of "+name, within(r, name, x), wideWidth, wideHeight))
		}
	}
	p.Observations = fold(table{Head: []string{"observation", "observed", "mean", "sd", "5 %", "50 %", "95 %"}, Text: 1}, list,
		func(i int) []string { return few[i] }, nil)
	return nil
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

// predictedRows are a row for each element of an observation or a named expression.
func predictedRows(r vi.Predictive, name string) (rows [][]string, err error) {
	draws, err := r.Of(name)
	if err != nil {
		return nil, err
	}
	_, n := draws.Dims()
	for i := range n {
		x := slices.DeleteFunc(mat.Col(nil, i, draws), math.IsNaN)
		row := []string{name}
		if n > 1 {
			row[0] = fmt.Sprintf("%s[%d]", name, i)
		}
		if len(x) == 0 {
			rows = append(rows, append(row, "in no draw", "", "", "", ""))
			continue
		}
		mean, sd := stat.MeanStdDev(x, nil)
		slices.Sort(x)
		q := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, x, nil) }
		format := text.Decimals(sd, mean, q(0.05), q(0.95))
		rows = append(rows, append(row, format(mean), format(sd), format(q(0.05)), format(q(0.5)), format(q(0.95))))
	}
	return rows, nil
}

func (p *predictionsView) expressions(r vi.Predictive, vectors []vi.LatentSummary, o Options) error {
	known := map[string]bool{}
	for _, x := range vectors {
		known[stem(x.Name)] = true
	}
	var all [][]string
	var list []group
	for _, name := range r.Deterministics {
		if known[name] {
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
		if len(rows) >= fewElements && len(p.Figures) < mostSeries {
			drawn, err := plot.Predictive(r, name, x)
			p.Figures = append(p.Figures, draw(drawn, err, "The posterior of "+name, name+", element by element.", wideWidth, wideHeight))
		}
		g := group{name: name}
		for i := range rows {
			g.of = append(g.of, len(all)+i)
		}
		all, list = append(all, rows...), append(list, g)
	}
	p.Expressions = fold(table{Head: []string{"expression", "mean", "sd", "5 %", "50 %", "95 %"}, Text: 1}, list,
		func(i int) []string { return all[i] },
		func(g group) string { return fmt.Sprintf("%s, %d elements", g.name, len(g.of)) })
	return nil
}
