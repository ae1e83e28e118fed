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
	"github.com/facetvi/facet/vi/cells"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/draws"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
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
	nearError     = 0.01 // and with this standard error of means, in standard deviations, or four times as many;
	severalDraws  = 4000 // of several modes
)

// modesOf are the modes of a density of much data that has no sums but near points (see graph.SumsNear), highest
// first. Where to climb from is looked for by a part of the data: its posterior is wider, and the whole one's is
// inside it. There are none for a density with less data, or of another kind.
func modesOf(ctx context.Context, d *graph.Density, s Settings, over func() bool) (modes []*cells.Mode, err error) {
	if d.Terms() < manyTerms || d.Dim() > graph.MostNear {
		return nil, nil
	}
	some, err := d.Some(s.partSize(d), mc.Mix(s.Seed, partStream))
	if err != nil {
		return nil, nil // of a kind that is not divided
	}
	sample, err := scout.Run(ctx, some, scout.Settings{Islands: someIslands, Particles: someParticles, Seed: mc.Mix(s.Seed, scoutStream), Over: over})
	if errors.Is(err, scout.ErrNowhere) {
		return nil, nil
	}
	if err != nil || some.SumsNear(sample.Z[0]) == nil {
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

// partSize is how many observations modes are looked for by.
func (s Settings) partSize(d *graph.Density) int {
	return cmp.Or(s.some, max(someData, someByLatent*d.Dim()))
}

// howLooked is a reason of a verdict.
func (s Settings) howLooked(d *graph.Density) string {
	return fmt.Sprintf("modes of all the data were looked for from the posterior by %d observations", s.partSize(d))
}

// fitModes is a fit of cells of much data: of what log r is near each of its modes, judged by log r itself. It
// is nil where there are no such modes.
func fitModes(ctx context.Context, whole *graph.Density, s Settings, m *monitor) (*Posterior, error) {
	if whole.Terms() >= manyTerms {
		m.at("looking for modes of %d terms", whole.Terms())
	}
	modes, err := modesOf(ctx, whole, s, m.half.Over)
	if err != nil || len(modes) == 0 {
		return nil, err
	}
	fits, samples := make([]*Posterior, len(modes)), make([]scout.Result, len(modes))
	for k, mode := range modes {
		if fits[k], samples[k], err = fitDensity(ctx, mode.Density, s, m); err != nil || fits[k] == nil {
			return nil, err
		}
	}
	m.at("judging a fit near %d modes", len(modes))
	p := fits[0]
	if len(modes) == 1 {
		err = p.correctBy(whole)
	} else {
		p, err = ofModes(whole, fits, samples)
	}
	if err != nil {
		return nil, nil // log r is not finite somewhere
	}
	if v := &p.findings.Verdict; v.Trust != TrustNothing {
		v.Reasons = append(v.Reasons, fmt.Sprintf("log evidence %v by all of the data", p.findings.LogEvidence), s.howLooked(whole))
	}
	return p, nil
}

// correctBy makes p, a fit of a density that is near whole and judged by that one, a fit of whole. What differs is
// told by draws at which both are evaluated: E_r[f] − E_e[f] = Σ (w_r − w_e)·f, with weights that are nearly
// the same. The means of the fit follow.
func (p *Posterior) correctBy(whole *graph.Density) error {
	f, v := p.findings, &p.findings.Verdict
	near := &Posterior{Density: p.Density, Q: p.Q, Settings: p.Settings}
	p.Density = whole
	var c correction
	for _, n := range [...]int{nearDraws, 4 * nearDraws} {
		a, err := near.weigh(n, mc.Mix(p.Settings.Seed, judgeStream))
		if err != nil {
			return err
		}
		if c, err = newCorrection(near.Density, whole, a); err != nil {
			return err
		}
		if c.even < nearEven || c.error(f) < nearError {
			break
		}
	}
	if c.even < nearEven {
		v.Trust = TrustNothing
		v.Reasons = []string{fmt.Sprintf("log r is not what it is like near its mode: %.0f%% of the draws are effective", 100*c.even)}
		return nil
	}
	f.LogEvidence.Value += c.evidence.Value
	f.LogEvidence.SE = math.Hypot(f.LogEvidence.SE, c.evidence.SE)
	f.even *= c.even
	for k := range f.Cells {
		f.Cells[k].LogEvidence.Value += c.evidence.Value
		f.Cells[k].ELBO.Value += c.evidence.Value
	}
	f.Scout.Value += c.evidence.Value
	p.shift(c.points, c.change)
	off := ""
	for i := range f.Reweighted {
		l := &f.Reweighted[i]
		l.FitMean, l.FitSD = p.meanSD(i)
		l.Mean.Value += c.mean[i].Value
		l.Mean.SE = math.Hypot(l.Mean.SE, c.mean[i].SE)
		was := l.SD
		l.SD = math.Sqrt(max(0, l.SD*l.SD+c.variance[i].Value))
		l.SDSE = math.Hypot(l.SDSE, c.variance[i].SE/(2*l.SD))
		if off == "" && math.Abs(l.SD-was)-c.variance[i].SE/l.SD > offSD*l.SD {
			off = fmt.Sprintf("%s has a standard deviation of %.2g, and %.2g in the fit", l.Name, l.SD, l.FitSD)
		}
	}
	if v.Trust == TrustFit && off != "" {
		v.Trust = TrustReweighted
		v.Reasons = append(v.Reasons, off)
	}
	return nil
}

// A correction is what draws say of the difference of a density from another one that is near.
type correction struct {
	evidence       Estimate    // its logarithm
	mean, variance []Estimate  // of each latent
	even           float64     // part of the draws of the one that is effective for the other
	points         [][]float64 // the draws, in unconstrained coordinates
	change         []float64   // of the weights, by draw
}

// newCorrection compares near, that a has weighted draws of, with whole.
func newCorrection(near, whole *graph.Density, a check.Importance) (c correction, err error) {
	c.points = a.Draws.Points()
	from, err := logProbs(near, c.points)
	if err != nil {
		return c, err
	}
	to, err := logProbs(whole, c.points)
	if err != nil {
		return c, err
	}
	logs := make([]float64, len(to))
	for k := range logs {
		logs[k] = math.Log(a.Weights[k]) + to[k] - from[k]
	}
	c.evidence.Value = floats.LogSumExp(logs)
	square, weight := 0.0, make([]float64, len(logs))
	for k, l := range logs {
		weight[k] = math.Exp(l - c.evidence.Value)
		c.change = append(c.change, weight[k]-a.Weights[k])
		c.evidence.SE += c.change[k] * c.change[k]
		if a.Weights[k] > 0 {
			square += weight[k] * weight[k] / a.Weights[k]
		}
	}
	c.evidence.SE, c.even = math.Sqrt(c.evidence.SE), 1/square
	for i := range a.Latents {
		m, v := weighted(a.Draws.Values, a.Weights, i)
		mean, variance := weighted(a.Draws.Values, weight, i)
		change, wider := Estimate{Value: mean - m}, Estimate{Value: variance - v}
		for k, x := range a.Draws.Values {
			d, e := x[i]-m, x[i]-mean
			one := weight[k]*e - a.Weights[k]*d
			change.SE += one * one
			one = weight[k]*(e*e-variance) - a.Weights[k]*(d*d-v)
			wider.SE += one * one
		}
		change.SE, wider.SE = math.Sqrt(change.SE), math.Sqrt(wider.SE)
		c.mean, c.variance = append(c.mean, change), append(c.variance, wider)
	}
	return c, nil
}

// weighted are the mean and the variance of latent i.
func weighted(points [][]float64, weight []float64, i int) (mean, variance float64) {
	for k, x := range points {
		mean += weight[k] * x[i]
	}
	for k, x := range points {
		variance += weight[k] * (x[i] - mean) * (x[i] - mean)
	}
	return mean, variance
}

// logProbs is log r at points, which must be finite or −Inf.
func logProbs(d *graph.Density, points [][]float64) ([]float64, error) {
	out, err := draws.LogR(d, points)
	if err == nil && slices.ContainsFunc(out, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 1) }) {
		err = errors.New("log r is not finite")
	}
	return out, err
}

