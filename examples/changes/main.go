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
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/facetvi/facet/examples/changes/series"
	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/vi"
)

func main() { cli.Main(run) }

// options are the flags.
type options struct {
	columns
	likelihood, html     string
	most, ahead, top     *int
	seed                 *uint64
	bench, asJSON, asCSV bool
	prior, failAbove     float64
	files                []string
}

// parse reads flags, which may be before and after the names of files.
func parse(args []string, out io.Writer) (o options, flags cli.Flags, err error) {
	flags = cli.New("changes")
	flags.StringVar(&o.y, "y", "", "`column` to look for changes in; may be left out if only one has numbers")
	flags.StringVar(&o.x, "x", "", "`column` of numbers or dates that has the order of rows; that of the file if left out")
	flags.StringVar(&o.by, "by", "", "`column` of keys: a series for each, in which one change is looked for")
	flags.StringVar(&o.only, "only", "", "look at the series of this `key` alone, for any number of changes")
	flags.StringVar(&o.likelihood, "likelihood", "", "`distribution` of rows around their level: normal, student, poisson, negbin or bernoulli; by what the column is like if left out")
	o.most = flags.Count("max", 5, 1, "changes, at most")
	o.ahead = flags.Count("ahead", 12, 0, "rows to forecast")
	o.top = flags.Count("top", 20, 0, "series or benchmarks to print, the most probable changes first; 0 for all")
	o.seed = flags.Seed()
	flags.BoolVar(&o.bench, "bench", false, "files are what go test -bench prints: one for each commit, or with lines \"commit: …\"")
	flags.Float64Var(&o.prior, "prior", 0, "`probability` beforehand that a series changed; 0.5 if left out, and 0.1 with -bench")
	flags.Float64Var(&o.failAbove, "fail-above", 1, "with -bench: exit with code 1 if a benchmark became worse with more than this `probability`")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON")
	flags.BoolVar(&o.asCSV, "csv", false, "print CSV: a line for each row, series or benchmark")
	flags.StringVar(&o.html, "html", "", "write a report of all fits of one series to this `file`")
	for {
		if err := flags.FlagSet.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fmt.Fprintln(out, "changes [FILE] [flags] finds changes of level in a column of a CSV file, or in benchmarks.")
				return o, flags, flags.Parse([]string{"-h"}, out)
			}
			return o, flags, flags.Wrong(err)
		}
		if flags.NArg() == 0 {
			break
		}
		o.files, args = append(o.files, flags.Arg(0)), flags.Args()[1:]
	}
	if err := o.check(); err != nil {
		return o, flags, flags.Wrong(err)
	}
	return o, flags, nil
}

// check reports flags that do not go together.
func (o *options) check() error {
	l := series.Likelihood(o.likelihood)
	switch {
	case l != "" && !slices.Contains(series.Likelihoods, l):
		return fmt.Errorf("-likelihood %s: there are %v", l, series.Likelihoods)
	case o.prior != 0 && !(o.prior > 0 && o.prior < 1) || !(o.failAbove >= 0 && o.failAbove <= 1):
		return errors.New("-prior is a probability between 0 and 1, and so is -fail-above")
	case o.asJSON && o.asCSV:
		return errors.New("-json or -csv, not both")
	case o.html != "" && (o.bench || o.by != "" && o.only == ""):
		return errors.New("-html is of one series: choose it by -only")
	case o.bench && (o.columns != columns{} || l != ""):
		return errors.New("-bench goes without -x, -y, -by, -only and -likelihood")
	case o.bench && len(o.files) == 0:
		return errors.New("-bench needs files of what go test -bench prints")
	case !o.bench && len(o.files) > 1:
		return fmt.Errorf("one file at a time, not %d; with -by a file may have many series", len(o.files))
	case !o.bench && len(o.files) == 0 && o.columns != columns{}:
		return errors.New("-x, -y, -by and -only are of a file, and none was named")
	case o.only != "" && o.by == "":
		return errors.New("-only is a key of the column that -by names")
	}
	if o.prior == 0 {
		o.prior = 0.5
		if o.bench {
			o.prior = 0.1
		}
	}
	return nil
}

func run(ctx context.Context, args []string, out, errOut io.Writer) error {
	o, _, err := parse(args, out)
	if err != nil {
		return err
	}
	switch {
	case o.bench:
		return o.benchmarks(ctx, out)
	case o.by != "" && o.only == "":
		return o.many(ctx, out, errOut)
	}
	return o.one(ctx, out)
}

func (o options) settings() vi.Settings { return vi.Settings{Seed: *o.seed, Method: series.Method} }
