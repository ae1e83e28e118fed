package verdict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/scout"
	"github.com/facetvi/facet/vi/smc"
	"github.com/facetvi/facet/vi/weighted"
)

// Of is the verdict on a fit whose draws tell the numbers, beside the sample of a scout.
func Of(n *Numbers, sample scout.Result, f Fit) Verdict {
	j := judgement{Verdict: Verdict{Trust: TrustFit}, n: n, s: n.Sample, sample: sample, fit: f, other: "Settings.Method = Cells{}"}
	if f.Cells || j.s.Density().Params() > 0 {
		j.other = anotherSeed
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
			j.s.Len(), 100*j.s.ESS/float64(j.s.Len()), f.LogEvidence, sample.LogEvidence))
		j.Reasons = append(j.Reasons, j.doubts...)
	}
	return j.Verdict
}

const (
	anotherSeed = "another Settings.Seed"
	moreTime    = "more time"
)

// OfWeights is a verdict that looks at the weights of draws alone.
func OfWeights(s *weighted.Sample) Verdict {
	j := judgement{Verdict: Verdict{Trust: TrustFit}, s: s}
	j.weights()
	return j.Verdict
}

// OfNumbers is a verdict that looks at the standard errors alone.
func OfNumbers(n *Numbers) Verdict {
	j := judgement{Verdict: Verdict{Trust: TrustFit}, n: n, s: n.Sample, other: anotherSeed}
	j.errors()
	return j.Verdict
}

// OfRun is the verdict on a sampler's draws: whether its groups agree, and how well the numbers are known by them. If draws is not 0, these are so many because
// that was asked for; cut says that the sampler was stopped.
func OfRun(n *Numbers, r smc.Result, sample scout.Result, draws int, cut bool) Verdict {
	j := judgement{Verdict: Verdict{Trust: TrustFit}, n: n, s: n.Sample, other: anotherSeed}
	switch {
	case cut:
		j.other = moreTime
	case draws > 0:
		j.other = "a higher Sampler.Draws, or " + anotherSeed
	}
	if r.Beta < 1 {
		j.refuse(j.other, "the sampler was stopped with the data at %.2g of their weight, before it had come to the posterior", r.Beta)
		return j.Verdict
	}
	worst, least := floats.MaxIdx(r.RHat), math.Inf(1)
	for i := range r.Bulk {
		least = min(least, r.Bulk[i], r.Tail[i])
	}
	names := j.s.Density().Latents()
	if r.RHat[worst] > mostRHat {
		j.refuse(j.other, "independent groups of the sampler's draws differ in %s by more than they should: R-hat is %.3f", names[worst], r.RHat[worst])
	}
	found := r.LogEvidence
	if gap := sample.LogEvidence.Value - found.Value; Differ(gap, math.Hypot(found.SE, sample.LogEvidence.SE)) {
		j.refuse(j.other, "the log evidence by an independent search, %v, is above the sampler's, %v: it misses explanations", sample.LogEvidence, found)
	}
	if j.Trust == TrustFit {
		j.errors()
	}
	if j.Trust == TrustFit {
		more, little := "", ""
		if found.SE > mostSE {
			little = ", too little to compare models by"
		}
		if float64(draws) > r.Effective {
			little += fmt.Sprintf("; they are worth %.0f for means, of %d that were asked for", r.Effective, draws)
		}
		if r.Proposed > 0 {
			more = fmt.Sprintf("; %d draws of normals near them are weighed together with them", r.Proposed)
		}
		j.Reasons = append(j.Reasons, fmt.Sprintf("a sampler's %d draws are worth at least %.0f independent ones for each latent, and %d groups of them agree%s; the log evidence is %v%s",
			j.s.Len()-r.Proposed, least, len(r.Islands), more, found, little))
	}
	return j.Verdict
}

// mostRHat is the highest R-hat of a latent's ranks, over groups of draws, that is accepted.
const mostRHat = 1.01

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
	case Differ(gap, se):
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
	if j.fit.Cells {
		j.doubts = append(j.doubts, fmt.Sprintf(text+"only climbs from its draws have looked where the fit is not", -gap))
	} else {
		j.refuse(j.other, text+"where the fit is not nobody has looked", -gap)
	}
}

// search asks what a search for cells has left out.
func (j *judgement) search() {
	f := j.fit
	if f.Left > mostMissed {
		j.refuse("a higher Cells.Most, or a lower Cells.Tolerance", "%.0f%% of the posterior is in cells that were not kept", 100*f.Left)
	}
	if f.Unfinished > mostMissed {
		try := "another Settings.Seed, or a family of one normal beside it"
		if f.Cut {
			try = "a longer Settings.Budget"
		}
		j.refuse(try, "the search ended before it had seen all cells that may matter")
	}
}

// errors asks how well the numbers of the summary are known, and gives the worst one as a reason.
func (j *judgement) errors() {
	worst := known{accepted: 1}
	for _, x := range j.n.list() {
		if x.accepted > worst.accepted || math.IsNaN(x.accepted) {
			worst = x
		}
	}
	for i, e := range j.seen {
		if values, _ := j.s.Density().Values(i); values != nil || i < j.s.Density().Params() {
			continue
		}
		if math.IsInf(j.n.Moments[i].SD.SE, 1) {
			continue
		}
		if by := max(e.mean/seen.mean, e.sd/seen.sd); by > worst.accepted {
			worst = known{what: "the moments of " + j.s.Density().Latents()[i], accepted: by}
		}
	}
	if worst.what != "" {
		j.refuse(j.other, "not known well enough: %s, whose error may be %.2g times what is promised", worst.what, worst.accepted)
	}
}
