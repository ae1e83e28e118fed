package main

import (
	"context"
	"fmt"
	"io"

	"github.com/facetvi/facet/examples/changes/bench"
	"github.com/facetvi/facet/examples/changes/many"
	"github.com/facetvi/facet/examples/changes/series"
)

// benchmarks asks which benchmarks some commit changed.
func (o options) benchmarks(ctx context.Context, out io.Writer) error {
	h, err := bench.Open(o.files)
	if err != nil {
		return err
	}
	found, err := h.Find(ctx, many.Settings{Likelihood: series.Normal, Prior: o.prior, Vi: o.settings()})
	if err != nil {
		return err
	}
	switch {
	case o.asJSON:
		err = writeJSON(out, found)
	case o.asCSV:
		err = changesCSV(out, found)
	default:
		err = writeChanges(out, found, len(h.Commits), *o.top, o.prior)
	}
	if err != nil {
		return err
	}
	worse := 0
	for _, c := range found {
		if c.Worse > o.failAbove {
			worse++
		}
	}
	if worse > 0 {
		return fmt.Errorf("%d of %d benchmarks became worse with a probability above %v", worse, len(found), o.failAbove)
	}
	return nil
}
