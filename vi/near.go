package vi

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
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/cells"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/scout"
)

// How much data without sums is searched.
const (
	manyTerms     = 2000 // of log r, from which on its modes are looked for by some of the data:
	someData      = 500  // so many observations, or
	someByLatent  = 40   // times the number of latents;
	someIslands   = 4    // by a small scout
	someParticles = 64
	someDraws     = 64   // of which climb
	modesBelow    = 12   // nats below the highest mode of one that does not count
	nearDraws     = 500  // of log r itself that say how far it is from what it is like near a mode,
	nearEven      = 0.5  // of which are effective, at least,
	mostNear      = 8    // or so many times as many;
	severalDraws  = 4000 // of several modes
)

// modesOf are the modes of a density of much data that has sums near points only (see derive.Density.Sums), the highest
// first. A scout of the posterior given a part of the data, which is wider than the whole posterior and covers it, finds where to
// climb from. There are none for a density with less data, or of another kind.
func modesOf(ctx context.Context, d *graph.Density, s job, over func() bool) (modes []*cells.Mode, err error) {
	if d.Terms() < manyTerms || d.Dim() > derive.MostNear {
		return nil, nil
	}
	some, err := d.Some(s.partSize(d), parallel.Mix(s.Seed, partStream))
	if err != nil {
		return nil, nil // of a kind that is not divided
	}
	sample, err := scout.Run(ctx, some, scout.Settings{Islands: someIslands, Particles: someParticles, Seed: parallel.Mix(s.Seed, scoutStream), Over: over})
	if errors.Is(err, scout.ErrNowhere) {
		return nil, nil
	}
	if err != nil || some.Engine().Sums(sample.Z[0]) == nil {
		return nil, err
	}
	c := cellsFit{sample: sample}
	starts, err := cells.Modes(ctx, some, c.some(someDraws))
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

// partSize is how many observations are enough to look for modes.
func (s job) partSize(d *graph.Density) int {
	return cmp.Or(s.some, max(someData, someByLatent*d.Dim()))
}

// howLooked says, as a reason of a verdict, how modes were looked for.
func (s job) howLooked(d *graph.Density) string {
	return fmt.Sprintf("modes of all the data were looked for from the posterior by %d observations", s.partSize(d))
}

// fitModes fits much data by cells: each mode by the sums near it, all of them judged by log r itself. It
// is nil where there are no such modes.
func fitModes(ctx context.Context, whole *graph.Density, s job, m *monitor) (*Posterior, error) {
	if whole.Terms() >= manyTerms {
		m.at("looking for modes of %d terms", whole.Terms())
	}
	modes, err := modesOf(ctx, whole, s, m.half.Over)
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
	m.at("judging a fit near %d modes", len(modes))
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
		v.Reasons = append(v.Reasons, fmt.Sprintf("log evidence %v by all of the data", p.findings.LogEvidence), s.howLooked(whole))
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
		j := judgement{Verdict: Verdict{Trust: TrustFit}, p: p, s: s, other: "another Settings.Seed"}
		if f.even() < nearEven {
			*v = Verdict{Trust: TrustNothing, Reasons: []string{fmt.Sprintf("log r is not what it is like near its mode: %.0f%% of the draws are effective", 100*f.even())}}
			break
		}
		f.known = j.numbers()
		if more := min(j.needed(nearDraws), mostNear*nearDraws); more > n {
			n = more
			continue
		}
		if j.errors(); j.Trust == TrustNothing && v.Trust != TrustNothing {
			*v = j.Verdict
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

// logProbs is log r at points, which must be finite or −Inf.
func logProbs(d *graph.Density, points [][]float64) ([]float64, error) {
	out, err := draws.LogR(d, points)
	if err == nil && slices.ContainsFunc(out, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 1) }) {
		err = errors.New("log r is not finite")
	}
	return out, err
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
	all := merge(samples, shifts)
	q := mixture.New(logs, parts)
	for k := range f.Cells {
		f.Cells[k].Weight = q.Weight(k)
	}
	f.q, f.Scout = q, all.LogEvidence
	p := &Posterior{Density: whole, Q: q, Settings: fits[0].Settings, findings: f}
	f.Verdict = p.judge(ctx, all, severalDraws)
	return p, nil
}

// merge joins the samples of several parts of a posterior, in each of which log r is higher by a number.
func merge(samples []scout.Result, higher []float64) (all scout.Result) {
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

// scoutModes runs a scout for the sums near each mode of much data, and joins the samples; none reports that there are no such modes.
func scoutModes(ctx context.Context, d *graph.Density, s job, over func() bool) (sample scout.Result, none bool, err error) {
	modes, err := modesOf(ctx, d, s, over)
	if err != nil || len(modes) == 0 {
		return sample, true, err
	}
	samples, higher := make([]scout.Result, len(modes)), make([]float64, len(modes))
	for k, mode := range modes {
		if samples[k], err = scout.Run(ctx, mode.Density, scout.Settings{Seed: parallel.Mix(s.Seed, scoutStream), Over: over}); err != nil {
			return sample, true, err
		}
		c := cellsFit{sample: samples[k]}
		points := c.some(nearDraws)
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
	return merge(samples, higher), false, nil
}

// startsNearModes are starts for a climb with much data: where fits by the sums near each mode end, the
// best first. There are none if there are no such modes.
func startsNearModes(ctx context.Context, d *graph.Density, s job, m *monitor) (starts []family.Q, err error) {
	modes, err := modesOf(ctx, d, s, m.half.Over)
	if err != nil || len(modes) == 0 {
		return nil, err
	}
	climb := s.Climb
	climb.Optimizer, climb.OnStep = nil, func(Step) error { return nil } // no verdict
	of := Settings{Seed: s.Seed, Budget: s.Budget / 4, Method: climb}
	var list []candidate
	for k, mode := range modes {
		p, err := Fit(ctx, mode.Density, of)
		if ctx.Err() != nil {
			return nil, stopped(ctx)
		}
		if err != nil {
			continue // it does not end there
		}
		q, err := family.Of(s.Family, d, p.Q)
		if err != nil {
			return nil, err
		}
		list = append(list, candidate{q: q, region: fmt.Sprint(k), score: p.Restarts[0].ELBO.Value})
	}
	if len(list) == 0 {
		return nil, nil
	}
	rank(list)
	for r := range s.Restarts {
		starts = append(starts, list[r%len(list)].q)
	}
	return starts, nil
}
