// Package muchdata finds the modes of densities of much data by a part of the data. The posterior given a part is wider
// than the whole one and covers it: a scout of it finds where to climb from.
//
//	density ─▶ a part of its data ─▶ scout ─▶ modes of the part ─▶ modes of the density, and the sums near each
package muchdata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/draws"
	"github.com/facetvi/facet/vi/internal/cells"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/scout"
)

// Terms is how many terms log r has at least where its modes are looked for by some of the data.
const Terms = 2000

const (
	someData      = 500 // so many observations, or
	someByLatent  = 40  // times the number of latents;
	someIslands   = 4   // by a small scout
	someParticles = 64
	someDraws     = 64  // of which climb
	modesBelow    = 12  // nats below the highest mode of one that does not count
	weighedDraws  = 500 // of a scout near a mode, by which it is weighed
)

// A Search looks for modes.
type Search struct {
	Seed uint64
	Over func() bool // the time for scouts is over
	Part int         // observations that modes are looked for by; as many as are enough if 0
}

// Modes are the modes of a density of much data that has sums near points only (see derive.Density.Sums), the highest
// first. There are none for a density with less data, or of another kind.
func (s Search) Modes(ctx context.Context, d *graph.Density) (modes []*cells.Mode, err error) {
	if d.Terms() < Terms || d.Dim() > derive.MostNear {
		return nil, nil
	}
	some, err := d.Some(s.part(d), parallel.Mix(s.Seed, streams.Parts))
	if err != nil {
		return nil, nil // of a kind that is not divided
	}
	sample, err := scout.Run(ctx, some, scout.Settings{Islands: someIslands, Particles: someParticles, Seed: parallel.Mix(s.Seed, streams.Scout), Over: s.Over})
	if errors.Is(err, scout.ErrNowhere) {
		return nil, nil
	}
	if err != nil || some.Engine().Sums(sample.Z[0]) == nil {
		return nil, err
	}
	starts, err := cells.Modes(ctx, some, ofIslands(sample, someDraws))
	if err != nil {
		return nil, err
	}
	for _, z := range starts {
		mode, err := cells.Near(ctx, d, z)
		if err != nil {
			return nil, err
		}
		if mode != nil && !slices.ContainsFunc(modes, mode.Same) {
			modes = append(modes, mode)
		}
	}
	slices.SortStableFunc(modes, func(a, b *cells.Mode) int { return cmp.Compare(b.Log, a.Log) })
	return slices.DeleteFunc(modes, func(x *cells.Mode) bool { return x.Log < modes[0].Log-modesBelow }), nil
}

// part is how many observations are enough to look for modes.
func (s Search) part(d *graph.Density) int {
	return cmp.Or(s.Part, max(someData, someByLatent*d.Dim()))
}

// ofIslands are n of a scout's draws, of as many islands as there are.
func ofIslands(sample scout.Result, n int) (draws [][]float64) {
	for k := range min(n, len(sample.Z)) {
		draws = append(draws, sample.Z[(2*k+1)*len(sample.Z)/(2*n)])
	}
	return draws
}

// How says, as a reason of a verdict, how modes were looked for.
func (s Search) How(d *graph.Density) string {
	return fmt.Sprintf("modes of all the data were looked for from the posterior by %d observations", s.part(d))
}

// Scout runs a scout for the sums near each mode, and joins the samples; none reports that there are no such modes.
func (s Search) Scout(ctx context.Context, d *graph.Density) (sample scout.Result, none bool, err error) {
	modes, err := s.Modes(ctx, d)
	if err != nil || len(modes) == 0 {
		return sample, true, err
	}
	samples, higher := make([]scout.Result, len(modes)), make([]float64, len(modes))
	for k, mode := range modes {
		if samples[k], err = scout.Run(ctx, mode.Density, scout.Settings{Seed: parallel.Mix(s.Seed, streams.Scout), Over: s.Over}); err != nil {
			return sample, true, err
		}
		points := ofIslands(samples[k], weighedDraws)
		to, err := logProbs(d, points)
		if err != nil {
			return sample, true, nil // log r is not finite somewhere
		}
		from, err := logProbs(mode.Density, points)
		if err != nil {
			return sample, true, nil
		}
		floats.Sub(to, from)
		higher[k] = floats.LogSumExp(to) - math.Log(float64(len(to)))
	}
	return Join(samples, higher), false, nil
}

// logProbs is log r at points, which must be finite or −Inf.
func logProbs(d *graph.Density, points [][]float64) ([]float64, error) {
	out, err := draws.LogR(d, points)
	if err == nil && slices.ContainsFunc(out, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 1) }) {
		err = errors.New("log r is not finite")
	}
	return out, err
}

// Join joins the samples of several parts of a posterior, in each of which log r is higher by a number.
func Join(samples []scout.Result, higher []float64) (all scout.Result) {
	var logs []float64
	for k, sample := range samples {
		for j, z := range sample.Z {
			all.Z, all.LogProb = append(all.Z, z), append(all.LogProb, sample.LogProb[j]+higher[k])
			all.Island = append(all.Island, len(all.Islands)+sample.Island[j])
		}
		for _, e := range sample.Islands {
			all.Islands = append(all.Islands, e+higher[k])
		}
		logs = append(logs, sample.LogEvidence.Value+higher[k])
		all.LogEvidence.SE = max(all.LogEvidence.SE, sample.LogEvidence.SE)
		all.Evaluations += sample.Evaluations
		all.Beta = sample.Beta
	}
	all.LogEvidence.Value = floats.LogSumExp(logs)
	return all
}
