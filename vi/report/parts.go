// Tables, folded where they are long, and figures.

package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/plot"
)

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

const (
	manyRows = 8    // of one name are folded
	openRows = 24   // of other names that are not
	mostRows = 2000 // of a table
)

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

func isInfinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// Sizes in points: of marginals, of which some stand side by side, and of what is over time.
const (
	smallWidth, smallHeight = 250, 150
	wideWidth, wideHeight   = 370, 200

	mostSeries = 12 // pictures over time
)

// A figure is a picture, or why there is none.
type figure struct {
	SVG     template.HTML
	Caption string
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
