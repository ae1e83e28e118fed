package vi

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/events"
	"github.com/facetvi/facet/vi/verdict"
	"github.com/facetvi/facet/vi/weighted"
)

// A Summary is a table of a fitted posterior: a row for each parameter, each latent and each component of a vector, in the
// order of the program, and a row for each guard. Its String lines up in a
// terminal.
type Summary struct {
	// ELBO is that of Q, in nats, from 1000 draws and, as by [Posterior.RareSides], some on each of the 100 most probable
	// rare sides of guards. A sampler's fit has none: it is zero.
	ELBO Estimate
	// LogEvidence is [Posterior.LogEvidence], and Verdict [Posterior.Verdict].
	LogEvidence Estimate
	Verdict     Verdict
	// Missing is how many of so many Observations are missing.
	Missing, Observations int
	// Warnings are what to know before trusting the fit: those of
	// Posterior.Warnings, the verdict if it is not to trust the fit, and that plain
	// estimates of the ELBO may mislead, if they may.
	Warnings []string
	// Cells are those of the fit. Tried is how many the search looked at, and Left the probability of those that
	// it did not keep.
	Cells   []Cell
	Tried   int
	Left    float64
	Params  []ParamSummary
	Latents []LatentSummary // but for those that components of vectors are computed from; see Posterior.Mean
	// Vectors are the components of vectors that are no latents themselves, as the shares of
	// a Dirichlet.
	Vectors []LatentSummary
	// Correlations are the strongest ones, of latents on the unconstrained scale and of components of vectors: at most ten, none below 0.3.
	// They are not computed for more than 300 latents.
	Correlations []Correlation
	Guards       []GuardSummary
}

// A Correlation is that of two latents.
type Correlation struct {
	A, B  string
	Value float64
}

// A ParamSummary is the value of a parameter that the fit has learned, on the program's own scale.
// It has no standard deviation: see [Posterior.Param].
type ParamSummary struct {
	Name  string
	Value float64
}

// A LatentSummary describes the posterior of one latent on the program's own
// scale, each number with its standard error. Where tails are too heavy for them the standard errors of SD, or of SD and Mean, are infinite.
type LatentSummary struct {
	Name         string
	Mean, SD     Estimate
	Q5, Q50, Q95 Estimate // quantiles
	// Values are those of a discrete latent, and Masses their probabilities; nil of others.
	Values []float64
	Masses []Estimate
}

// Summary describes every latent and every guard. A guard that has a name is
// listed once, by its name. A comparison without one is listed by its place in the source; comparisons with parallel
// surfaces stand together, in the order of their thresholds. For long
// programs choose rows with [Summary.Of]. The first summary of a climb that was not judged takes
// as long as its Verdict. It panics if p was made without a density
// or a distribution of its latents.
func (p *Posterior) Summary() Summary {
	p.must()
	s := Summary{Warnings: slices.Clone(p.Warnings)}
	for _, x := range p.Density.Data() {
		s.Observations++
		if math.IsNaN(x) {
			s.Missing++
		}
	}
	p = p.known()
	p.summaryVerdict(&s)
	if p.findings.run == nil { // there is no Q to speak of
		var warning string
		if s.ELBO, warning = p.summaryELBO(); warning != "" {
			s.Warnings = append(s.Warnings, warning)
		}
	}
	p.summaryNumbers(&s)
	return s
}

// summaryNumbers writes the rows of the tables: none of what needs draws, if these have no weights.
func (p *Posterior) summaryNumbers(s *Summary) {
	names, params := p.Density.Latents(), p.Density.Params()
	for i, name := range names[:params] {
		s.Params = append(s.Params, ParamSummary{name, p.Density.Coordinate(i).Value(p.Q.Mean(i))})
	}
	sample, err := p.Sample() // a quick fit and one that was loaded have none yet
	if err != nil {
		return // the verdict has said so
	}
	f, err := p.weighed()
	if err != nil {
		return
	}
	for i := params; i < len(names); i++ {
		if p.Density.Coordinate(i).InVector() {
			continue
		}
		l := LatentSummary{Name: names[i], Mean: f.moments[i].Mean, SD: f.moments[i].SD}
		if l.Values, _ = p.Density.Values(i); l.Values != nil {
			l.Masses = sample.Masses(i)
		}
		q := sample.Quantiles(i, 0.05, 0.5, 0.95)
		l.Q5, l.Q50, l.Q95 = q[0], q[1], q[2]
		s.Latents = append(s.Latents, l)
	}
	components := sample.Components()
	s.Vectors = p.vectors(sample, components)
	s.Correlations = p.correlations(sample, components)
	s.Guards = guardsOf(events.Of(sample), p.Density, math.MaxInt)
}

