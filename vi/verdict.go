package vi

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/vi/events"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/scout"
	"github.com/facetvi/facet/vi/weighted"
)

// A Trust says whether the numbers of a fit can be relied on.
type Trust string

// TrustFit says that all numbers of the summary are right: means to a twentieth of a standard deviation, standard deviations to
// a twentieth of themselves, probabilities to a hundredth. TrustNothing says that this is not known.
const (
	TrustFit     Trust = "trust"
	TrustNothing Trust = "do not trust"
)

// A Verdict says whether the numbers of a fit are those of the posterior.
type Verdict struct {
	Trust   Trust
	Reasons []string // why, the worst first
	Try     []string // what may help
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

// How many draws are weighted.
const (
	evidenceDraws = 10_000
	cheapGuards   = 1000 // with more, draws are fewer
	mostSampled   = 32   // times as many, at most, where numbers need them
	spare         = 1.3  // times as many as seem to be needed
	overrun       = 0.5  // CPU seconds beyond a budget that more draws may take
)

// What a verdict goes by.
const (
	scoutErrors    = 4    // standard errors of a scout, which come from few islands
	scoutNats      = 0.15 // beside them
	unevenIslands  = 0.5  // of the scout's log evidence, a standard error
	leastEffective = 0.1  // of the draws
	fewEffective   = 0.3  // of the draws, where k-hat is high; and
	noMean         = 1    // k-hat of weights that have no mean
	mostSE         = 0.1  // of a log evidence, in nats
	scoutDraws     = 1000 // that are looked at, at least, and
	mostScoutDraws = 4000
	cheapParts     = 100  // with more, they are fewer
	mostMissed     = 0.04 // of the scout's draws, or of the mass that was found
	outOfSight     = 7    // log of the posterior over the proposal, at a draw that weights do not see
	judgedGuards   = 40   // are looked at, of all parts of the program
)

// precision has three standard errors: of a mean and of a standard deviation, in standard deviations, and of a probability.
type precision struct{ mean, sd, prob float64 }

var (
	wanted   = precision{0.0025, 0.003, 0.001}   // as many draws as this takes, but no more than is cheap
	accepted = precision{0.0125, 0.0125, 0.0025} // a quarter of what TrustFit promises
	seen     = precision{mean: 0.02, sd: 0.03}   // of what the scout sees and the draws do not
)

// ofChains is how many times the standard errors of a sampler's draws may be what is accepted of others: a third of what TrustFit
// promises. The standard deviation of its latents with two values is not looked at, only their probability.
const ofChains = 4. / 3

// leastSD is the least standard deviation of a discrete latent, in steps between its values, that must be known well: below it only
// its masses count.
const leastSD = 0.15

// Draws of a proposal with many cells: fewer of each say little, but times the first number of draws there are no more at once.
const (
	perCell    = 25
	mostAtOnce = 4
)

// cheapMore is how many times as many draws are taken at most to get from the accepted precision to the wanted one: of a density with more than
// cheapTerms terms fewer, but leastMore times.
const (
	cheapMore  = 12
	leastMore  = 2
	cheapTerms = 100
)

const rareMass = 1e-3 // of which a scout has too few draws to say how much there is: see momentErrors

// evidenceDraws is how many draws are weighted at first: fewer of a density that takes long.
func (p *Posterior) evidenceDraws() int {
	return evidenceDraws * cheapGuards / max(cheapGuards, min(5*cheapGuards, p.Density.Arrangement().Len()))
}

// finalDraws are evidenceDraws, or a tenth of them when the budget of the fit is over.
func (p *Posterior) finalDraws(m monitor) int {
	n := p.evidenceDraws()
	if m.Budget.Over() {
		return n / 10
	}
	return n
}

// sampled weighs draws, at first the given number of them, and more as long as the numbers of the summary need more and the
// weights are of use. The findings keep what they say.
func (p *Posterior) sampled(ctx context.Context, draws int) (*weighted.Sample, error) {
	first := draws
	if m, ok := p.Q.(family.Mixed); ok && draws >= p.evidenceDraws() { // there is a budget for them
		draws = min(max(draws, perCell*m.Len()), mostAtOnce*draws)
	}
	for {
		began := cputime.Seconds()
		s, err := p.draw(ctx, draws)
		if err != nil {
			return nil, err
		}
		p.findings.note(s)
		p.findings.weighCells()
		j := judgement{Verdict: Verdict{Trust: TrustFit}, p: p, s: s}
		j.weights()
		p.findings.known = j.numbers()
		more := j.needed(first)
		if s.Scattered() > 0.5 { // the numbers will say that they need less
			more = min(more, mostAtOnce*draws)
		}
		if j.Trust == TrustNothing {
			return s, nil
		}
		if cost := (cputime.Seconds() - began) * float64(more) / float64(draws); p.findings.budget != 0 && cost > p.findings.budget.Left().Seconds()+overrun {
			more = draws
		}
		if more <= draws {
			if j.tails() {
				p.findings.known = j.numbers()
			}
			return s, nil
		}
		draws = more
	}
}

// judge compares a fit with the sample of a scout, which knows nothing of the fit, and asks how well its weighted draws tell the
// numbers.
func (p *Posterior) judge(ctx context.Context, sample scout.Result, draws int) Verdict {
	s, err := p.sampled(ctx, draws)
	if err != nil {
		return Verdict{Trust: TrustNothing, Reasons: []string{strings.TrimPrefix(err.Error(), "weighted: ")}}
	}
	j := judgement{Verdict: Verdict{Trust: TrustFit}, p: p, s: s, sample: sample, other: "Settings.Method = Cells{}"}
	if p.hasCells() || p.Density.Params() > 0 {
		j.other = "another Settings.Seed"
	}
	j.weights()
	j.evidence()
	j.search()
	if j.Trust == TrustFit {
		j.errors()
	}
	if j.Trust == TrustFit {
		j.parameters()
	}
	if j.Trust == TrustFit {
		j.Reasons = append(j.Reasons, fmt.Sprintf("the weights of %d draws are %.0f%% effective; the log evidence is %v, and %v by an independent search",
			s.Len(), 100*s.ESS/float64(s.Len()), p.findings.LogEvidence, sample.LogEvidence))
		j.Reasons = append(j.Reasons, j.doubts...)
	}
	return j.Verdict
}

// weighCells gives cells the weights that the draws say.
func (f *findings) weighCells() {
	m, ok := f.q.(family.Mixed)
	if !ok || len(f.Cells) != m.Len() {
		return
	}
	for k := range f.Cells {
		f.Cells[k].Weight = 0
	}
	for j, w := range f.sample.Shares(len(f.cell)) {
		f.Cells[f.cell[j]].Weight += w
	}
}

// A judgement is a verdict that is being made, question by question.
type judgement struct {
	Verdict
	p      *Posterior
	s      *weighted.Sample
	sample scout.Result
	other  string      // a fit to try
	final  bool        // no more draws will be taken
	seen   []precision // errors of the moments, as the scout sees them
	doubts []string    // that are no reason to refuse
}

func (j *judgement) refuse(try, format string, args ...any) {
	j.Trust = TrustNothing
	j.Reasons = append(j.Reasons, fmt.Sprintf(format, args...))
	if !slices.Contains(j.Try, try) {
		j.Try = append(j.Try, try)
	}
}

// weights asks whether enough draws have weight.
func (j *judgement) weights() {
	n := float64(j.s.Len())
	part := j.s.ESS / n
	switch {
	case part < leastEffective || j.s.K > noMean || !(j.s.K < weighted.KThreshold(j.s.Len())) && (part < fewEffective || floats.Max(j.s.Weights)*n > weighted.Heavy):
		j.refuse(j.other, "a few of the %d draws have nearly all the weight, so that they count for %.0f: the fit is far from the posterior (Pareto k-hat %.2f)", j.s.Len(), j.s.ESS, j.s.K)
	case j.s.LogEvidence.SE > mostSE:
		j.refuse(j.other, "the log evidence is known to %.2g nats only", j.s.LogEvidence.SE)
	}
}

// evidence asks whether the scout has found what the fit has.
func (j *judgement) evidence() {
	found := j.s.LogEvidence
	se := math.Hypot(found.SE, j.sample.LogEvidence.SE)
	gap := j.sample.LogEvidence.Value - found.Value
	switch {
	case math.IsNaN(found.Value) || math.IsInf(found.Value, 0):
		j.refuse(j.other, "the log evidence is %v: log r is infinite, or no number, at draws", found.Value)
		return
	case j.sample.Beta < 1:
		j.refuse("a longer Settings.Budget", "the budget ended before the independent search had arrived: where the fit is not nobody has looked")
		return
	case gap > scoutErrors*se+scoutNats:
		j.refuse(j.other, "the log evidence by an independent search, %v, is above the fit's, %v: the fit misses explanations", j.sample.LogEvidence, found)
		return
	}
	if gap > -scoutErrors*se-1 {
		var missed float64
		if missed, j.seen = j.compare(); missed > mostMissed {
			j.refuse(j.other, "%.0f%% of the posterior that an independent search has found is where the fit is not", 100*missed)
		}
		if j.sample.LogEvidence.SE > unevenIslands {
			j.seen = nil // few islands have all the weight, and few draws of theirs all the errors
		}
	}
	if gap > -scoutErrors*min(se, 1)-1 {
		return
	}
	const text = "the independent search did not arrive, and ended %.0f nats below the fit: "
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
		j.refuse("a higher Cells.Most, or a lower Cells.Tolerance", "%.0f%% of the posterior is in cells that were not kept", 100*f.Left)
	}
	if f.Unfinished > mostMissed {
		try := "another Settings.Seed, or a family of one normal beside it"
		if f.Cut != nil {
			try = "a longer Settings.Budget"
		}
		j.refuse(try, "the search ended before it had seen all cells that may matter")
	}
}

