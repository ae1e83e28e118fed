package climb

import (
	"context"
	"errors"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

// findStarts returns a start in the fit's family for each restart. When half of the
// budget is over it goes by what it has found.
//
// A scout alone is no way to a start: the best member of a family may be where the posterior has next to nothing. In influenza
// the best mean field has an ELBO of −39.4 in a region without one of a scout's 24 000 draws, and from those it is −54.1. Nor are modes
// enough without short fits, or these without modes: 1 of 5 fits of full rank ends 5 nats lower, and 5 of 5 by 3 to 20.
func findStarts(ctx context.Context, d *graph.Density, s Job) ([]family.Q, error) {
	if s.Start != nil {
		q, err := family.Of(s.Family, d, s.Start)
		return slices.Repeat([]family.Q{q}, s.Restarts), err
	}
	s.Watch.Now("looking for a start among %d draws", s.StartDraws)
	all := ctx
	ctx, done := s.Watch.Half.Context(all)
	defer done()
	inTime := func(err error) error { // nil if only the budget is to blame
		if all.Err() == nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
			return nil
		}
		return err
	}
	list, err := candidates(ctx, d, s)
	if d.Params() > 0 && err == nil {
		list, err = scouted(ctx, d, s, list)
	}
	err = inTime(err)
	if len(list) == 0 { // log r is finite nowhere: the fit will say where it is not
		list = []candidate{{q: Prior(d)}}
	}
	var modes []candidate
	if err == nil {
		modes, err = atModes(ctx, d, s.Family, list, s.Watch)
		err = inTime(err)
	}
	list = append(list[:min(trials, len(list))], modes...)
	for k := range list {
		if err == nil {
			list[k].q, err = family.Of(s.Family, d, list[k].q)
		}
	}
	if err == nil {
		err = inTime(runTrials(ctx, d, s, list))
	}
	if err != nil {
		return nil, err
	}
	s.found(list)
	list = bestOf(list, max(1, s.Restarts))
	starts := make([]family.Q, s.Restarts)
	for r := range starts {
		starts[r] = list[r%len(list)].q
	}
	return starts, nil
}

// found logs the starts that were tried, best first.
func (s Job) found(list []candidate) {
	if s.Watch.Logger == nil {
		return
	}
	var elbos []float64 // of those whose short fit did not fail
	for _, c := range list {
		if finite(c.score) {
			elbos = append(elbos, c.score)
		}
	}
	s.Watch.Logger.Info("vi: starts", "draws", s.StartDraws, "tried", len(list), "elbo", elbos)
}