// summaryVerdict writes what the fit can be relied on for.
func (p *Posterior) summaryVerdict(s *Summary) {
	var err error
	if s.Verdict, err = p.Verdict(); err != nil {
		s.Warnings = append(s.Warnings, "no verdict: "+strings.TrimPrefix(err.Error(), "vi: "))
	}
	if text := s.Verdict.String(); s.Verdict.Trust != TrustFit && text != "" && !slices.Contains(s.Warnings, text) {
		s.Warnings = append(s.Warnings, text)
	}
	s.LogEvidence, _ = p.LogEvidence() // the verdict knows why there is none
	s.Cells, s.Tried, s.Left = p.Cells(), p.findings.Tried, p.findings.Left
}

// Of returns a summary with the rows of the given names alone: of parameters, latents, vectors and guards. "theta"
// stands for all of theta[0], theta[1], …, too. What is not in rows of names, as the verdict, stays. An unknown name is an error.
func (s Summary) Of(names ...string) (Summary, error) {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = false
	}
	wants := func(row string) bool {
		array, _, _ := strings.Cut(row, "[")
		for _, name := range []string{row, array} {
			if _, ok := wanted[name]; ok {
				wanted[name] = true
				return true
			}
		}
		return false
	}
	out := s
	out.Params = filter(s.Params, func(x ParamSummary) bool { return wants(x.Name) })
	out.Latents = filter(s.Latents, func(x LatentSummary) bool { return wants(x.Name) })
	out.Vectors = filter(s.Vectors, func(x LatentSummary) bool { return wants(x.Name) })
	has := func(name string) bool {
		return slices.ContainsFunc(out.Latents, func(x LatentSummary) bool { return x.Name == name })
	}
	out.Correlations = filter(s.Correlations, func(x Correlation) bool { return has(x.A) && has(x.B) })
	out.Guards = filter(s.Guards, func(x GuardSummary) bool { return wants(x.Name) })
	for _, name := range names {
		if !wanted[name] {
			return Summary{}, fmt.Errorf("vi: no parameter, latent or guard %q in the summary", name)
		}
	}
	return out, nil
}

// filter returns those of list that keep is true of.
func filter[T any](list []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool { return !keep(x) })
}

// vectors are the rows of the components of vectors.
func (p *Posterior) vectors(of *weighted.Sample, components [][]float64) (list []LatentSummary) {
	names := p.Density.Components()
	for i, x := range components {
		m := verdict.MomentsOf(of, x)
		s := LatentSummary{Name: names[i], Mean: m.Mean, SD: m.SD}
		q := of.QuantilesOf(x, 0.05, 0.5, 0.95)
		s.Q5, s.Q50, s.Q95 = q[0], q[1], q[2]
		list = append(list, s)
	}
	return list
}

// What of correlations a summary has.
const (
	correlatedLatents = 300
	leastCorrelation  = 0.3
	mostCorrelations  = 10
)

func (p *Posterior) correlations(of *weighted.Sample, components [][]float64) (list []Correlation) {
	d := p.Density
	var names []string
	var rows [][]float64
	for i, name := range d.Latents() {
		if i >= d.Params() && !d.Coordinate(i).InVector() {
			names, rows = append(names, name), append(rows, of.Z[i*of.Len():][:of.Len()])
		}
	}
	names, rows = append(names, d.Components()...), append(rows, components...)
	if n := len(names); n > correlatedLatents || n < 2 {
		return nil
	}
	var all mat.SymDense
	weights := slices.Clone(of.Weights)
	floats.Scale(float64(of.Len()), weights) // those of stat are counts
	stat.CorrelationMatrix(&all, mat.NewDense(len(rows), of.Len(), slices.Concat(rows...)).T(), weights)
	for i := range names {
		for j := range i {
			if v := all.At(i, j); math.Abs(v) >= leastCorrelation {
				list = append(list, Correlation{names[j], names[i], v})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Correlation) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	return list[:min(len(list), mostCorrelations)]
}

// What a summary spends on the ELBO: it should take less time than to read.
const (
	summaryDraws = 1000
	summarySides = 100 // rare ones, the most probable
)

// summaryELBO is the ELBO with rare sides of guards, and a warning about it; "" if there is none.
func (p *Posterior) summaryELBO() (Estimate, string) {
	r, err := check.LikeliestRareSides(p.Density, p.Q, summaryDraws, summarySides, 0)
	switch {
	case err != nil:
		return Estimate{Value: math.NaN(), SE: math.NaN()}, "no ELBO: " + strings.TrimPrefix(err.Error(), "check: ")
	case r.Misleading():
		return r.Corrected, fmt.Sprintf("estimates of the ELBO may mislead: %d draws say %v, for they see too little of rare sides of guards; see RareSides",
			r.Samples, r.Plain)
	}
	return r.Corrected, ""
}
