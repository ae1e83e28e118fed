package vi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/cells"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/scout"
)

// A Cell is one part of a posterior: a part of the latent space inside which the
// density does not fall off a cliff, and how much of the posterior is there.
type Cell struct {
	// Where says which part, by the guards or the latents that bound it: "change in
	// (1889, 1890)", "on: 5-11, 16-20".
	Where  string
	Weight float64 // the probability of the cell
	// ELBO and LogEvidence are those of the density inside the cell, in nats; KHat is that of
	// importance sampling there.
	ELBO, LogEvidence Estimate
	KHat              float64
}

// found is what is known of a fit beside Q: of a fit of cells from its search, else what
// has been asked for.
type found struct {
	mu          sync.Mutex
	q           family.Q // that it is known of
	Cells       []Cell
	Tried       int     // cells that were looked at
	Left        float64 // how much of the posterior is in cells that were found and not kept
	Unfinished  float64 // how much of it cells may have that were not looked at
	LogEvidence Estimate
	Scout       Estimate // the log evidence that owes nothing to Q
	Reweighted  []check.Reweighted
	Verdict     Verdict // none yet if Trust is ""
}

// How much is spent on a search for cells.
const (
	mostTried   = 3000
	leadDraws   = 300
	cellSteps   = 300
	cellSamples = 16
)

// fitCells finds the cells of a posterior and a distribution for each.
func fitCells(ctx context.Context, d *graph.Density, s Settings, m *monitor) (*Posterior, error) {
	sample, err := scout.Run(ctx, d, scout.Settings{Seed: mc.Mix(s.Seed, scoutStream), Progress: func(beta float64) {
		m.progress.soon(fmt.Sprintf("scouting: at %.2g of the data's weight", beta))
	}})
	if err != nil {
		return nil, err
	}
	m.scouted(sample.LogEvidence)
	find := func(switches []graph.Switch) (*cells.Search, error) {
		return cells.Find(ctx, d, cells.Settings{
			Points: leads(d, sample.Z), Most: mostTried, Seed: mc.Mix(s.Seed, cellStream), Switches: switches,
			Progress: func(tried, found int) {
				m.progress.soon(fmt.Sprintf("searching: %d cells tried, %d found", tried, found))
			},
		})
	}
	search, err := s.search(d, sample, find)
	if err != nil {
		return nil, err
	}
	if len(search.Cells) == 0 {
		return nil, errNoCells
	}
	kept, left, err := search.Finish(ctx, cells.Finish{Most: s.Cells, Climb: s.climbCell(d)})
	if err != nil {
		return nil, err
	}
	f := &found{Tried: search.Tried, Left: left, Unfinished: search.Unfinished(), Scout: sample.LogEvidence}
	logs, parts := make([]float64, len(kept)), make([]family.Q, len(kept))
	for k, c := range kept {
		logs[k], parts[k] = c.LogEvidence.Mean, c.Q
	}
	mixture := family.NewMixture(logs, parts)
	f.q = mixture
	for k, c := range kept {
		f.Cells = append(f.Cells, Cell{c.Where(search), mixture.Weight(k), c.ELBO, c.LogEvidence, c.KHat})
	}
	p := &Posterior{Density: d, Q: mixture, Settings: s, found: f}
	if f.Verdict, err = p.judge(sample); err != nil {
		return nil, err
	}
	if f.Verdict.Trust == TrustNothing {
		p.Warnings = append(p.Warnings, f.Verdict.String())
	}
	m.searched(f)
	return p, nil
}

var errNoCells = errors.New("no cell has a finite density")

// search looks for cells. Where the posterior is in more cells than can be looked at, as
// with a threshold for each of many groups, it sums switches out.
func (s Settings) search(d *graph.Density, sample scout.Result, find func([]graph.Switch) (*cells.Search, error)) (*cells.Search, error) {
	switches := d.Switches()
	scattered, err := cells.Scattered(d, sample.Z)
	if err != nil {
		return nil, err
	}
	if len(switches) == 0 || scattered < mostScattered {
		search, err := find(nil)
		if err != nil || len(switches) == 0 || len(search.Cells) > 0 && search.Unfinished() < mostMissed {
			return search, err
		}
	}
	return find(switches)
}

// mostScattered is the part of a scout's draws that may be in cells that have no other
// draw.
const mostScattered = 0.35

// leads are draws in different regions, those that most draws are in first.
func leads(d *graph.Density, z [][]float64) (list [][]float64) {
	return cells.Different(d, z, leadDraws)
}

// climbCell returns what fits the distribution of a cell.
func (s Settings) climbCell(d *graph.Density) func(context.Context, family.Q) (family.Q, error) {
	return func(ctx context.Context, q family.Q) (family.Q, error) {
		if _, err := family.Bind(q, 1); err != nil {
			return q, nil // not by gradients
		}
		climb := Settings{
			Samples: cellSamples, Estimator: Reparam{}, Steps: cellSteps, StepSize: q.Family().StepSize(),
			Average: 0.5, TraceEvery: math.MaxInt, Seed: mc.Mix(s.Seed, trialStream),
		}
		g, err := gradient.NewRunner(d, q, climb.Estimator, climb.Samples, climb.Seed)
		if err != nil {
			return nil, err
		}
		f := fitterWith(g, d, climb, q)
		if err := f.run(ctx, nil); err != nil {
			return q, stopped(ctx)
		}
		return f.result(), nil
	}
}
