package vi

import (
	"context"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/muchdata"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/scout"
	"github.com/facetvi/facet/vi/verdict"
)

// How draws of fits near modes are weighed.
const (
	nearDraws    = 500  // of log r itself that say how far it is from what it is like near a mode,
	nearEven     = 0.5  // of which are effective, at least,
	mostNear     = 8    // or so many times as many;
	severalDraws = 4000 // of several modes
)

// fitModes fits much data by cells: each mode by the sums near it, all of them judged by log r itself. It
// is nil where there are no such modes.
func fitModes(ctx context.Context, whole *graph.Density, s job, m monitor) (*Posterior, error) {
	if whole.Terms() >= muchdata.Terms {
		m.Soon("looking for modes of %d terms", whole.Terms())
	}
	search := s.muchData(m.Half.Over)
	modes, err := search.Modes(ctx, whole)
	if err != nil || len(modes) == 0 {
		return nil, err
	}
	fits, samples := make([]*Posterior, len(modes)), make([]scout.Result, len(modes))
	for k, mode := range modes {
		var c cellsFit
		if fits[k], c, err = fitDensity(ctx, mode.Density, s, m); err != nil || fits[k] == nil {
			return nil, err
		}
		samples[k] = c.sample
	}
	m.Soon("judging a fit near %d modes", len(modes))
	p := fits[0]
	if len(modes) == 1 {
		err = p.correctBy(ctx, whole)
	} else {
		p, err = ofModes(ctx, whole, fits, samples)
	}
	if err != nil {
		return nil, nil // log r is not finite somewhere
	}
	if v := &p.findings.Verdict; v.Trust != TrustNothing {
		v.Reasons = append(v.Reasons, fmt.Sprintf("log evidence %v by all of the data", p.findings.LogEvidence), search.How(whole))
	}
	return p, nil
}

// correctBy turns p, a fit of a density that is an approximation of whole, into a fit of whole: draws are weighed by
// whole. They are fewer, for each costs much; the known moments of the normals make up for that.
func (p *Posterior) correctBy(ctx context.Context, whole *graph.Density) error {
	f, v := p.findings, &p.findings.Verdict
	near := f.LogEvidence.Value
	p.Density = whole
	for n := nearDraws; ; {
		s, err := p.draw(ctx, n)
		if err != nil {
			return err
		}
		f.note(s)
		if f.even() < nearEven {
			*v = Verdict{Trust: TrustNothing, Reasons: []string{fmt.Sprintf("log r is not what it is like near its mode: %.0f%% of the draws are effective", 100*f.even())}}
			break
		}
		if more := min(f.needed(nearDraws), mostNear*nearDraws); more > n {
			n = more
			continue
		}
		if known := verdict.OfNumbers(f.numbers); known.Trust == TrustNothing && v.Trust != TrustNothing {
			*v = known
		}
		break
	}
	change := f.LogEvidence.Value - near
	for k := range f.Cells {
		f.Cells[k].LogEvidence.Value += change
		f.Cells[k].ELBO.Value += change
	}
	f.weighCells()
	f.Scout.Value += change
	return nil
}

// ofModes is the fit of whole by fits near several of its modes, judged by log r itself.
func ofModes(ctx context.Context, whole *graph.Density, fits []*Posterior, samples []scout.Result) (*Posterior, error) {
	f := &findings{}
	var logs, shifts []float64
	var parts []family.Q
	for k, p := range fits {
		near := p.findings
		if err := p.correctBy(ctx, whole); err != nil {
			return nil, err
		}
		q, _ := p.Q.(*mixture.Mixture)
		for j, c := range near.Cells {
			logs, parts = append(logs, near.LogEvidence.Value+math.Log(q.Weight(j))), append(parts, q.Part(j))
			c.Where = fmt.Sprintf("%s, near mode %d", c.Where, k+1)
			f.Cells = append(f.Cells, c)
		}
		f.Tried += near.Tried
		f.Left, f.Unfinished = max(f.Left, near.Left), max(f.Unfinished, near.Unfinished)
		f.Cut = append(f.Cut, near.Cut...)
		shifts = append(shifts, near.Scout.Value-samples[k].LogEvidence.Value)
	}
	all := muchdata.Join(samples, shifts)
	q := mixture.New(logs, parts)
	for k := range f.Cells {
		f.Cells[k].Weight = q.Weight(k)
	}
	f.q, f.Scout = q, all.LogEvidence
	p := &Posterior{Density: whole, Q: q, Settings: fits[0].Settings, findings: f}
	f.Verdict = p.judge(ctx, all, severalDraws)
	return p, nil
}
