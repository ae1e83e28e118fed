//go:build long

package evaluation

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asProgram makes the test binary the program itself, for tests that kill it.
const asProgram = "REPRODUCE_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		Main()
	}
	os.Exit(m.Run())
}

// reproduce runs the program in dir and returns what it printed.
func reproduce(t *testing.T, dir string, args ...string) (out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	require.Zero(t, run(context.Background(), append(args, "-out", dir), &o, &e), "%s", &e)
	return o.String(), e.String()
}

// csvFiles are all CSV files below dir, by path.
func csvFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{"*.csv", "runs/*.csv"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		for _, name := range names {
			files[strings.TrimPrefix(name, dir)] = read(t, name)
		}
	}
	require.NotEmpty(t, files)
	return files
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(data)
}

// A csvRow is a row of a CSV file by column.
type csvRow map[string]string

func (r csvRow) number(t *testing.T, column string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(r[column], 64)
	require.NoError(t, err)
	return x
}

func (r csvRow) key() string {
	return r["model"] + "-" + r["step_size"] + "-N" + r["samples"] + "-" + r["estimator"]
}

func rows(t *testing.T, path ...string) []csvRow {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(read(t, path...))).ReadAll()
	require.NoError(t, err)
	var out []csvRow
	for _, values := range all[1:] {
		row := csvRow{}
		for k, name := range all[0] {
			row[name] = values[k]
		}
		out = append(out, row)
	}
	return out
}
