package table

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Numbers are a column's, NaN where a cell is missing.
func (t *Table) Numbers(column int) ([]float64, error) {
	out := make([]float64, len(t.rows))
	for r, row := range t.rows {
		x, err := number(row[column], t.decimal)
		if err != nil {
			return nil, fmt.Errorf("%s: %q in column %q %w", t.Place(r, column), row[column], t.Header[column], err)
		}
		out[r] = x
	}
	return out, nil
}

// IsNumbers reports whether a column has numbers, and nothing else.
func (t *Table) IsNumbers(column int) bool {
	x, err := t.Numbers(column)
	return err == nil && slices.ContainsFunc(x, func(x float64) bool { return !math.IsNaN(x) })
}

// Keys are a column's cells, none of them empty.
func (t *Table) Keys(column int) ([]string, error) {
	out := make([]string, len(t.rows))
	for r, row := range t.rows {
		if out[r] = row[column]; out[r] == "" {
			return nil, fmt.Errorf("%s: no key in column %q", t.Place(r, column), t.Header[column])
		}
	}
	return out, nil
}

// A Position is where a row stands: a number, or a date, whose Value is in days.
type Position struct {
	Value float64
	Label string // the cell
}

// layouts are those of dates; a day that may be a month is not among them.
var layouts = []string{
	"2006-01-02", "2006-1-2", "2006/01/02", "2006/1/2", "2006-01", "02.01.2006", "2.1.2006", "2-Jan-2006", "2 Jan 2006", "Jan 2006", "2 January 2006",
	"January 2006", "Jan 2, 2006", "January 2, 2006",
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00",
}

// dateOf reads a date in one of the layouts.
func dateOf(cell string) (days float64, ok bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, cell); err == nil {
			return float64(t.UnixMilli()) / (24 * 3600 * 1000), true
		}
	}
	return 0, false
}

// Positions are a column's numbers or dates, as the first cell is; none may be missing.
func (t *Table) Positions(column int) (all []Position, dates bool, err error) {
	for r, row := range t.rows {
		cell := row[column]
		fail := func(what string) error {
			return fmt.Errorf("%s: %q in column %q %s", t.Place(r, column), cell, t.Header[column], what)
		}
		x, err := number(cell, t.decimal)
		day, isDate := dateOf(cell)
		switch {
		case err == nil && math.IsNaN(x):
			return nil, false, fmt.Errorf("%s: column %q, which says where each row stands, has an empty cell", t.Place(r, column), t.Header[column])
		case r > 0 && dates && !isDate && err == nil:
			return nil, false, fail("is a number, and cells above it are dates")
		case r > 0 && !dates && isDate && err != nil:
			return nil, false, fail("is a date, and cells above it are numbers")
		case !isDate && err != nil && (dates || r == 0 || strings.ContainsAny(cell, "/-:.")):
			return nil, false, fail("is neither a number nor a date; write dates as 2024-01-31")
		case !isDate && err != nil:
			return nil, false, fail(err.Error())
		}
		if dates = isDate; dates {
			x = day
		}
		all = append(all, Position{x, cell})
	}
	return all, dates, nil
}