// What tails are too heavy, by the k-hat of deviations for a mean, and of squared ones for a standard deviation.
const (
	heavyTails = 0.7   // more draws do not help beyond it, nor where sums over a sampler's chains have it: these are few
	noLimit    = 0.5   // there is no central limit theorem from it on: no standard error, and more of a sampler's draws do not help
	largePart  = 0.003 // of a variance that one draw has: else there is one
)

// tails asks of all moments whether heavy tails keep them from being known, and reports whether that may have changed a number.
func (j *judgement) tails() (found bool) {
	for i := range j.p.findings.moments {
		if values, _ := j.p.Density.Values(i); i >= j.p.Density.Params() && values == nil {
			found = heavyTailed(j.s, j.s.Latent(i), &j.p.findings.moments[i]) || found
		}
	}
	j.final = true
	return found || len(j.p.Density.Components()) > 0
}

// heavyTailed reports whether the standard deviation of a number with the values x at the draws is not known well enough, with tails so heavy that
// more draws would not help, or may be infinite. Its standard error becomes infinite, and so does that of a mean that is not known either.
func heavyTailed(s *weighted.Sample, x []float64, m *Moments) bool {
	heavy, times, chains := heavyTails, 1.0, s.Correlated()
	if chains {
		heavy, times = noLimit, ofChains
	}
	known := m.Mean.SE <= times*accepted.mean*m.SD.Value && m.SD.SE <= times*accepted.sd*m.SD.Value
	top := 0.0
	for k, v := range x {
		if d := v - m.Mean.Value; !math.IsNaN(v) { // a number that is not there at this draw
			top = max(top, s.Weights[k]*d*d)
		}
	}
	if known && !(top > largePart*m.SD.Value*m.SD.Value) {
		return false
	}
	off, square := make([]float64, s.Len()), make([]float64, s.Len())
	for k, v := range x {
		if !math.IsNaN(v) {
			off[k] = math.Abs(v - m.Mean.Value)
			square[k] = off[k] * off[k]
		}
	}
	if tail := s.TailK(square); known && tail < noLimit || !known && tail < heavy && !(chains && s.ChainK(square) > heavyTails) {
		return false
	}
	m.SD.SE = math.Inf(1)
	if !(s.TailK(off) < heavy) {
		m.Mean.SE = math.Inf(1)
	} else if q := s.QuantilesOf(x, middle...); !(m.Mean.SE <= times*accepted.mean*(q[2].Value-q[0].Value)/2) {
		m.Mean.SE = math.Inf(1)
	}
	return true
}

