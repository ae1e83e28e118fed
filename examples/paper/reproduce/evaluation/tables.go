package evaluation

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// A table is what all forms of the report print.
type table struct {
	Title  string
	Note   string
	Header []string
	Rows   [][]string
	Text   int // the first so many columns are words, not numbers
}

// tables are the report's, in order; those without rows are left out.
func (s *summary) tables() []table {
	all := []table{s.varianceTable(), s.guardsTable(), s.timeTable(), s.finalTable(), s.monteCarloTable()}
	return slices.DeleteFunc(all, func(t table) bool { return len(t.Rows) == 0 })
}

func (s *summary) varianceTable() table {
	t := table{
		Title: "Table 1: variance of the gradient, in units of Score's, N = 1",
		Note: fmt.Sprintf("Avg(V(·)) is the variance averaged over the components of θ, V(‖·‖₂) that of the norm; both from %d gradients at every "+
			"iteration, averaged over the estimator's own run, and then divided by Score's over its own run, as in the paper. "+
			"“Same θ” divides averages along one and the same run, facet's, from %d gradients at every %dth iteration. "+
			"Score's own rows have the variance itself.", varianceDraws, sameDraws, elboEvery),
		Header: []string{"step size", "model", "estimator", "Avg(V(·))", "paper", "same θ", "V(‖·‖₂)", "paper", "same θ"},
		Text:   3,
	}
	three := func(x num) string { return sig(float64(x), 3) }
	for _, r := range s.Table1 {
		row := []string{number(r.StepSize), r.Model, label(r.Estimator)}
		if r.Estimator == "score" {
			row = append(row, three(r.AvgVar), "1", "1", three(r.NormVar), "1", "1")
		} else {
			row = append(row, three(r.Own.Avg), three(r.Paper.Avg), three(r.Same.Avg), three(r.Own.Norm), three(r.Paper.Norm), three(r.Same.Norm))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (s *summary) guardsTable() table {
	t := table{
		Title: "All guards against one: variance in units of the single guard's, N = 1",
		Note: fmt.Sprintf("“Own runs” divides facet's average over its run by Ours' over its own. The other columns are at the same θ, along facet's run, "+
			"at every %dth iteration: the ratio of averages, which is that of the run's noisiest places, and the median of ratios. One guard's gradient has all guards' "+
			"as its mean given the sample, so Avg(V(·)) of all guards is nowhere above: a ratio of 1 is where no guard is near, "+
			"and one above by a few hundredths is the noise of %d draws.", elboEvery, sameDraws),
		Header: []string{
			"step size", "model", "own runs: Avg(V(·))", "V(‖·‖₂)", "same θ: Avg(V(·))", "V(‖·‖₂)",
			"median: Avg(V(·))", "V(‖·‖₂)",
		},
		Text: 2,
	}
	three := func(x num) string { return sig(float64(x), 3) }
	for _, g := range s.Guards {
		t.Rows = append(t.Rows, []string{
			number(g.StepSize), g.Model, three(g.Own.Avg), three(g.Own.Norm), three(g.Same.Avg), three(g.Same.Norm),
			three(g.Median.Avg), three(g.Median.Norm),
		})
	}
	return t
}

func (s *summary) timeTable() table {
	t := table{
		Title:  "Table 2: milliseconds an iteration, N = 1",
		Note:   "Timed on one goroutine with nothing else measured, at step size 0.001; the fastest of five fits. The paper's are of a prototype on another machine.",
		Header: []string{"estimator"},
		Text:   1,
	}
	for _, m := range s.Settings.Models {
		t.Header = append(t.Header, m, "paper", "times faster")
	}
	for _, e := range s.Settings.Estimators {
		row := []string{label(e)}
		for _, r := range s.Table2 {
			if r.Estimator == e {
				row = append(row, fmt.Sprintf("%.4f", float64(r.Millis)), sig(float64(r.Paper), 4), sig(float64(r.Paper/r.Millis), 2))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (s *summary) finalTable() table {
	return s.elboTable("Final ELBO, in closed form",
		fmt.Sprintf("Mean and standard error over the last %d evaluations (fewer in short runs), in nats; the standard error is that of evaluations "+
			"%d iterations apart as if they were independent. In a run that still climbs it is mostly the climb. ", lastEvaluations, elboEvery)+optimumNote,
		func(r finalRow) (num, num) { return r.Exact, r.ExactSE })
}

func (s *summary) monteCarloTable() table {
	return s.elboTable("Final ELBO, by Monte Carlo",
		fmt.Sprintf("The same evaluations from %d draws each, as in the paper. Near temperature's optimum they miss events "+
			"of probability 1e-5 that cost 5e5 nats, and read too high; or meet one, and read far too low.", elboDraws),
		func(r finalRow) (num, num) { return r.MonteCarlo, r.MonteCarloSE })
}

func (s *summary) elboTable(title, note string, value func(finalRow) (mean, se num)) table {
	t := table{Title: title, Note: note, Header: []string{"model", "step size", "N"}, Text: 1}
	for _, e := range s.Settings.Estimators {
		t.Header = append(t.Header, label(e))
	}
	t.Header = append(t.Header, "optimum")
	of := len(s.Settings.Estimators)
	for i := 0; i+of <= len(s.Final); i += of { // the plan has the estimators of a panel and N side by side
		first := s.Final[i]
		row := []string{first.Model, number(first.StepSize), fmt.Sprint(first.Samples)}
		for _, r := range s.Final[i : i+of] {
			row = append(row, meanAndSE(r, value))
		}
		t.Rows = append(t.Rows, append(row, nats(s.optimum(first.Model))))
	}
	return t
}

func meanAndSE(r finalRow, value func(finalRow) (mean, se num)) string {
	mean, se := value(r)
	cell := nats(float64(mean))
	if se.known() {
		cell += " ± " + amount(float64(se))
	}
	if r.Diverged > 0 {
		cell = fmt.Sprintf("diverged at %d (%s)", r.Diverged, cell)
	}
	return cell
}

func label(estimator string) string { return estimatorNamed(estimator).label }

// print writes the table as aligned text.
func (t table) print(w io.Writer) error {
	fmt.Fprintf(w, "\n%s\n\n", t.Title)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		fmt.Fprintln(tw, strings.TrimRight(strings.Join(row, "\t"), " "))
	}
	return tw.Flush()
}

// Markdown is the table in GitHub's form, with columns aligned in the source.
func (t table) Markdown() string {
	width := make([]int, len(t.Header))
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		for k, cell := range row {
			width[k] = max(width[k], utf8.RuneCountInString(cell), 3)
		}
	}
	var b strings.Builder
	line := func(row []string) {
		for k, cell := range row {
			b.WriteString("| " + cell + strings.Repeat(" ", width[k]-utf8.RuneCountInString(cell)+1))
		}
		b.WriteString("|\n")
	}
	line(t.Header)
	for k := range t.Header {
		rule := strings.Repeat("-", width[k]+1)
		if k >= t.Text {
			b.WriteString("|" + rule + ":")
		} else {
			b.WriteString("|" + rule + "-")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		line(row)
	}
	return b.String()
}
