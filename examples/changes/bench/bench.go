// Package bench asks what "go test -bench" prints which benchmarks some commit changed, which commit, and by which ratio:
//
//	files ─▶ benchfmt ─▶ logarithms, by benchmark and unit, commit and run ─▶ many.Find ─▶ Change
//
// The commit of a result is what a line "commit: …" above it says, and without one each file is a commit. Commits are in the order in
// which they come.
package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/facetvi/facet/examples/changes/many"
	"github.com/facetvi/facet/examples/changes/series"
)

// A History is of benchmarks, each with its unit.
type History struct {
	Commits []string
	runs    map[name]map[int][]float64 // by commit
	names   []name
}

type name struct{ benchmark, unit string }

// Open reads files.
func Open(files []string) (*History, error) {
	h := new(History)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		err = h.Read(f, file)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return h, nil
}

// Read adds the results of a file.
func (h *History) Read(r io.Reader, file string) error {
	if h.runs == nil {
		h.runs = map[name]map[int][]float64{}
	}
	found := false
	for in := benchfmt.NewReader(r, file); ; {
		if !in.Scan() {
			if err := in.Err(); err != nil {
				return err
			}
			break
		}
		switch record := in.Result().(type) {
		case *benchfmt.SyntaxError:
			return fmt.Errorf("%s:%d: %s", record.FileName, record.Line, record.Msg)
		case *benchfmt.Result:
			found = true
			commit := h.commit(cmp.Or(record.GetConfig("commit"), strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))))
			for _, v := range record.Values {
				h.add(name{record.Name.String(), v.Unit}, commit, v.Value)
			}
		}
	}
	if !found {
		return fmt.Errorf("%s: no results of benchmarks: lines such as BenchmarkSort-8  1000  1234 ns/op", file)
	}
	return nil
}

// commit is the number of a commit.
func (h *History) commit(label string) int {
	if k := slices.Index(h.Commits, label); k >= 0 {
		return k
	}
	h.Commits = append(h.Commits, label)
	return len(h.Commits) - 1
}

func (h *History) add(n name, commit int, v float64) {
	if h.runs[n] == nil {
		h.runs[n] = map[int][]float64{}
		h.names = append(h.names, n)
	}
	h.runs[n][commit] = append(h.runs[n][commit], v)
}

// A Change is what some commit has done to a benchmark.
type Change struct {
	Benchmark   string          `json:"benchmark"`
	Unit        string          `json:"unit"`
	Probability float64         `json:"probability"` // that some commit changed it
	Worse       float64         `json:"worse"`       // that some commit made it worse
	Commit      string          `json:"commit"`      // the most probable one
	Here        float64         `json:"here"`        // its probability, if some commit did
	From        string          `json:"from"`        // with probability 0.9 the commit is from here
	To          string          `json:"to"`          // to here
	Ratio       series.Interval `json:"ratio"`       // of after to before
	Note        string          `json:"note,omitempty"`
	Row         int             `json:"-"` // of the commit
}

// Find asks all benchmarks, and returns the most probable changes first.
func (h *History) Find(ctx context.Context, set many.Settings) ([]Change, error) {
	if len(h.Commits) < 3 {
		return nil, fmt.Errorf("there are results of %d commits: with fewer than 3 nothing can be said of when; name more files, one for each commit, or write lines such as commit: 1a2b3c", len(h.Commits))
	}
	byKey, sets := map[string]name{}, []many.Set{}
	var all []Change
	for _, n := range h.names {
		key := n.benchmark + " " + n.unit
		byKey[key] = n
		s, dropped := many.Set{Key: key}, 0
		for c := range h.Commits {
			var logs []float64
			for _, v := range h.runs[n][c] {
				if v > 0 {
					logs = append(logs, math.Log(v))
				} else {
					dropped++
				}
			}
			s.Rows = append(s.Rows, logs)
		}
		if dropped > 0 {
			note := "is 0 in all runs"
			if len(slices.Concat(s.Rows...)) > 0 {
				note = fmt.Sprintf("is 0 in %d runs, which have no ratio", dropped)
			}
			all = append(all, Change{Benchmark: n.benchmark, Unit: n.unit, Note: note})
			continue
		}
		sets = append(sets, s)
	}
	for f := range many.Find(ctx, sets, set) {
		n := byKey[f.Key]
		c := Change{Benchmark: n.benchmark, Unit: n.unit, Probability: f.Probability}
		switch {
		case f.Err != nil:
			c.Note = f.Err.Error()
		case f.Trust != "trust":
			c.Note = "do not trust"
		}
		if f.Probability > 0 && f.Row > 0 {
			c.Row, c.Commit, c.Here, c.From, c.To = f.Row, h.Commits[f.Row], f.Here, h.Commits[f.From], h.Commits[f.To]
			c.Ratio = series.Interval{Mean: math.Exp(f.Difference.Mean), Low: math.Exp(f.Difference.Low), High: math.Exp(f.Difference.High)}
			c.Worse = f.Probability * f.Up
			if strings.HasSuffix(n.unit, "/s") {
				c.Worse = f.Probability * (1 - f.Up)
			}
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b Change) int { return cmp.Compare(b.Probability, a.Probability) })
	return all, ctx.Err()
}