// error is the largest standard error of a mean, in standard deviations.
func (c *correction) error(f *findings) (most float64) {
	for i, l := range f.Reweighted {
		most = max(most, c.mean[i].SE/l.SD)
	}
	return most
}

// shift moves the normals of the fit by what the change of the draws' weights says of the means.
func (p *Posterior) shift(points [][]float64, change []float64) {
	by := make([]float64, p.Density.Dim())
	for k, z := range points {
		floats.AddScaled(by, change[k], z)
	}
	p.Q = family.Shifted(p.Q, by)
	p.findings.q = p.Q
}

// ofModes is the fit of whole by fits near several of its modes, judged by log r itself.
func ofModes(whole *graph.Density, fits []*Posterior, samples []scout.Result) (*Posterior, error) {
	f := &findings{}
	var logs, shifts []float64
	var parts []family.Q
	for k, p := range fits {
		near := p.findings
		if err := p.correctBy(whole); err != nil {
			return nil, err
		}
		q, _ := p.Q.(family.Mixed)
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
	mixture := family.NewMixture(logs, parts)
	for k := range f.Cells {
		f.Cells[k].Weight = mixture.Weight(k)
	}
	f.q, f.Scout = mixture, all.LogEvidence
	p := &Posterior{Density: whole, Q: mixture, Settings: fits[0].Settings, findings: f}
	f.Verdict = p.judge(all, severalDraws)
	return p, nil
}

// merge is a sample of all that samples are of, each of a part whose log r is higher by a number.
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

// scoutModes is a scout of what log r of much data is near its modes; none reports that there are none of these.
func scoutModes(ctx context.Context, d *graph.Density, s Settings, over func() bool) (sample scout.Result, none bool, err error) {
	modes, err := modesOf(ctx, d, s, over)
	if err != nil || len(modes) == 0 {
		return sample, true, err
	}
	samples, higher := make([]scout.Result, len(modes)), make([]float64, len(modes))
	for k, mode := range modes {
		if samples[k], err = scout.Run(ctx, mode.Density, scout.Settings{Seed: mc.Mix(s.Seed, scoutStream), Over: over}); err != nil {
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

// startsNearModes are starts for a fit of one family of much data: where fits of what log r is near its modes end, the
// best first. There are none if there are no such modes.
func startsNearModes(ctx context.Context, d *graph.Density, s Settings, m *monitor) (starts []family.Q, err error) {
	modes, err := modesOf(ctx, d, s, m.half.Over)
	if err != nil || len(modes) == 0 {
		return nil, err
	}
	of := s
	of.Budget, of.Progress, of.Logger, of.Checkpoint, of.Optimizer = s.Budget/4, nil, nil, "", nil
	of.OnStep = func(Step) error { return nil } // no verdict
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
