package vi

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/scout"
)

// A Trust says which numbers of a fit can be relied on.
type Trust string

// The fit's own numbers; those of Posterior.Importance, but not the fit's own; none.
const (
	TrustFit        Trust = "trust"
	TrustReweighted Trust = "trust the reweighted numbers"
	TrustNothing    Trust = "do not trust"
)

// A Verdict is what is known of how near a fit is to the posterior.
type Verdict struct {
	Trust   Trust
	Reasons []string // why
	Try     []string // what may help
	// Draws is how many draws of Posterior.Importance the reweighted numbers need.
	Draws int
}

// String is the verdict in a line or a few.
func (v Verdict) String() string {
	s := string(v.Trust)
	if len(v.Reasons) > 0 {
		s += ": " + strings.Join(v.Reasons, "; ")
	}
	if len(v.Try) > 0 {
		s += "\ntry " + strings.Join(v.Try, "; or ")
	}
	return s
}

// What a verdict goes by.
const (
	evidenceDraws  = 10_000
	cheapGuards    = 1000 // with more, draws are fewer
	scoutErrors    = 4    // standard errors of a scout, which come from few islands
	scoutNats      = 0.15 // beside them
	unevenIslands  = 0.5  // of the scout's log evidence, a standard error
	leastEffective = 0.1  // of the draws
	fewEffective   = 0.3  // of the draws, where k-hat is high; and
	heavy          = 100. // times the mean, a weight that makes k-hat count
	mostSE         = 0.1  // of a log evidence, in nats
	moreDraws      = 4    // times as many, if moments need them
	scoutDraws     = 1000 // that are looked at, at least, and
	mostScoutDraws = 4000
	cheapParts     = 100  // with more, they are fewer
	mostMissed     = 0.04 // of the scout's draws, or of the mass that was found
	outOfSight     = 7    // log of the posterior over the fit, at a draw that reweighting does not see
	knownMean      = 0.05 // of a standard deviation, largest standard error,
	seenMean       = 0.02 // and of what the scout sees that the reported one may not,
	knownSD        = 0.03
	rare           = 1e-3 // of the mass, far out, which may have any part in a standard deviation: a fit may leave it out; twice that of a scout's draws, which are few
	rareValue      = 0.1  // of a step between values, see spread
	offMean        = 0.03 // and largest errors of the fit
	offSD          = 0.06
)

// evidenceDraws is how many draws are weighted: fewer of a density that takes long.
func (p *Posterior) evidenceDraws() int {
	return evidenceDraws * cheapGuards / max(cheapGuards, min(5*cheapGuards, p.Density.Arrangement().Len()))
}

// finalDraws are evidenceDraws, or a tenth of them when the budget of the fit is over.
func (p *Posterior) finalDraws(m *monitor) int {
	n := p.evidenceDraws()
	if m.budget.Over() {
		return n / 10
	}
	return n
}

// judge compares a fit with a scout, which owes nothing to it, and with its own
// reweighted draws, of which it takes more where that is all that is missing.
func (p *Posterior) judge(sample scout.Result, draws int) Verdict {
	v, few := p.judgeBy(sample, draws)
	if few {
		v, _ = p.judgeBy(sample, moreDraws*draws)
	}
	return v
}

// judgeBy is judge by n draws. It reports whether they were too few and all else is well.
func (p *Posterior) judgeBy(sample scout.Result, n int) (v Verdict, few bool) {
	w, err := p.weigh(n, mc.Mix(p.Settings.Seed, judgeStream))
	if err != nil {
		return Verdict{Trust: TrustNothing, Reasons: []string{err.Error()}}, false
	}
	p.findings.note(w)
	p.findings.even = w.ESS / float64(n)
	j := judgement{Verdict: Verdict{Trust: TrustFit, Draws: n}, p: p, w: w, sample: sample, other: "family.Cells"}
	if p.hasCells() || p.Density.Params() > 0 {
		j.other = "another Seed"
	}
	j.weights()
	j.evidence()
	j.search()
	few = j.Trust != TrustNothing
	j.errors()
	if j.Trust == TrustNothing {
		return j.Verdict, few
	}
	j.fit()
	j.Reasons = append(j.Reasons, fmt.Sprintf("k-hat %.2f; log evidence %v, and %v by the scout", w.K, w.LogEvidence, sample.LogEvidence))
	j.Reasons = append(j.Reasons, j.doubts...)
	return j.Verdict, false
}

// A judgement is a verdict that is being made, question by question.
type judgement struct {
	Verdict
	p      *Posterior
	w      check.Importance
	sample scout.Result
	other  string    // a fit to try
	seen   []moments // errors of the moments, as the scout sees them
	doubts []string  // that are no reason to refuse
}