// middle are the probabilities of the median, and of what is a standard deviation off it in a normal.
var middle = []float64{0.16, 0.5, 0.84}

// A known is a number of the summary with its standard error, divided by the accepted one and by the wanted one.
type known struct {
	what             string
	accepted, wanted float64
}

// numbers lists the numbers of the summary with their standard errors.
func (j *judgement) numbers() (list []known) {
	add := func(what string, se, accepted, wanted float64) {
		if j.s.Correlated() {
			accepted *= ofChains
		}
		list = append(list, known{what, se / accepted, se / wanted})
	}
	moments := func(name string, m Moments, quantiles func(...float64) []Estimate) {
		spread := m.SD.Value
		if math.IsInf(m.SD.SE, 1) { // for which the median is
			q := quantiles(middle...)
			spread = (q[2].Value - q[0].Value) / 2
			add("the median of "+name, q[1].SE/spread, accepted.mean, wanted.mean)
		} else if spread > 0 {
			add("the standard deviation of "+name, m.SD.SE/spread, accepted.sd, wanted.sd)
		}
		if spread > 0 && !math.IsInf(m.Mean.SE, 1) {
			add("the mean of "+name, m.Mean.SE/spread, accepted.mean, wanted.mean)
		}
	}
	d := j.p.Density
	for i, name := range d.Latents() {
		if i < d.Params() || d.Coordinate(i).InVector() {
			continue
		}
		m := j.p.findings.moments[i]
		if values, _ := d.Values(i); values != nil {
			for k, p := range j.s.Masses(i) {
				add(fmt.Sprintf("the probability that %s is %v", name, values[k]), p.SE, accepted.prob, wanted.prob)
			}
			if len(values) > 2 || len(values) == 2 && !j.s.Correlated() {
				add("the standard deviation of "+name, m.SD.SE/max(m.SD.Value, leastSD*(values[1]-values[0])), accepted.sd, wanted.sd)
			}
			continue
		}
		moments(name, m, func(probs ...float64) []Estimate { return j.s.Quantiles(i, probs...) })
	}
	components := d.Components()
	for i, x := range j.p.components(j.s) {
		var m Moments
		if m.Mean, m.SD = j.s.MomentsOf(x); j.final {
			heavyTailed(j.s, x, &m)
		}
		moments(components[i], m, func(probs ...float64) []Estimate { return j.s.QuantilesOf(x, probs...) })
	}
	for _, g := range guardsOf(events.Of(j.s), d, judgedGuards) {
		what := cmp.Or(g.Condition, g.Name)
		add("the probability of "+what, g.Prob.SE, accepted.prob, wanted.prob)
	}
	return list
}

