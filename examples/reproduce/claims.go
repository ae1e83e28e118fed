package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A claim of the paper, or of facet, tested on the data.
type claim struct {
	Claim   string `json:"claim"`
	Verdict string `json:"verdict"` // holds, refuted or not tested
	Holds   int    `json:"holds"`   // cases in which it holds
	Cases   int    `json:"cases"`
	// Evidence is how it was tested, and the numbers of every case that refutes
	// it, or of one that is typical.
	Evidence string `json:"evidence"`
}

// A trial is a claim under test, case by case.
type trial struct {
	claim, how       string
	holds            int
	against, inFavor []string
}

func (t *trial) add(holds bool, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if holds {
		t.holds++
		t.inFavor = append(t.inFavor, line)
	} else {
		t.against = append(t.against, line)
	}
}

// verdict is that of the claim for every case.
func (t *trial) verdict() claim {
	cases := t.holds + len(t.against)
	c := claim{Claim: t.claim, Verdict: "holds", Holds: t.holds, Cases: cases}
	switch {
	case cases == 0:
		c.Verdict, c.Evidence = "not tested", "The runs that it is about are not among these."
		return c
	case len(t.against) > 0:
		c.Verdict = "refuted"
		c.Evidence = "It fails in " + strings.Join(t.against, "; ") + "."
	default:
		c.Evidence = "For instance " + strings.Join(t.inFavor[:min(6, len(t.inFavor))], "; ") + "."
	}
	c.Evidence = t.how + " " + c.Evidence
	return c
}

// noise is how many standard errors count as noise.
const noise = 3

// claims tests all claims.
func (s *summary) claims() []claim {
	return []claim{
		s.bestELBO("ours", "The paper's estimator ends with the best ELBO"),
		s.bestELBO("facet", "facet's estimator ends with the best ELBO"),
		s.reparamFallsShort(),
		s.scoreUnstable(),
		s.moreSamplesMoreStable(),
		s.allGuardsBelowOne(),
	}
}

// bestELBO tests an estimator against Score and Reparam, run by run.
func (s *summary) bestELBO(estimator, title string) claim {
	t := &trial{
		claim: title + ", above Score and Reparam, within noise, for each model, step size and N.",
		how: fmt.Sprintf("Compared are the closed-form ELBOs of the last %d evaluations; noise is %d standard errors of the difference. "+
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
				t.add(float64(b.Exact-a.Exact) <= noise*se, "%s: %s, %s %s", a.place(), nats(float64(a.Exact)), other, nats(float64(b.Exact)))
			}
		}
	}
	return t.verdict()
}

func (s *summary) reparamFallsShort() claim {
	t := &trial{
		claim: "Reparam is sub-optimal on temperature.",
		how:   "Its final ELBO in closed form is below the paper's estimator's, and below the optimum that BFGS finds, by more than noise.",
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
		t.add(holds, "%s: %s, ours %s, the optimum %s", a.place(), nats(float64(a.Exact)), nats(float64(b.Exact)), nats(best))
	}
	return t.verdict()
}

func (s *summary) scoreUnstable() claim {
	t := &trial{
		claim: "Score is unstable at step size 0.01.",
		how: "Measured is the jitter: the standard deviation, in nats, of a run's closed-form ELBO about a line through neighbouring " +
			"evaluations, over its second half. Score's at 0.01 exceeds its own at 0.001 and the paper's estimator's at 0.01.",
	}
	for _, a := range s.Final {
		small, ours := s.run(a.Model, 0.001, a.Samples, "score"), s.run(a.Model, 0.01, a.Samples, "ours")
		if a.Estimator != "score" || a.StepSize != 0.01 || small == nil || ours == nil {
			continue
		}
		t.add(a.Diverged > 0 || float64(a.Jitter) > max(small.jitter(), ours.jitter()),
			"%s: %s, at 0.001 %s, ours %s", a.place(), amount(float64(a.Jitter)), amount(small.jitter()), amount(ours.jitter()))
	}
	return t.verdict()
}

func (s *summary) moreSamplesMoreStable() claim {
	few, many := slices.Min(s.Settings.Samples), slices.Max(s.Settings.Samples)
	t := &trial{
		claim: "More samples are more stable.",
		how:   fmt.Sprintf("The jitter (as above) at N = %d is below that at N = %d, for each model, step size and estimator.", many, few),
	}
	for _, a := range s.Final {
		if few == many || a.Samples != many {
			continue
		}
		b := s.run(a.Model, a.StepSize, few, a.Estimator)
		t.add(float64(a.Jitter) < b.jitter(), "%s, %s, %s: %s, at N = %d %s",
			a.Model, number(a.StepSize), a.Estimator, amount(float64(a.Jitter)), few, amount(b.jitter()))
	}
	return t.verdict()
}

func (s *summary) allGuardsBelowOne() claim {
	t := &trial{
		claim: "All guards have less variance than one guard a sample, for each model and step size.",
		how: "Compared are averages of Avg(V(·)): over each one's own run, and at the same θ. One guard's gradient has all guards' as its mean " +
			"given the sample, since both use the same points; so at no θ can all guards have more, and equality is where no guard is near.",
	}
	for _, g := range s.Guards {
		if !g.Own.Avg.known() {
			continue
		}
		t.add(g.Own.Avg < 1 && g.Same.Avg < 1, "%s, %s: %s of one guard's in own runs, %s at the same θ",
			g.Model, number(g.StepSize), sig(float64(g.Own.Avg), 3), sig(float64(g.Same.Avg), 3))
	}
	return t.verdict()
}

// place is the panel and N of a run.
func (r runSpec) place() string {
	return fmt.Sprintf("%s, %s, N = %d", r.Model, number(r.StepSize), r.Samples)
}