func (j *judgement) refuse(try, format string, args ...any) {
	j.Trust = TrustNothing
	j.Reasons = append(j.Reasons, fmt.Sprintf(format, args...))
	if !slices.Contains(j.Try, try) {
		j.Try = append(j.Try, try)
	}
}

// weights asks whether enough of the draws count.
func (j *judgement) weights() {
	n := float64(j.Draws)
	part := j.w.ESS / n
	switch {
	case part < leastEffective || !j.w.Reliable() && (part < fewEffective || floats.Max(j.w.Weights)*n > heavy):
		j.refuse(j.other, "k-hat %.2f: a few draws outweigh the others", j.w.K)
	case j.w.LogEvidence.SE > mostSE:
		j.refuse("more draws", "the log evidence is known to %.2g nats only", j.w.LogEvidence.SE)
	}
}

// evidence asks whether the scout has found what the fit has.
func (j *judgement) evidence() {
	se := math.Hypot(j.w.LogEvidence.SE, j.sample.LogEvidence.SE)
	gap := j.sample.LogEvidence.Value - j.w.LogEvidence.Value
	switch {
	case j.sample.Beta < 1:
		j.refuse("a longer Settings.Budget", "the budget ended before the scout had arrived: where the fit is not nobody has looked")
		return
	case gap > scoutErrors*se+scoutNats:
		j.refuse(j.other, "the scout's log evidence %v is above the fit's, %v: the fit misses explanations", j.sample.LogEvidence, j.w.LogEvidence)
		return
	}
	if gap > -scoutErrors*se-1 {
		var missed float64
		if missed, j.seen = j.p.compare(j.sample, j.w); missed > mostMissed {
			j.refuse(j.other, "%.0f%% of the scout's draws are where the fit is not", 100*missed)
		}
		if j.sample.LogEvidence.SE > unevenIslands {
			j.seen = nil // few islands have all the weight, and few draws of theirs all the errors
		}
	}
	if gap > -scoutErrors*min(se, 1)-1 {
		return
	}
	const text = "the scout did not arrive, and ended %.0f nats below the fit: "
	if j.p.hasCells() {
		j.doubts = append(j.doubts, fmt.Sprintf(text+"only climbs from its draws have looked where the fit is not", -gap))
	} else {
		j.refuse(j.other, text+"where the fit is not nobody has looked", -gap)
	}
}

// search asks what a search for cells has left out.
func (j *judgement) search() {
	f := j.p.findings
	if f.Left > mostMissed {
		j.refuse("a higher Settings.Cells, or a lower Settings.Tolerance", "%.0f%% of the posterior is in cells that were not kept", 100*f.Left)
	}
	if f.Unfinished > mostMissed {
		try := "another Seed, or a family of one normal beside it"
		if f.Cut != nil {
			try = "a longer Settings.Budget"
		}
		j.refuse(try, "the search ended before it had seen all cells that may matter")
	}
}

// errors asks how well the moments of the latents are known. The first that is not is a reason.
func (j *judgement) errors() {
	for i := j.p.Density.Params(); i < len(j.w.Latents); i++ {
		l, e := j.w.Latents[i], j.errorsOf(i)
		if !(e.mean > seenMean || e.sd > knownSD) { // also where there is nothing to know, as of one value
			continue
		}
		what := fmt.Sprintf("the mean of %s is known to %.2g of its standard deviation only", l.Name, e.mean)
		if e.sd > 0 {
			what += fmt.Sprintf(", and that to %.1f%%", 100*e.sd)
		}
		j.refuse(j.other, "%s", what)
		return
	}
}

// errorsOf are the standard errors of latent i's moments.
func (j *judgement) errorsOf(i int) moments {
	l := j.w.Latents[i]
	square, variance := make([]float64, len(j.w.Weights)), make([]float64, len(j.w.Weights))
	for k, x := range j.w.Draws.Values {
		off := (x[i] - l.Mean.Value) / l.SD
		square[k], variance[k] = off*off, j.w.Weights[k]*j.w.Weights[k]
	}
	e := moments{l.Mean.SE / l.SD * seenMean / knownMean, sdError(rare, square, j.w.Weights, variance)}
	if j.seen != nil {
		e.mean, e.sd = max(e.mean, j.seen[i].mean), max(e.sd, j.seen[i].sd)
	}
	if math.Abs(l.FitSD-l.SD) < offSD*l.SD {
		e.sd /= 2 // the fit's own, which has no noise of draws, says the same
	}
	if values, _ := j.p.Density.Values(i); values != nil {
		e.sd = 0 // of a value that is rare few draws know how rare, and its mean says enough
		e.mean *= l.SD / spread(values, l)
	}
	return e
}