// needed is how many draws the numbers need; first is how many were taken at first.
func (j *judgement) needed(first int) int {
	accept, want := 0.0, 0.0
	for _, x := range j.p.findings.known {
		accept, want = max(accept, x.accepted), max(want, x.wanted)
	}
	n := float64(j.s.Len())
	most := float64(mostSampled)
	if j.p.findings.quick {
		want, most = 0, quickMore
	}
	enough := min(n*want*want, max(leastMore, cheapMore*cheapTerms/max(cheapTerms, float64(j.p.Density.Terms())))*float64(first))
	if accept > 1 {
		enough = max(enough, min(spare*n*accept*accept, most*float64(first)))
	}
	if enough < spare*n { // not worth it
		return j.s.Len()
	}
	return int(enough)
}

// errors asks how well the numbers of the summary are known, and gives the worst one as a reason.
func (j *judgement) errors() {
	worst := known{accepted: 1}
	for _, x := range j.p.findings.known {
		if x.accepted > worst.accepted || math.IsNaN(x.accepted) {
			worst = x
		}
	}
	for i, e := range j.seen {
		if values, _ := j.p.Density.Values(i); values != nil || i < j.p.Density.Params() {
			continue
		}
		if math.IsInf(j.p.findings.moments[i].SD.SE, 1) {
			continue
		}
		if by := max(e.mean/seen.mean, e.sd/seen.sd); by > worst.accepted {
			worst = known{what: "the moments of " + j.p.Density.Latents()[i], accepted: by}
		}
	}
	if worst.what != "" {
		j.refuse(j.other, "not known well enough: %s, whose error may be %.2g times what is promised", worst.what, worst.accepted)
	}
}

