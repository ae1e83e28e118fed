package evaluation

import (
	"bytes"
	_ "embed"
	"fmt"
	htmltemplate "html/template"
	"maps"
	"slices"
	"strings"
	"text/template"
)

//go:embed report.html.tmpl
var htmlReport string

//go:embed report.md.tmpl
var markdownReport string

// A document is what the templates are given.
type document struct {
	*summary
	Caption     string
	Short       string // a warning if the runs are shorter than the paper's
	Tables      []table
	Differences []string
	Reasons     []string
	Facts       [][2]string
	SVG         htmltemplate.HTML // of the figure, made here
}

// paperSteps is how long the paper's runs are.
const paperSteps = 10000

func (s *summary) document(svg []byte) document {
	return document{
		summary: s, Caption: caption, Tables: s.tables(), Differences: s.differences(), Reasons: reasons(),
		Short: s.short(), Facts: s.facts(), SVG: htmltemplate.HTML(inline(svg)),
	}
}

// short is a warning about runs that are shorter than the paper's, or "".
func (s *summary) short() string {
	if s.Settings.Steps >= paperSteps {
		return ""
	}
	return fmt.Sprintf("These runs have %d iterations; the paper's, and its claims, are of %d, and verdicts on shorter ones may be noise.",
		s.Settings.Steps, paperSteps)
}

const caption = "The ELBO against the iteration, in closed form; higher is better. Thin and pale is the same by Monte Carlo, as in the paper: " +
	"it lies under the closed form, but for temperature, where it misses rare events that cost much. " +
	"The axis is the distance in nats from the optimum, logarithmic, and linear near the optimum. " + optimumNote +
	" A cross would mark a run that diverged."

// optimumNote is what the optima are; vi.Fit's own start reaches −39.4.
const optimumNote = "The optimum is what BFGS climbs to on the closed form from the paper's start: the best known for temperature and textmsg, " +
	"a local one for influenza, where −39.4 can be reached from elsewhere."

// inline is an SVG file without what may only stand at a file's beginning, named
// for those who do not see it.
func inline(svg []byte) string {
	_, body, _ := strings.Cut(string(svg), "<svg")
	return `<svg role="img" aria-label="Panels of ELBO against iteration; the numbers are in the tables"` + body
}

// facts are how the numbers were made.
func (s *summary) facts() [][2]string {
	set := s.Settings
	facts := [][2]string{
		{"models", strings.Join(set.Models, ", ")},
		{"estimators", strings.Join(set.Estimators, ", ")},
		{"optimiser", "Adam, step sizes " + joined(set.StepSizes)},
		{"samples in a gradient, N", joined(set.Samples)},
		{"iterations", fmt.Sprint(set.Steps)},
		{"seed", fmt.Sprint(set.Seed)},
		{"ELBO", fmt.Sprintf("every %d iterations, %d draws, and in closed form", elboEvery, elboDraws)},
		{"variance", fmt.Sprintf("every iteration at N = 1, %d gradients", varianceDraws)},
		{"time", fmt.Sprintf("%.1f s in all; %d runs, of which %d were there from an earlier call, took %.1f s together", s.Total, len(s.Runs), s.Reused, s.ofRuns())},
		{"processor", fmt.Sprintf("%s, %d cores, GOMAXPROCS %d", s.Machine.CPU, s.Machine.Cores, s.Machine.Processors)},
		{"system", s.Machine.OS},
		{"Go", s.Machine.Go},
	}
	for _, name := range slices.Sorted(maps.Keys(s.Machine.Modules)) {
		facts = append(facts, [2]string{name, s.Machine.Modules[name]})
	}
	return facts
}

// ofRuns is the sum of the runs' durations in seconds.
func (d Durations) ofRuns() (sum float64) {
	for _, r := range d.Runs {
		sum += r.Seconds
	}
	return sum
}

func joined[T any](all []T) string {
	var parts []string
	for _, x := range all {
		parts = append(parts, fmt.Sprint(x))
	}
	return strings.Join(parts, ", ")
}

// write writes the figure and the report in both forms.
func (s *summary) write(to *store) error {
	png, svg, err := s.figure()
	if err != nil {
		return err
	}
	doc := s.document(svg)
	var html, markdown bytes.Buffer
	if err := htmltemplate.Must(htmltemplate.New("html").Parse(htmlReport)).Execute(&html, doc); err != nil {
		return fmt.Errorf("report.html: %w", err)
	}
	if err := template.Must(template.New("markdown").Parse(markdownReport)).Execute(&markdown, doc); err != nil {
		return fmt.Errorf("report.md: %w", err)
	}
	for _, f := range []struct {
		name string
		data []byte
	}{
		{"figure1.png", png}, {"figure1.svg", svg}, {"report.md", markdown.Bytes()}, {"report.html", html.Bytes()},
	} {
		if err := writeFile(to.path(f.name), f.data); err != nil {
			return err
		}
	}
	return nil
}
