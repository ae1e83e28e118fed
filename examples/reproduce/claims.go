package main

import (
	"fmt"
	"math"
	"slices"
)

// A claim of the paper, or of facet, tested on the data.
type claim struct {
	Claim   string   `json:"claim"`
	Verdict string   `json:"verdict"` // holds (in every case), refuted or not tested
	How     string   `json:"how"`     // it was tested
	Holds   []string `json:"holds_in"`
	Fails   []string `json:"fails_in"` // cases, with their numbers
}

// Cases is the number of cases.
func (c *claim) Cases() int { return len(c.Holds) + len(c.Fails) }

// add adds a case, described by its numbers. A case that some of the measures do
// not exist for, as in very short runs, is left out.
func (c *claim) add(holds bool, measures []float64, format string, args ...any) {
	if slices.ContainsFunc(measures, math.IsNaN) {
		return
	}
	line := fmt.Sprintf(format, args...)
	if holds {
		c.Holds = append(c.Holds, line)
	} else {
		c.Fails = append(c.Fails, line)
	}
}

// noise is how many standard errors count as noise: with 36 comparisons, each of
// a standard error from ten values, 3 would refute what is true one time in eight.
const noise = 5

// claims tests all claims.
func (s *summary) claims() []*claim {
	all := []*claim{
		s.bestELBO("ours", "The paper's estimator ends with the best ELBO"),
		s.bestELBO("facet", "facet's estimator ends with the best ELBO"),
		s.reparamFallsShort(),
		s.scoreUnstable(),
		s.moreSamplesMoreStable(),
		s.allGuardsBelowOne(),
	}
	for _, c := range all {
		switch {
		case c.Cases() == 0:
			c.Verdict, c.How = "not tested", "The runs that it is about are not among these."
		case len(c.Fails) > 0:
			c.Verdict = "refuted"
		default:
			c.Verdict = "holds"
		}
	}
	return all
}

// bestELBO tests an estimator against Score and Reparam, run by run.
func (s *summary) bestELBO(estimator, title string) *claim {
	c := &claim{
		Claim: title + ", above Score and Reparam, within noise, for each model, step size and N.",
		How: fmt.Sprintf("Compared are the closed-form ELBOs of the last %d evaluations; noise is %d standard errors of the difference. "+
			"They do not see the noise between seeds, and one seed may end in another local optimum.", lastEvaluations, noise),
	}
	for _, a := range s.Final {
		if a.Estimator != estimator {
			continue
		}
		for _, other := range []string{"score", "reparam"} {
			if r := s.run(a.Model, a.StepSize, a.Samples, other); r != nil {
				b := r.final()
				se := math.Hypot(float64(a.ExactSE), float64(b.ExactSE))
				c.add(float64(b.Exact-a.Exact) <= noise*se, []float64{se}, "%s: %s, %s %s", a.place(), nats(float64(a.Exact)), other, nats(float64(b.Exact)))
			}
		}
	}
	return c
}

func (s *summary) reparamFallsShort() *claim {
	c := &claim{
		Claim: "Reparam is sub-optimal on temperature.",
		How:   "Its final ELBO in closed form is below the paper's estimator's, and below the optimum that BFGS finds, by more than noise.",
	}
	for _, a := range s.Final {
		r := s.run(a.Model, a.StepSize, a.Samples, "ours")
		if a.Model != "temperature" || a.Estimator != "reparam" || r == nil {
			continue
		}
		b := r.final()
		se := math.Hypot(float64(a.ExactSE), float64(b.ExactSE))
		best := s.optimum(a.Model)
		holds := float64(b.Exact-a.Exact) > noise*se && best-float64(a.Exact) > noise*float64(a.ExactSE)
		c.add(holds, []float64{se}, "%s: %s, ours %s, the optimum %s", a.place(), nats(float64(a.Exact)), nats(float64(b.Exact)), nats(best))
	}
	return c
}

func (s *summary) scoreUnstable() *claim {
	c := &claim{
		Claim: "Score is unstable at step size 0.01.",
		How: "Measured is the jitter: the standard deviation, in nats, of a run's closed-form ELBO about a line through neighbouring " +
			"evaluations, over its second half. Score's at 0.01 exceeds its own at 0.001 and the paper's estimator's at 0.01.",
	}
	for _, a := range s.Final {
		small, ours := s.run(a.Model, 0.001, a.Samples, "score"), s.run(a.Model, 0.01, a.Samples, "ours")
		if a.Estimator != "score" || a.StepSize != 0.01 || small == nil || ours == nil {
			continue
		}
		c.add(a.Diverged > 0 || float64(a.Jitter) > max(small.jitter(), ours.jitter()),
			[]float64{float64(a.Jitter), small.jitter(), ours.jitter()}, "%s: %s, at 0.001 %s, ours %s", a.place(), amount(float64(a.Jitter)), amount(small.jitter()), amount(ours.jitter()))
	}
	return c
}

func (s *summary) moreSamplesMoreStable() *claim {
	few, many := slices.Min(s.Settings.Samples), slices.Max(s.Settings.Samples)
	c := &claim{
		Claim: "More samples are more stable.",
		How:   fmt.Sprintf("The jitter (as above) at N = %d is below that at N = %d, for each model, step size and estimator.", many, few),
	}
	for _, a := range s.Final {
		if few == many || a.Samples != many {
			continue
		}
		b := s.run(a.Model, a.StepSize, few, a.Estimator)
		c.add(float64(a.Jitter) < b.jitter(), []float64{float64(a.Jitter), b.jitter()}, "%s, %s, %s: %s, at N = %d %s",
			a.Model, number(a.StepSize), a.Estimator, amount(float64(a.Jitter)), few, amount(b.jitter()))
	}
	return c
}

func (s *summary) allGuardsBelowOne() *claim {
	c := &claim{
		Claim: "All guards have less variance than one guard a sample, for each model and step size.",
		How: "Compared are averages of Avg(V(·)): over each one's own run, and at the same θ. One guard's gradient has all guards' as its mean " +
			"given the sample, since both use the same points; so at no θ can all guards have more, and equality is where no guard is near.",
	}
	for _, g := range s.Guards {
		c.add(g.Own.Avg < 1 && g.Same.Avg < 1, []float64{float64(g.Own.Avg), float64(g.Same.Avg)}, "%s, %s: %s of one guard's in own runs, %s at the same θ",
			g.Model, number(g.StepSize), sig(float64(g.Own.Avg), 3), sig(float64(g.Same.Avg), 3))
	}
	return c
}

// place is the panel and N of a run.
func (r runSpec) place() string {
	return fmt.Sprintf("%s, %s, N = %d", r.Model, number(r.StepSize), r.Samples)
}
