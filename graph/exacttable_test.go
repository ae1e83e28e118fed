package graph_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite testdata")

const exactFile = "testdata/exact.txt"

// An exactNumber is computed by arithmetic of many bits. Its slack is how much the rounding
// of the inputs changes it.
type exactNumber struct{ want, slack float64 }

// exactTable has what the arithmetic of many bits took half a minute for, by what it is of.
var exactTable = sync.OnceValues(func() (map[string][]exactNumber, error) {
	table := map[string][]exactNumber{}
	if *update {
		return table, nil
	}
	text, err := os.ReadFile(exactFile)
	for line := range strings.Lines(string(text)) {
		key, numbers, _ := strings.Cut(strings.TrimSpace(line), "\t")
		var list []exactNumber
		for pair := range strings.SplitSeq(numbers, "\t") {
			want, slack, _ := strings.Cut(pair, " ± ")
			w, errW := strconv.ParseFloat(want, 64)
			s, errS := strconv.ParseFloat(slack, 64)
			if err = cmp.Or(err, errW, errS); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", exactFile, line, err)
			}
			list = append(list, exactNumber{w, s})
		}
		table[key] = list
	}
	return table, err
})

// recomputed has the groups and tests of which a row has been computed again.
var recomputed = map[string]bool{}

// exactOf are the numbers of the table's row key: first that of a value. Of the first row of each test
// all are computed again and must be the same, and of the first row of each group the value. So is
// a row that the table lacks: where math.Exp is another, the points of the tests are. Run with
// -update, all tests TestExact write the table anew.
func exactOf(t *testing.T, group, key string, value func() float64, all func() []exactNumber) []exactNumber {
	t.Helper()
	table, err := exactTable()
	require.NoError(t, err)
	list, ok := table[key]
	test, _, _ := strings.Cut(t.Name(), "/")
	switch {
	case !ok:
		list = all()
	case !recomputed[test]:
		require.Equal(t, all(), list, "%s of %s", key, exactFile)
	case !recomputed[group]:
		require.Equal(t, value(), list[0].want, "%s of %s", key, exactFile)
	}
	recomputed[test], recomputed[group] = true, true
	if *update {
		table[key] = list
	}
	return list
}

// keepExact writes the table after the test.
func keepExact(t *testing.T) {
	t.Cleanup(func() {
		if !*update {
			return
		}
		table, _ := exactTable()
		var text strings.Builder
		for _, key := range slices.Sorted(maps.Keys(table)) {
			text.WriteString(key)
			for _, x := range table[key] {
				fmt.Fprintf(&text, "\t%v ± %v", x.want, x.slack)
			}
			text.WriteByte('\n')
		}
		require.NoError(t, os.WriteFile(exactFile, []byte(text.String()), 0o644))
	})
}