// compare looks at a scout's draws, which are of the posterior, for where the posterior is much higher than the proposal q.
//
// missed is four times the part of them that q all but never draws. errors are the standard errors of each latent's moments as the
// other draws see them: an expectation of f by n draws of q with weights w = r/q has the variance E[w·(f − E[f])²]/n, where E is
// under the posterior, and draws of q estimate this too low where w has a heavy tail. Islands of the scout count by
// their evidences, so that one that is stuck in a poor place counts for little.
func (j *judgement) compare() (missed float64, errors []precision) {
	p, sample, n := j.p, j.sample, j.s.Len()
	q, total := j.s.Proposal(), floats.LogSumExp(sample.Islands)
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
	var inSight [][]float64 // points, by the fit
	var mass, variance []float64
	for l, logQ := range family.LogProbs(q, points) {
		k := l * step
		i := sample.Island[k]
		part := math.Exp(sample.Islands[i]-total) / all[i]
		over := sample.LogProb[k] - j.s.LogEvidence.Value - logQ
		if over > outOfSight {
			missed += 4 * part
			continue
		}
		inSight, mass = append(inSight, points[l]), append(mass, part)
		variance = append(variance, part*math.Exp(over)/float64(n))
	}
	square := make([]float64, len(inSight))
	for i, m := range p.findings.moments {
		for k, z := range inSight {
			off := (p.Density.Coordinate(i).Value(z[i]) - m.Mean.Value) / m.SD.Value
			square[k] = off * off
		}
		errors = append(errors, momentErrors(square, mass, variance))
	}
	return min(1, missed), errors
}

// momentErrors are the standard errors of a mean and a standard deviation, in units of the latter. For each point it takes the squared
// distance from the mean, in squared units, its mass, and its part in the variance of the mean square. The points farthest
// out, as long as their mass together is no more than that of two draws or twice rareMass, are few: for the mean they count as all of the variance
// at most, for the standard deviation they do not count.
func momentErrors(square, mass, variance []float64) (e precision) {
	left := 2 * rareMass
	for _, m := range mass {
		left = max(left, 2*m)
	}
	order := make([]int, len(square))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(square[b], square[a]) })
	far, farMean := 0.0, 0.0
	for _, k := range order {
		if left -= mass[k]; left < 0 {
			e.mean += variance[k] * square[k]
			e.sd += variance[k] * (square[k] - 1) * (square[k] - 1)
			continue
		}
		far += mass[k] * square[k]
		farMean += variance[k] * square[k]
	}
	return precision{mean: math.Sqrt(e.mean + farMean/max(1, far)), sd: math.Sqrt(e.sd) / 2}
}

// Verdict says whether the numbers of the fit can be relied on. It asks whether an independent search (a scout: tempered
// sequential Monte Carlo that knows nothing of the fit) has found more than the fit has, how even the weights of the draws are,
// and how large the standard errors of the summary's numbers are. Fits of cells, and climbs of 80 000 gradient samples or more, are
// judged when they end, and Posterior.Warnings then has a verdict that is not to trust the fit. Other
// climbs, those that OnStep watches, and those that an Optimizer continues are judged when the verdict is first asked for, also by Summary.
func (p *Posterior) Verdict() (Verdict, error) {
	if err := p.usable(); err != nil {
		return Verdict{}, err
	}
	p = p.known()
	err := p.findings.judge(context.Background(), p, 0)
	return p.findings.Verdict, err
}
