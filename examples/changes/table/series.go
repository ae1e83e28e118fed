package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/facetvi/facet/examples/changes/series"
)

// Columns says what to read of a table: names of columns, or "".
type Columns struct{ Y, X, By string }

// Keyed are the series of a file, by key; of a file without keys the key is "".
type Keyed struct {
	File string
	Name string // of the column
	By   map[string]series.Series
	Keys []string // in the order of the file
	Note string   // to whoever reads the answer
}

// Series are those of a table.
func (t *Table) Series(c Columns) (all Keyed, err error) {
	x, err1 := t.optional(c.X)
	by, err2 := t.optional(c.By)
	if err := cmp.Or(err1, err2); err != nil {
		return all, err
	}
	y, err := t.columnOf(c.Y, x, by)
	if err != nil {
		return all, err
	}
	numbers, err := t.Numbers(y)
	if err != nil {
		return all, err
	}
	at, xName, dates := rowNumbers(t.Len()), "row", false
	if x >= 0 {
		if at, dates, err = t.Positions(x); err != nil {
			return all, err
		}
		xName = t.Header[x]
	}
	key := make([]string, t.Len())
	if by >= 0 {
		if key, err = t.Keys(by); err != nil {
			return all, err
		}
	}
	rows, keys := map[string][]int{}, []string(nil)
	for r, k := range key {
		if rows[k] == nil {
			keys = append(keys, k)
		}
		rows[k] = append(rows[k], r)
	}
	all = Keyed{File: t.File, Name: t.Header[y], By: map[string]series.Series{}, Keys: keys}
	unsorted := false
	for _, k := range keys {
		ascending := func(a, b int) int { return cmp.Compare(at[a].Value, at[b].Value) }
		if x >= 0 && !slices.IsSortedFunc(rows[k], ascending) {
			unsorted = true
			slices.SortStableFunc(rows[k], ascending)
		}
		s := series.Series{Name: t.Header[y], XName: xName, Dates: dates}
		for i, r := range rows[k] {
			if i > 0 && x >= 0 && at[r].Value == at[rows[k][i-1]].Value {
				return all, t.twice(x, rows[k][i-1], r, at[r].Label, k)
			}
			if x < 0 {
				at[r].Label = strconv.Itoa(i + 1)
			}
			s.X, s.Label = append(s.X, at[r].Value), append(s.Label, at[r].Label)
			s.Y, s.Place = append(s.Y, numbers[r]), append(s.Place, t.Place(r, y))
		}
		all.By[k] = s
	}
	if unsorted {
		all.Note = fmt.Sprintf("The rows are not in the order of %s, and were sorted.\n", t.Header[x])
	}
	return all, nil
}

// Guess is the likelihood that most of the first series have.
func (all Keyed) Guess() series.Likelihood {
	const first = 200
	count, best := map[series.Likelihood]int{}, series.Normal
	for _, k := range all.Keys[:min(first, len(all.Keys))] {
		s := all.By[k]
		if s.Missing() == len(s.Y) {
			continue
		}
		l, _ := s.Guess()
		if count[l]++; count[l] > count[best] {
			best = l
		}
	}
	return best
}

// optional is the number of a column, or -1 without a name.
func (t *Table) optional(name string) (int, error) {
	if name == "" {
		return -1, nil
	}
	return t.Find(name)
}

// columnOf is the column to look for changes in: the only one with numbers, if it has no name.
func (t *Table) columnOf(name string, others ...int) (int, error) {
	if name != "" {
		return t.Find(name)
	}
	var of []int
	for i := range t.Header {
		if !slices.Contains(others, i) && t.IsNumbers(i) {
			of = append(of, i)
		}
	}
	switch {
	case len(of) == 1:
		return of[0], nil
	case len(of) == 0 && len(t.Header) == 1:
		return 0, nil // whose cells have errors of their own
	case len(of) == 0:
		return 0, fmt.Errorf("%s: no column has only numbers: say which one to look at, as -y %s", t.File, t.Header[len(t.Header)-1])
	}
	return 0, fmt.Errorf("%s: %d columns have numbers: say which one to look at, as -y %s, and which has the order, as -x %s", t.File, len(of), t.Header[of[len(of)-1]], t.Header[of[0]])
}

func rowNumbers(n int) (all []Position) {
	for r := range n {
		all = append(all, Position{Value: float64(r)})
	}
	return all
}

func (t *Table) twice(x, first, second int, label, key string) error {
	hint := "; if the file has several series, name the column with their keys: -by COLUMN"
	if key != "" {
		hint = fmt.Sprintf(" of %q", key)
	}
	return fmt.Errorf("%s: %s %s is there twice, first in line %d%s", t.Place(second, x), t.Header[x], label, t.Line(first), hint)
}
