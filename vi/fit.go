package vi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
)

// Fit fits a distribution to the posterior of d.
//
// By default it looks for the cells that hold the posterior, gives each a distribution,
// and judges their mixture: see Cells, Posterior.Cells and Posterior.Verdict. If that cannot be trusted, or if there are more
// than 300 latents, it goes on with a Sampler. With the method Climb
// it maximises the ELBO of one family by stochastic gradient
// ascent: from the best start that it finds (see Climb.Start), by Adam, to the
// average of the last iterates (see Climb.Average). A model with parameters (see graph.Model.Param) is
// fitted by a Climb, of family.FullRank by default: the ELBO is maximised by the parameters together
// with the distribution.
//
// A climb stops early if ctx is done, if OnStep fails, or if a gradient is not
// finite. The error then says why and names the step and the latents, and the
// fit beside it holds the last good state, from which Resume goes on. If ctx stops a search for cells, the fit beside the
// error is a normal at the prior's centre. The fit is nil only if settings make no sense or no cell has a
// finite density.
func Fit(ctx context.Context, d *graph.Density, settings Settings) (*Posterior, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	s := newJob(d, settings)
	err := s.check(d)
	if err == nil && !s.searches && !s.sampled {
		err = s.climb.Unused(s.Checkpoint != "")
	}
	if err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	release, err := s.lockCheckpoint(d)
	if err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	defer release()
	m := newMonitor(s)
	defer m.End()
	if s.tooLarge(d) {
		s.searches, s.sampled = false, true
	}
	switch {
	case s.searches:
		return runCells(ctx, d, s, m)
	case s.sampled:
		return runSampler(ctx, d, s, m)
	}
	return newClimb(ctx, d, s, m, nil)
}

var errNoContext = errors.New("vi: a nil context")

// cause says why ctx, which is done, is. A context of another package may have an
// error without a cause.
func cause(ctx context.Context) error { return cmp.Or(context.Cause(ctx), ctx.Err()) }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
