package ask

import (
	"context"
	"fmt"
	"io"

	"github.com/facetvi/facet/examples/changes/internal/bench"
	"github.com/facetvi/facet/examples/changes/internal/many"
	"github.com/facetvi/facet/examples/changes/internal/series"
)

// Benchmarks asks which benchmarks some commit changed.
func (o Options) Benchmarks(ctx context.Context, out io.Writer) error {
	h, err := bench.Open(o.Files)
	if err != nil {
		return err
	}
	found, err := h.Find(ctx, many.Settings{Likelihood: series.Normal, Prior: o.Prior, Vi: o.settings()})
	if err != nil {
		return err
	}
	listed := listChanges(found, len(h.Commits), o.Prior)
	if o.HTML != "" {
		err = listed.save(o.HTML)
	}
	switch {
	case err != nil:
	case o.JSON:
		err = writeJSON(out, found)
	case o.CSV:
		err = changesCSV(out, found)
	default:
		err = listed.print(out, o.Top)
	}
	if err != nil {
		return err
	}
	worse := 0
	for _, c := range found {
		if c.Worse > o.FailAbove {
			worse++
		}
	}
	if worse > 0 {
		return fmt.Errorf("%d of %d benchmarks became worse with a probability above %v", worse, len(found), o.FailAbove)
	}
	return nil
}
