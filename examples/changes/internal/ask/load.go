package ask

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/facetvi/facet/examples/changes/internal/series"
	"github.com/facetvi/facet/examples/changes/internal/table"
)

// Loaded are the series of a file, by key; of a file without keys the key is "".
type Loaded struct {
	file   string
	name   string // of the column
	Series map[string]series.Series
	keys   []string // in the order of the file
	Note   string   // to whoever reads the answer
}

// Load reads the file, or the example if none is named.
func (o Options) Load() (all Loaded, err error) {
	var t *table.Table
	if file := o.file(); file == "" {
		t, err = table.Parse("coalmining.csv", o.Example)
	} else {
		t, err = table.Open(file)
	}
	if err != nil {
		return all, err
	}
	x, by := -1, -1
	if o.X != "" {
		if x, err = t.Find(o.X); err != nil {
			return all, err
		}
	}
	if o.By != "" {
		if by, err = t.Find(o.By); err != nil {
			return all, err
		}
	}
	y, err := columnOf(t, o.Y, x, by)
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
	all = Loaded{file: t.File, name: t.Header[y], Series: map[string]series.Series{}}
	return all, all.split(t, x, y, at, numbers, key, series.Series{Name: t.Header[y], XName: xName, Dates: dates})
}

// split makes a series of the rows of each key, in the order of x.
func (all *Loaded) split(t *table.Table, x, y int, at []table.Position, numbers []float64, key []string, empty series.Series) error {
	rows := map[string][]int{}
	for r, k := range key {
		if rows[k] == nil {
			all.keys = append(all.keys, k)
		}
		rows[k] = append(rows[k], r)
	}
	for _, k := range all.keys {
		ascending := func(a, b int) int { return cmp.Compare(at[a].Value, at[b].Value) }
		if x >= 0 && !slices.IsSortedFunc(rows[k], ascending) {
			all.Note = fmt.Sprintf("The rows are not in the order of %s, and were sorted.\n", t.Header[x])
			slices.SortStableFunc(rows[k], ascending)
		}
		s := empty
		for i, r := range rows[k] {
			if i > 0 && x >= 0 && at[r].Value == at[rows[k][i-1]].Value {
				return twice(t, x, rows[k][i-1], r, at[r].Label, k)
			}
			if x < 0 {
				at[r].Label = strconv.Itoa(i + 1)
			}
			s.X, s.Label = append(s.X, at[r].Value), append(s.Label, at[r].Label)
			s.Y, s.Place = append(s.Y, numbers[r]), append(s.Place, t.Place(r, y))
		}
		all.Series[k] = s
	}
	return nil
}

// columnOf is the column to look for changes in: the only one with numbers, if it has no name.
func columnOf(t *table.Table, name string, others ...int) (int, error) {
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

func rowNumbers(n int) (all []table.Position) {
	for r := range n {
		all = append(all, table.Position{Value: float64(r)})
	}
	return all
}

func twice(t *table.Table, x, first, second int, label, key string) error {
	hint := "; if the file has several series, name the column with their keys: -by COLUMN"
	if key != "" {
		hint = fmt.Sprintf(" of %q", key)
	}
	return fmt.Errorf("%s: %s %s is there twice, first in line %d%s", t.Place(second, x), t.Header[x], label, t.Line(first), hint)
}
