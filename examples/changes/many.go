package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/facetvi/facet/examples/changes/many"
	"github.com/facetvi/facet/examples/changes/series"
	"github.com/facetvi/facet/examples/changes/write"
)

// many asks each series of a file whether it changed.
func (o options) many(ctx context.Context, out, errOut io.Writer) error {
	all, err := o.load()
	if err != nil {
		return err
	}
	l, hint := series.Likelihood(o.likelihood), ""
	if l == "" {
		if l = all.Guess(); l == series.NegativeBinomial {
			l, hint = series.Normal, " (that of counts that vary so much is negbin, which takes a hundred times as long)"
		}
	}
	var sets []many.Set
	for _, k := range all.Keys {
		s := all.By[k]
		if err := s.Possible(l); err != nil {
			return err
		}
		set := many.Set{Key: k}
		for _, y := range s.Y {
			set.Rows = append(set.Rows, []float64{y})
		}
		sets = append(sets, set)
	}
	bars := mpb.New(mpb.WithOutput(errOut)) // which shows nothing where errOut is no terminal
	bar := bars.AddBar(int64(len(sets)), mpb.PrependDecorators(decor.CountersNoUnit("%d of %d series ")), mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
	var lines []many.Line
	for f := range many.Find(ctx, sets, many.Settings{Likelihood: l, Prior: o.prior, Seed: *o.seed}) {
		bar.Increment()
		lines = append(lines, f.Line(all.By[f.Key]))
	}
	bar.Abort(true)
	bars.Wait()
	slices.SortStableFunc(lines, func(a, b many.Line) int { return cmp.Compare(b.Probability, a.Probability) })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case o.asJSON:
		return write.JSON(out, lines)
	case o.asCSV:
		return write.LinesCSV(out, lines)
	}
	fmt.Fprint(out, all.Note)
	return write.Lines(out, lines, *o.top, fmt.Sprintf("%d series of %s by %s; likelihood %s%s; beforehand a series has a change with probability %v.\n", len(sets), all.Name, o.By, l, hint, o.prior))
}
