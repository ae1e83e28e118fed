package ask

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/facetvi/facet/examples/changes/internal/many"
	"github.com/facetvi/facet/examples/changes/internal/series"
)

// Many asks each series of a file whether it changed.
func (o Options) Many(ctx context.Context, out, errOut io.Writer) error {
	all, err := o.Load()
	if err != nil {
		return err
	}
	l, hint := series.Likelihood(o.Likelihood), ""
	if l == "" {
		if l = all.guess(); l == series.NegativeBinomial {
			l, hint = series.Normal, " (that of counts that vary so much is negbin, which takes a hundred times as long)"
		}
	}
	var sets []many.Set
	for _, k := range all.keys {
		s := all.Series[k]
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
	var lines []line
	for f := range many.Find(ctx, sets, many.Settings{Likelihood: l, Prior: o.Prior, Vi: o.settings()}) {
		bar.Increment()
		lines = append(lines, lineOf(f, all.Series[f.Key]))
	}
	bar.Abort(true)
	bars.Wait()
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.Probability, a.Probability) })
	listed := listLines(lines, fmt.Sprintf("%d series of %s by %s; likelihood %s%s; beforehand a series has a change with probability %v.\n", len(sets), all.name, o.By, l, hint, o.Prior))
	if err = ctx.Err(); err == nil && o.HTML != "" {
		err = listed.save(o.HTML)
	}
	switch {
	case err != nil:
		return err
	case o.JSON:
		return writeJSON(out, lines)
	case o.CSV:
		return linesCSV(out, lines)
	}
	fmt.Fprint(out, all.Note)
	return listed.print(out, o.Top)
}

func lineOf(f many.Found, s series.Series) line {
	l := line{Key: f.Key, Probability: f.Probability, Trust: string(f.Trust)}
	if f.Err != nil {
		l.Error = f.Err.Error()
	}
	if f.Row > 0 {
		l.First, l.From, l.To, l.Here = s.Label[f.Row], s.Label[f.From], s.Label[f.To], f.Here
		l.Before, l.After = &f.Before, &f.After
	}
	return l
}

// guess is the likelihood that most of the first series have.
func (f Loaded) guess() series.Likelihood {
	const first = 200
	count, best := map[series.Likelihood]int{}, series.Normal
	for _, k := range f.keys[:min(first, len(f.keys))] {
		s := f.Series[k]
		if s.Missing() == len(s.Y) {
			continue
		}
		l, _ := s.Guess()
		if count[l]++; count[l] > count[best] {
			best = l
		}
	}
	return best
}
