package ask

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/facetvi/facet/examples/changes/internal/bench"
	"github.com/facetvi/facet/examples/changes/internal/series"
	"github.com/facetvi/facet/vi/report"
)

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// exact is a number as it is.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func intervals(all ...*series.Interval) (cells []string) {
	for _, i := range all {
		if i == nil {
			cells = append(cells, "", "", "")
			continue
		}
		cells = append(cells, exact(i.Mean), exact(i.Low), exact(i.High))
	}
	return cells
}

// rowsCSV has a line for each row of a series, and those that are ahead.
func rowsCSV(out io.Writer, r *series.Result) error {
	rows := [][]string{{r.Series.XName, r.Column, "level", "level_low", "level_high", "change_before_this_row"}}
	for _, row := range r.Row {
		y := ""
		if row.Y != nil {
			y = exact(*row.Y)
		}
		rows = append(rows, append(append([]string{row.X, y}, intervals(&row.Level)...), exact(row.Change)))
	}
	return csv.NewWriter(out).WriteAll(rows)
}

// A line is what is said of one of many series.
type line struct {
	Key         string           `json:"key"`
	Probability float64          `json:"probability"`     // of a change
	First       string           `json:"first,omitempty"` // the most probable first row of the new level
	Here        float64          `json:"here,omitempty"`  // its probability, if there is a change
	From        string           `json:"from,omitempty"`  // with probability 0.9 the first row is from here
	To          string           `json:"to,omitempty"`    // to here
	Before      *series.Interval `json:"before,omitempty"`
	After       *series.Interval `json:"after,omitempty"`
	Trust       string           `json:"trust,omitempty"`
	Error       string           `json:"error,omitempty"`
}

func linesCSV(out io.Writer, lines []line) error {
	rows := [][]string{{"key", "probability", "first", "here", "from", "to", "before", "before_low", "before_high", "after", "after_low", "after_high", "trust", "error"}}
	for _, l := range lines {
		cells := append([]string{l.Key, exact(l.Probability), l.First, exact(l.Here), l.From, l.To}, intervals(l.Before, l.After)...)
		rows = append(rows, append(cells, l.Trust, l.Error))
	}
	return csv.NewWriter(out).WriteAll(rows)
}

func changesCSV(out io.Writer, all []bench.Change) error {
	rows := [][]string{{"benchmark", "unit", "probability", "worse", "commit", "here", "from", "to", "ratio", "ratio_low", "ratio_high", "note"}}
	for _, c := range all {
		cells := append([]string{c.Benchmark, c.Unit, exact(c.Probability), exact(c.Worse), c.Commit, exact(c.Here), c.From, c.To}, intervals(&c.Ratio)...)
		rows = append(rows, append(cells, c.Note))
	}
	return csv.NewWriter(out).WriteAll(rows)
}

// A listing is what is said of many series or benchmarks, a row each, those with the most probable changes first.
type listing struct {
	what, about string // they are, and what was asked of them
	head        []string
	rows        [][]string
}

// print writes the first top rows; 0 is all.
func (l listing) print(out io.Writer, top int) error {
	fmt.Fprint(out, l.about, "\n\n")
	if top == 0 || top > len(l.rows) {
		top = len(l.rows)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range append([][]string{l.head}, l.rows[:top]...) {
		fmt.Fprintln(w, strings.TrimRight(strings.Join(r, "\t"), "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if n := len(l.rows) - top; n > 0 {
		fmt.Fprintf(out, "… and %d %s with less probable changes; -top 0 prints all.\n", n, l.what)
	}
	return nil
}

// save writes all rows to a page.
func (l listing) save(file string) error {
	return report.SaveTable(file, l.head, l.rows, 1, report.Options{Title: "Changes in " + strconv.Itoa(len(l.rows)) + " " + l.what, About: l.about})
}

// likely is from which probability on a change is counted.
const likely = 0.9

func listLines(lines []line, about string) listing {
	l := listing{what: "series", head: []string{"series", "changed", "first row of the new level", "before", "after", "verdict"}}
	changed := 0
	for _, x := range lines {
		if x.Probability > likely {
			changed++
		}
		cells := []string{x.Key, fmt.Sprintf("%.3f", x.Probability), "-", "", "", x.Trust}
		switch {
		case x.Error != "":
			cells[1], cells[5] = "-", x.Error
		case x.Before != nil:
			cells[2], cells[3], cells[4] = fmt.Sprintf("%s (%s to %s)", x.First, x.From, x.To), x.Before.String(), x.After.String()
		}
		l.rows = append(l.rows, cells)
	}
	l.about = fmt.Sprintf("%s%d changed with a probability above %v.", about, changed, likely)
	return l
}

func listChanges(all []bench.Change, commits int, prior float64) listing {
	l := listing{what: "benchmarks", head: []string{"benchmark", "unit", "changed", "by commit", "ratio after : before", ""}}
	changed := 0
	for _, c := range all {
		if c.Probability > likely {
			changed++
		}
		cells := []string{c.Benchmark, c.Unit, fmt.Sprintf("%.3f", c.Probability), "", "", c.Note}
		switch {
		case c.Commit != "":
			cells[3], cells[4] = fmt.Sprintf("%s (%s to %s)", c.Commit, c.From, c.To), ratio(c.Ratio)
		case c.Note != "":
			cells[2] = "-"
		}
		l.rows = append(l.rows, cells)
	}
	l.about = fmt.Sprintf("%d benchmarks and units at %d commits; beforehand one has a change with probability %v. %d changed with a probability above %v.", len(all), commits, prior, changed, likely)
	return l
}

// ratio is a change in per cent.
func ratio(r series.Interval) string {
	return fmt.Sprintf("%+.1f%% (%+.1f to %+.1f)", 100*(r.Mean-1), 100*(r.Low-1), 100*(r.High-1))
}
