package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/smc"
)

// A view is a fit as the template shows it.
type view struct {
	Name              string // of one of several models
	Open              bool   // not folded
	Trusted           bool
	Verdict           string // in a word
	Reasons, Try      []string
	Warnings          []string
	Facts             []string
	Params            table
	Latents           []part
	Marginals         []figure
	More              []figure // marginals that are folded
	NotDrawn          int      // marginals
	Intervals         []figure
	Correlations      table
	Cells             []cell
	MoreCells         []cell // that are folded
	CellsNote         string
	Guards            []part
	GuardFigures      []figure
	Predictions       []figure
	Predicted         []part // what has few elements
	Expressions       []part
	ExpressionFigures []figure
	Program           *drawing // nil if there are no draws
	Search            table
	Trace             []figure
}

// A table has names in the first columns, Text of them, and numbers in the others.
type table struct {
	Head []string
	Text int
	Rows [][]string
}

// A part is a table that is folded under its Summary, if that is not empty.
type part struct {
	Summary string
	table
	Note string
}

// A figure is a picture, or why there is none.
type figure struct {
	SVG     template.HTML
	Caption string
}

type cell struct {
	Where, Weight string
	Width         float64 // of its bar, in percent of the first
	Evidence      string
}

func newView(fit *vi.Posterior, o Options) (view, error) {
	if err := check(fit); err != nil {
		return view{}, err
	}
	s := fit.Summary()
	v := view{Trusted: s.Verdict.Trust == vi.TrustFit, Reasons: s.Verdict.Reasons, Try: s.Verdict.Try}
	v.Verdict = "Trust these numbers"
	if !v.Trusted {
		v.Verdict = "Do not trust these numbers"
	}
	said := s.Verdict.String()
	for _, w := range s.Warnings {
		if w != said {
			v.Warnings = append(v.Warnings, w)
		}
	}
	v.Facts = facts(fit, s)
	v.numbers(s)
	v.cells(s)
	v.guards(s)
	v.search(fit, s)
	if err := v.pictures(fit, s, o); err != nil {
		return view{}, err
	}
	if len(s.Latents)+len(s.Vectors) > 0 {
		var err error
		if v.Program, err = newDrawing(fit); err != nil {
			return view{}, err
		}
	}
	return v, nil
}

