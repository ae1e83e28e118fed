package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/facetvi/facet/examples/changes/bench"
	"github.com/facetvi/facet/examples/changes/series"
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

// printTable writes columns of text, the first top rows alone; 0 is all.
func printTable(out io.Writer, head string, rows []string, top int, rest string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	if top == 0 || top > len(rows) {
		top = len(rows)
	}
	for _, r := range rows[:top] {
		fmt.Fprintln(w, r)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if n := len(rows) - top; n > 0 {
		fmt.Fprintf(out, "… and %d %s with less probable changes; -top 0 prints all.\n", n, rest)
	}
	return nil
}

// likely is from which probability on a change is counted.
const likely = 0.9

func writeLines(out io.Writer, lines []line, top int, what string) error {
	var rows []string
	changed := 0
	for _, l := range lines {
		if l.Probability > likely {
			changed++
		}
		cells := []string{l.Key, fmt.Sprintf("%.3f", l.Probability), "-", "", "", l.Trust}
		switch {
		case l.Error != "":
			cells[1], cells[5] = "-", l.Error
		case l.Before != nil:
			cells[2], cells[3], cells[4] = fmt.Sprintf("%s (%s to %s)", l.First, l.From, l.To), l.Before.String(), l.After.String()
		}
		rows = append(rows, strings.Join(cells, "\t"))
	}
	fmt.Fprintf(out, "%s%d changed with a probability above %v.\n\n", what, changed, likely)
	return printTable(out, "series\tchanged\tfirst row of the new level\tbefore\tafter\tverdict", rows, top, "series")
}

func writeChanges(out io.Writer, all []bench.Change, commits, top int, prior float64) error {
	var rows []string
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
		rows = append(rows, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	fmt.Fprintf(out, "%d benchmarks and units at %d commits; beforehand one has a change with probability %v. %d changed with a probability above %v.\n\n", len(all), commits, prior, changed, likely)
	return printTable(out, "benchmark\tunit\tchanged\tby commit\tratio after : before\t", rows, top, "benchmarks")
}

// ratio is a change in per cent.
func ratio(r series.Interval) string {
	return fmt.Sprintf("%+.1f%% (%+.1f to %+.1f)", 100*(r.Mean-1), 100*(r.Low-1), 100*(r.High-1))
}
