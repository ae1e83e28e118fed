package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/plot"
	"github.com/facetvi/facet/vi/smc"
)

// A view is a fit as the template shows it.
type view struct {
	Name         string // of one of several models
	Open         bool   // not folded
	Verdict      verdictView
	Facts        []string
	Params       table
	Latents      latentsView
	Explanations explanations
	Guards       guardsView
	Predictions  predictionsView
	Program      *drawing // nil if there are no draws
	Search       table
	Trace        []figure
}

func newView(fit *vi.Posterior, o Options) (v view, err error) {
	if err := check(fit); err != nil {
		return view{}, err
	}
	s := fit.Summary()
	v = view{
		Verdict: newVerdict(s), Facts: facts(fit, s), Params: params(s), Latents: newLatents(fit, s), Explanations: explain(s), Search: search(fit, s),
	}
	drawn := len(v.Latents.Tables) > 0 // else there are no draws
	if v.Guards, err = newGuards(fit, s, o, drawn); err != nil {
		return view{}, err
	}
	if len(fit.Trace) > 1 {
		p, err := plot.ELBO(fit.Trace)
		v.Trace = []figure{draw(p, err, "ELBO over the steps", "The ELBO while the fit climbed.", wideWidth, wideHeight)}
	}
	if !drawn {
		return v, nil
	}
	if v.Predictions, err = newPredictions(fit, s.Vectors, o); err != nil {
		return view{}, err
	}
	v.Program, err = newDrawing(fit)
	return v, err
}

// A verdictView says whether a fit's numbers can be relied on.
type verdictView struct {
	Trusted                bool
	Word                   string
	Reasons, Try, Warnings []string
}

func newVerdict(s vi.Summary) verdictView {
	v := verdictView{Trusted: s.Verdict.Trust == vi.TrustFit, Word: "Trust these numbers", Reasons: s.Verdict.Reasons, Try: s.Verdict.Try}
	if !v.Trusted {
		v.Word = "Do not trust these numbers"
	}
	said := s.Verdict.String()
	for _, w := range s.Warnings {
		if w != said {
			v.Warnings = append(v.Warnings, w)
		}
	}
	return v
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

func params(s vi.Summary) (t table) {
	if len(s.Params) > 0 {
		t = table{Head: []string{"parameter", "value"}, Text: 1}
		for _, p := range s.Params {
			t.Rows = append(t.Rows, []string{p.Name, text.Short(p.Value)})
		}
	}
	return t
}

const (
	openCells = 12 // that are not folded
	mostCells = 200
)

// explanations are the cells of a posterior that has several. Those in More are folded.
type explanations struct {
	Cells, More []cell
	Note        string
}

type cell struct {
	Where, Weight string
	Width         float64 // of its bar, in percent of the first
	Evidence      string
}

func explain(s vi.Summary) (x explanations) {
	if len(s.Cells) < 2 {
		return x
	}
	rest := 0.0
	for k, c := range s.Cells {
		if k >= mostCells {
			rest += c.Weight
			continue
		}
		row := cell{c.Where, text.Probability(c.Weight), 100 * c.Weight / s.Cells[0].Weight, fmt.Sprintf("%.2f", c.LogEvidence.Value)}
		if k < openCells {
			x.Cells = append(x.Cells, row)
		} else {
			x.More = append(x.More, row)
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
	x.Note = strings.Join(notes, " ")
	return x
}

// A guardsView is tables of their probabilities, and pictures of those that have one name.
type guardsView struct {
	Tables  []part
	Figures []figure
}

func newGuards(fit *vi.Posterior, s vi.Summary, o Options, drawn bool) (g guardsView, err error) {
	g.Tables = fold(table{Head: []string{"guard", "holds where", "probability", "± se"}, Text: 2},
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
	for _, name := range fit.Density.GuardNames() {
		if !drawn {
			break
		}
		list := fit.Density.Named(name)
		x, err := o.at(name, len(list))
		if err != nil {
			return guardsView{}, err
		}
		if len(list) < 3 || len(g.Figures) == mostSeries {
			continue
		}
		p, err := plot.Guards(fit, list, x)
		g.Figures = append(g.Figures, draw(p, err, "The probability of "+name, fmt.Sprintf("How probable it is that %s holds.", name), wideWidth, wideHeight))
	}
	return g, nil
}

// search says how the fit was found.
func search(fit *vi.Posterior, s vi.Summary) table {
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
	return t
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
