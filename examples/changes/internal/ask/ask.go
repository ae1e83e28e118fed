// Package ask answers what the command changes is asked: of one series, of many, or of benchmarks.
package ask

import (
	"errors"
	"fmt"
	"slices"

	"github.com/facetvi/facet/examples/changes/internal/series"
	"github.com/facetvi/facet/vi"
)

// Columns says what to read of a table: names of columns, or "".
type Columns struct{ Y, X, By, Only string }

// Options are what the flags say.
type Options struct {
	Columns
	Files            []string
	Example          []byte // the coal mines, for when no file is named
	Likelihood, HTML string
	Most, Ahead, Top int
	Seed             uint64
	Bench, JSON, CSV bool
	Prior, FailAbove float64
}

// Check reports flags that do not go together, and sets the prior if it is 0.
func (o *Options) Check() error {
	l := series.Likelihood(o.Likelihood)
	switch {
	case l != "" && !slices.Contains(series.Likelihoods, l):
		return fmt.Errorf("-likelihood %s: there are %v", l, series.Likelihoods)
	case o.Prior != 0 && !(o.Prior > 0 && o.Prior < 1) || !(o.FailAbove >= 0 && o.FailAbove <= 1):
		return errors.New("-prior is a probability between 0 and 1, and so is -fail-above")
	case o.JSON && o.CSV:
		return errors.New("-json or -csv, not both")
	case o.Bench && (o.Columns != Columns{} || l != ""):
		return errors.New("-bench goes without -x, -y, -by, -only and -likelihood")
	case o.Bench && len(o.Files) == 0:
		return errors.New("-bench needs files of what go test -bench prints")
	case !o.Bench && len(o.Files) > 1:
		return fmt.Errorf("one file at a time, not %d; with -by a file may have many series", len(o.Files))
	case !o.Bench && len(o.Files) == 0 && o.Columns != Columns{}:
		return errors.New("-x, -y, -by and -only are of a file, and none was named")
	case o.Only != "" && o.By == "":
		return errors.New("-only is a key of the column that -by names")
	}
	if o.Prior == 0 {
		o.Prior = 0.5
		if o.Bench {
			o.Prior = 0.1
		}
	}
	return nil
}

func (o Options) settings() vi.Settings { return vi.Settings{Seed: o.Seed, Method: series.Method} }

func (o Options) file() string {
	if len(o.Files) == 0 {
		return ""
	}
	return o.Files[0]
}