// facts are a line about the size of things.
func facts(fit *vi.Posterior, s vi.Summary) (list []string) {
	d := fit.Density
	add := func(n int, one, many string) {
		switch n {
		case 0:
		case 1:
			list = append(list, "1 "+one)
		default:
			list = append(list, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(d.Params(), "parameter", "parameters")
	add(d.Dim()-d.Params(), "latent", "latents")
	add(len(d.GuardsByPlane()), "guard", "guards")
	add(s.Observations, "observation", "observations")
	if s.Missing > 0 {
		list[len(list)-1] += fmt.Sprintf(", %d of them missing", s.Missing)
	}
	if e := s.LogEvidence; e != (vi.Estimate{}) && !math.IsNaN(e.Value) {
		list = append(list, "log evidence "+estimate(e))
	}
	return list
}

// numbers are the tables of parameters, latents and vectors.
func (v *view) numbers(s vi.Summary) {
	if len(s.Params) > 0 {
		v.Params = table{Head: []string{"parameter", "value"}, Text: 1}
		for _, p := range s.Params {
			v.Params.Rows = append(v.Params.Rows, []string{p.Name, text.Short(p.Value)})
		}
	}
	for _, list := range [][]vi.LatentSummary{s.Latents, s.Vectors} {
		v.Latents = append(v.Latents, latents(list)...)
	}
	if p := masses(s.Latents); len(p.Rows) > 0 {
		v.Latents = append(v.Latents, p)
	}
	if len(s.Correlations) > 0 {
		v.Correlations = table{Head: []string{"latents", "", "correlation"}, Text: 2}
		for _, c := range s.Correlations {
			v.Correlations.Rows = append(v.Correlations.Rows, []string{c.A, c.B, fmt.Sprintf("%.2f", c.Value)})
		}
	}
}

const (
	manyRows = 8    // of one name are folded
	openRows = 24   // of other names that are not
	mostRows = 2000 // of a table
)

var latentHead = []string{"latent", "mean", "± se", "sd", "5 %", "50 %", "95 %"}

func latents(list []vi.LatentSummary) []part {
	return fold(table{Head: latentHead, Text: 1}, groups(len(list), func(i int) string { return list[i].Name }),
		func(i int) []string { return latentRow(list[i]) },
		func(g group) string { return fmt.Sprintf("%s, %d latents", g.name, len(g.of)) })
}

// fold makes a table of the rows of names that have few, the first of them, and folded ones of the others and of each name that
// has many. A row is that of an element of a group.
func fold(empty table, list []group, row func(i int) []string, summary func(g group) string) (parts []part) {
	few := part{table: empty}
	for _, g := range list {
		var rows [][]string
		for _, i := range g.of {
			rows = append(rows, row(i))
		}
		if len(rows) < manyRows {
			few.Rows = append(few.Rows, rows...)
			continue
		}
		parts = append(parts, part{Summary: summary(g), table: table{empty.Head, empty.Text, rows}})
	}
	if more := len(few.Rows) - openRows; more > 0 {
		rest := part{Summary: fmt.Sprintf("%d more", more), table: table{empty.Head, empty.Text, few.Rows[openRows:]}}
		parts, few.Rows = slices.Insert(parts, 0, rest), few.Rows[:openRows]
	}
	if len(few.Rows) > 0 {
		parts = slices.Insert(parts, 0, few)
	}
	for k := range parts {
		parts[k].cut()
	}
	return parts
}

// cut drops rows that are too many, and says how many.
func (p *part) cut() {
	if n := len(p.Rows) - mostRows; n > 0 {
		p.Rows = p.Rows[:mostRows]
		p.Note = fmt.Sprintf("And %d more.", n)
	}
}

func latentRow(l vi.LatentSummary) []string {
	return append([]string{l.Name}, text.Moments(l.Mean.Value, l.Mean.SE, l.SD.Value, l.SD.SE, l.Q5.Value, l.Q50.Value, l.Q95.Value)...)
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

// A group are rows of one name.
type group struct {
	name string
	of   []int
}

// groups are the rows by name without index or number, in the order of their first.
func groups(n int, name func(int) string) (list []group) {
	at := map[string]int{}
	for i := range n {
		stem := stem(name(i))
		k, ok := at[stem]
		if !ok {
			k = len(list)
			at[stem] = k
			list = append(list, group{name: stem})
		}
		list[k].of = append(list[k].of, i)
	}
	return list
}

// stem is a name without its index or the number at its end.
func stem(name string) string {
	before, _, indexed := strings.Cut(name, "[")
	if !indexed && !strings.Contains(name, ":") { // which the place of a guard has
		before = strings.TrimRight(name, "0123456789")
	}
	return cmp.Or(before, name)
}

const (
	openCells = 12 // that are not folded
	mostCells = 200
)

func (v *view) cells(s vi.Summary) {
	if len(s.Cells) < 2 {
		return
	}
	rest := 0.0
	for k, c := range s.Cells {
		if k >= mostCells {
			rest += c.Weight
			continue
		}
		row := cell{c.Where, text.Probability(c.Weight), 100 * c.Weight / s.Cells[0].Weight, fmt.Sprintf("%.2f", c.LogEvidence.Value)}
		if k < openCells {
			v.Cells = append(v.Cells, row)
		} else {
			v.MoreCells = append(v.MoreCells, row)
		}
	}
	var notes []string
	if more := len(s.Cells) - mostCells; more > 0 {
		notes = append(notes, fmt.Sprintf("And %d more, of weight %s.", more, text.Probability(rest)))
	}
	if s.Tried > 0 {
		note := fmt.Sprintf("The search looked at %d, and left none out.", s.Tried)
		if s.Left > 0 {
			note = fmt.Sprintf("The search looked at %d; those that it left out hold %s of the posterior.", s.Tried, text.Probability(s.Left))
		}
		notes = append(notes, note)
	}
	v.CellsNote = strings.Join(notes, " ")
}

func (v *view) guards(s vi.Summary) {
	v.Guards = fold(table{Head: []string{"guard", "holds where", "probability", "± se"}, Text: 2},
		groups(len(s.Guards), func(i int) string { return s.Guards[i].Name }),
		func(i int) []string {
			g := s.Guards[i]
			return []string{g.Name, g.Condition, text.Probability(g.Prob.Value), fmt.Sprintf("%.1g", g.Prob.SE)}
		},
		func(g group) string {
			low, high := math.Inf(1), math.Inf(-1)
			for _, i := range g.of {
				low, high = min(low, s.Guards[i].Prob.Value), max(high, s.Guards[i].Prob.Value)
			}
			return fmt.Sprintf("%s, %d guards with probabilities from %s to %s", g.name, len(g.of), text.Probability(low), text.Probability(high))
		})
}

// search says how the fit was found.
func (v *view) search(fit *vi.Posterior, s vi.Summary) {
	t := table{Head: []string{"", ""}, Text: 2}
	add := func(name, format string, args ...any) {
		t.Rows = append(t.Rows, []string{name, fmt.Sprintf(format, args...)})
	}
	diagnostics, err := fit.Diagnostics()
	switch {
	case err == nil:
		add("method", "sequential Monte Carlo, by paths that reflect and refract at guards")
		diagnosed(add, diagnostics)
	case s.Tried > 0 || len(s.Cells) > 1:
		add("method", "a normal in each cell, parts of the posterior between which it falls off a cliff")
	default:
		add("method", "one distribution for all of the posterior")
	}
	if s.Tried > 0 && err != nil {
		add("cells", "%d kept of %d tried", len(s.Cells), s.Tried)
	}
	add("seed", "%d", fit.Settings.Seed)
	if fit.Steps > 0 {
		add("steps", "%d", fit.Steps)
	}
	if len(fit.Restarts) > 1 {
		add("restarts", "%d", len(fit.Restarts))
	}
	if s.ELBO != (vi.Estimate{}) {
		add("ELBO", "%s nats", estimate(s.ELBO))
	}
	if s.LogEvidence != (vi.Estimate{}) {
		add("log evidence", "%s nats", estimate(s.LogEvidence))
	}
	if sample, err := fit.Sample(); err == nil {
		add("draws", "%d", sample.Len())
	}
	add("program", "%s", fit.Density.Fingerprint()[:16])
	v.Search = t
}

func diagnosed(add func(name, format string, args ...any), d smc.Diagnostics) {
	if len(d.RHat) > 0 {
		add("R-hat", "%.3f at most; it is to be below 1.01", slices.Max(d.RHat))
		add("effective draws", "%.0f for means and %.0f for tails at least", slices.Min(d.Bulk), slices.Min(d.Tail))
	}
	if d.Gradients > 0 { // the fit is not from a file
		add("gradients", "%d, with %d walls crossed; %.0f %% of the trajectories accepted", d.Gradients, d.Crossings, 100*d.Acceptance)
	}
}

// estimate has as many decimals as its error asks for.
func estimate(e vi.Estimate) string {
	switch {
	case isInfinite(e.Value) || isInfinite(e.SE):
		return "not known"
	case e.SE == 0:
		return text.Short(e.Value)
	}
	return fmt.Sprintf("%s ± %.2g", text.Decimals(e.SE, e.Value)(e.Value), e.SE)
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
		write := text.Decimals(sd, mean, q(0.05), q(0.95))
		rows = append(rows, append(row, write(mean), write(sd), write(q(0.05)), write(q(0.5)), write(q(0.95))))
	}
	return rows, nil
}
