package draws

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArraysOf(t *testing.T) {
	single := func(name string, column int) array { return array{name: name, columns: []int{column}} }
	for _, c := range []struct {
		why   string
		names []string
		want  []array
	}{
		{"plain names", []string{"a", "b1", "b2"}, []array{single("a", 0), single("b1", 1), single("b2", 2)}},
		{"counted from 0, among others", []string{"x[0]", "a", "x[1]", "x[2]"},
			[]array{{"x", []int{3}, []int{0, 2, 3}}, single("a", 1)}},
		{"counted from 7, out of order", []string{"x[8]", "x[7]"}, []array{{"x", []int{2}, []int{1, 0}}}},
		{"one element", []string{"x[4]"}, []array{{"x", []int{1}, []int{0}}}},
		{"a matrix", []string{"w[0,0]", "w[1,0]", "w[0,1]", "w[1,1]", "w[0,2]", "w[1,2]"},
			[]array{{"w", []int{2, 3}, []int{0, 2, 4, 1, 3, 5}}}},
		{"a gap", []string{"x[0]", "x[2]"}, []array{single("x[0]", 0), single("x[2]", 1)}},
		{"a box with a hole", []string{"w[0,0]", "w[1,1]", "w[0,1]"},
			[]array{single("w[0,0]", 0), single("w[1,1]", 1), single("w[0,1]", 2)}},
		{"a gap as wide as the count is long", []string{"x[0]", "x[1]", "x[9]"},
			[]array{single("x[0]", 0), single("x[1]", 1), single("x[9]", 2)}},
		{"one element twice", []string{"x[1]", "x[01]"}, []array{single("x[1]", 0), single("x[01]", 1)}},
		{"mixed ranks", []string{"x[0]", "x[0,1]"}, []array{single("x[0]", 0), single("x[0,1]", 1)}},
		{"the bare name too", []string{"x", "x[0]"}, []array{single("x", 0), single("x[0]", 1)}},
		{"no index", []string{"x[]", "x[a]", "[0]"}, []array{single("x[]", 0), single("x[a]", 1), single("[0]", 2)}},
		{"beyond an int", []string{"x[99999999999999999999]", "x[1]"},
			[]array{single("x[99999999999999999999]", 0), single("x[1]", 1)}},
		{"a nested name", []string{"x[0][0]", "x[0][1]"}, []array{{"x[0]", []int{2}, []int{0, 1}}}},
	} {
		require.Equal(t, c.want, arraysOf(c.names), c.why)
	}
}

// Every element of a box of three indices, in Stan's order.
func TestColumnMajor(t *testing.T) {
	f := array{dims: []int{2, 3, 2}, columns: make([]int, 12)}
	var got []string
	for _, k := range f.columnMajor() {
		got = append(got, f.subscripts(k, "."))
	}
	var want []string
	for _, c := range []string{"1", "2"} {
		for _, b := range []string{"1", "2", "3"} {
			for _, a := range []string{"1", "2"} {
				want = append(want, a+"."+b+"."+c)
			}
		}
	}
	require.Equal(t, want, got)
	require.Equal(t, []int{0}, array{columns: []int{5}}.columnMajor())
}
