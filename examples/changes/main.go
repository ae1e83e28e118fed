// Changes finds the changes of level in a column of a CSV file: how many there are, when, how large, and what comes next.
//
//	go run ./examples/changes data.csv -y count -x year
//	go run ./examples/changes many.csv -y sales -x day -by shop
//	go run ./examples/changes -bench history.txt
//
// Each number of changes, from none to -max, is a program of its own, and is as probable as its evidence says; beforehand a change
// more is half as probable. Of many series, and of benchmarks, it asks whether there was one change. docs/changes.md has more.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/facetvi/facet/examples/changes/internal/ask"
	"github.com/facetvi/facet/examples/cli"
)

// coalmining are the explosions in British coal mines that killed ten or more people; see examples/models/coalmining.
//
//go:embed data/coalmining.csv
var coalmining []byte

func main() { cli.Main(run) }

// parse reads flags, which may be before and after the names of files.
func parse(args []string, out io.Writer) (ask.Options, error) {
	o, flags := ask.Options{Example: coalmining}, cli.New("changes")
	flags.StringVar(&o.Y, "y", "", "`column` to look for changes in; may be left out if only one has numbers")
	flags.StringVar(&o.X, "x", "", "`column` of numbers or dates that has the order of rows; that of the file if left out")
	flags.StringVar(&o.By, "by", "", "`column` of keys: a series for each, in which one change is looked for")
	flags.StringVar(&o.Only, "only", "", "look at the series of this `key` alone, for any number of changes")
	flags.StringVar(&o.Likelihood, "likelihood", "", "`distribution` of rows around their level: normal, student, poisson, negbin or bernoulli; by what the column is like if left out")
	most := flags.Count("max", 5, 1, "changes, at most")
	ahead := flags.Count("ahead", 12, 0, "rows to forecast")
	top := flags.Count("top", 20, 0, "series or benchmarks to print, the most probable changes first; 0 for all")
	seed := flags.Seed()
	flags.BoolVar(&o.Bench, "bench", false, "files are what go test -bench prints: one for each commit, or with lines \"commit: …\"")
	flags.Float64Var(&o.Prior, "prior", 0, "`probability` beforehand that a series changed; 0.5 if left out, and 0.1 with -bench")
	flags.Float64Var(&o.FailAbove, "fail-above", 1, "with -bench: exit with code 1 if a benchmark became worse with more than this `probability`")
	flags.BoolVar(&o.JSON, "json", false, "print JSON")
	flags.BoolVar(&o.CSV, "csv", false, "print CSV: a line for each row, series or benchmark")
	flags.StringVar(&o.HTML, "html", "", "write a report to this `file`: of all fits of one series, or a table of many series or benchmarks")
	for {
		if err := flags.FlagSet.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fmt.Fprintln(out, "changes [FILE] [flags] finds changes of level in a column of a CSV file, or in benchmarks.")
				return o, flags.Parse([]string{"-h"}, out)
			}
			return o, flags.Wrong(err)
		}
		if flags.NArg() == 0 {
			break
		}
		o.Files, args = append(o.Files, flags.Arg(0)), flags.Args()[1:]
	}
	o.Most, o.Ahead, o.Top, o.Seed = *most, *ahead, *top, *seed
	if err := o.Check(); err != nil {
		return o, flags.Wrong(err)
	}
	return o, nil
}

func run(ctx context.Context, args []string, out, errOut io.Writer) error {
	o, err := parse(args, out)
	switch {
	case err != nil:
		return err
	case o.Bench:
		return o.Benchmarks(ctx, out)
	case o.By != "" && o.Only == "":
		return o.Many(ctx, out, errOut)
	}
	return o.One(ctx, out)
}