// fit asks whether the fit's own moments are those by importance. The first latent of which they are not is a reason.
func (j *judgement) fit() {
	for i := j.p.Density.Params(); i < j.p.Density.Dim(); i++ {
		l := j.w.Latents[i]
		off := math.Abs(l.FitMean-l.Mean.Value) > offMean*l.SD || math.Abs(l.FitSD-l.SD)+l.SDSE > offSD*l.SD
		if values, _ := j.p.Density.Values(i); values != nil { // as in errorsOf
			off = math.Abs(l.FitMean-l.Mean.Value) > offMean*spread(values, l)+2*l.Mean.SE
		}
		if off {
			j.Trust = TrustReweighted
			j.Reasons = append(j.Reasons, fmt.Sprintf("%s is %.4g ± %.2g by importance, and %.4g ± %.2g in the fit", l.Name, l.Mean.Value, l.SD, l.FitMean, l.FitSD))
			return
		}
	}
}

// spread is in what units the mean of a latent with such values is judged: its standard
// deviation, or where nearly all draws are of one value a tenth of a step between values.
func spread(values []float64, l check.Reweighted) float64 {
	step := math.Inf(1)
	for j := range values[1:] {
		step = min(step, values[j+1]-values[j])
	}
	return max(l.SD, l.FitSD, rareValue*step)
}

// moments are of a mean and a standard deviation, in standard deviations.
type moments struct{ mean, sd float64 }

// sdError is the standard error of a standard deviation, in its units: given points' squared
// distances from the mean, in these units, their masses, and the variances that
// they bring to the mean of the squares. Those farthest out that together have no more mass
// than left do not count.
func sdError(left float64, square, mass, variance []float64) float64 {
	order := make([]int, len(square))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(square[b], square[a]) })
	sum := 0.0
	for _, k := range order {
		if left -= mass[k]; left < 0 {
			sum += variance[k] * (square[k] - 1) * (square[k] - 1)
		}
	}
	return math.Sqrt(sum) / 2
}

// compare looks at a scout's draws, for where the posterior is much higher than what importance
// draws are from. It returns the part of the draws that are out of their sight, times four, and the standard
// errors that the others bring to the moments of each latent: with weights w = r/q, n draws
// of q give an expectation of f a variance of E[w·(f − E[f])²]/n, which is of the posterior, and which draws
// of q see too low where w has a heavy tail. Islands count by their evidences: one that
// is stuck where there is little knows nothing of how little.
func (p *Posterior) compare(sample scout.Result, w check.Importance) (missed float64, errors []moments) {
	q, total := p.defensive(), floats.LogSumExp(sample.Islands)
	looked := mostScoutDraws
	if m, ok := q.(family.Mixed); ok {
		looked = max(scoutDraws, looked*cheapParts/max(cheapParts, m.Len()))
	}
	step := max(1, len(sample.Z)/looked)
	all := make([]float64, len(sample.Islands))
	var points [][]float64
	for k := 0; k < len(sample.Z); k += step {
		all[sample.Island[k]]++
		points = append(points, sample.Z[k])
	}
	var seen [][]float64 // points, by the fit
	var mass, variance []float64
	for j, logQ := range family.LogProbs(q, points) {
		k := j * step
		i := sample.Island[k]
		part := math.Exp(sample.Islands[i]-total) / all[i]
		over := sample.LogProb[k] - w.LogEvidence.Value - logQ
		if over > outOfSight {
			missed += 4 * part
			continue
		}
		seen, mass = append(seen, points[j]), append(mass, part)
		variance = append(variance, part*math.Exp(over)/float64(len(w.Weights)))
	}
	square := make([]float64, len(seen))
	for i, l := range w.Latents {
		for k, z := range seen {
			off := (p.Density.ConstrainOne(i, z[i]) - l.Mean.Value) / l.SD
			square[k] = off * off
		}
		errors = append(errors, moments{math.Sqrt(floats.Dot(variance, square)), sdError(2*rare, square, mass, variance)})
	}
	return min(1, missed), errors
}

// Verdict says whether the fit can be relied on: by where a scout, tempered sequential
// Monte Carlo that owes nothing to the fit, finds the posterior, and by importance
// weights. A fit of cells has it from its search, and a fit of one family with 80 000
// samples of gradients or more from its end: it is among Posterior.Warnings then, if it is
// not to trust the fit. Of shorter fits, and of those that OnStep watches or that an
// Optimizer continues, it is found out when it is first asked for, also by Summary.
func (p *Posterior) Verdict() (Verdict, error) {
	if err := p.usable(); err != nil {
		return Verdict{}, err
	}
	p = p.known()
	err := p.findings.judge(context.Background(), p, 0)
	return p.findings.Verdict, err
}

// defensive is what importance draws are from: the fit, and for cells a part of the
// draws from wider ones, which see the tails that the fit's own draws do not.
func (p *Posterior) defensive() family.Q {
	m, ok := p.Q.(family.Mixed)
	if !ok {
		return p.Q
	}
	return m.Defensive()
}
