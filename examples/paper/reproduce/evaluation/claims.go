package evaluation

import (
	"fmt"
	"math"
	"slices"
)

// A claim of the paper, or of facet, tested on the data.
type claim struct {
	Claim   string `json:"claim"`
	Verdict string `json:"verdict"` // see judge
	How     string `json:"how"`     // it was tested
	// Cases with their numbers: that bear the claim out, that are within noise,
	// and that go against it.
	Holds  []string `json:"holds_in"`
	Within []string `json:"within_noise"`
	Fails  []string `json:"fails_in"`
}

// Cases is the number of cases.
func (c *claim) Cases() int { return len(c.Holds) + len(c.Within) + len(c.Fails) }

// Count tells in how many cases the claim holds.
func (c *claim) Count() string {
	s := fmt.Sprintf("%d of %d cases", len(c.Holds), c.Cases())
	if n := len(c.Within); n > 0 {
		s += fmt.Sprintf(", %d within noise", n)
	}
	return s
}

// add adds a case that is so many standard errors in the claim's favour,
// described by its numbers. NaN is for a case that was not measured, as in very
// short runs, and is left out.
func (c *claim) add(errors float64, format string, args ...any) {
	list := &c.Within
	switch {
	case math.IsNaN(errors):
		return
	case errors > noise:
		list = &c.Holds
	case errors < -noise:
		list = &c.Fails
	}
	*list = append(*list, fmt.Sprintf(format, args...))
}

// judge gives the verdict: one case against the claim refutes it.
func (c *claim) judge() {
	switch {
	case c.Cases() == 0:
		c.Verdict, c.How = "not tested", "The runs that it is about are not among these."
	case len(c.Fails) > 0:
		c.Verdict = "refuted"
	case len(c.Holds) == 0:
		c.Verdict = "open"
	default:
		c.Verdict = "holds"
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
		c.judge()
	}
	return all
}

// bestELBO tests an estimator against Score and Reparam, run by run.
func (s *summary) bestELBO(estimator, title string) *claim {
	c := &claim{
		Claim: title + ", above Score and Reparam, within noise, for each model, step size and N.",
		How: fmt.Sprintf("Compared are the closed-form ELBOs of the last %d evaluations; noise is %d standard errors of the difference. "+
			"In a run that still climbs they are mostly the climb; they do not see the noise between seeds, and one seed may end in another local optimum.", lastEvaluations, noise),
	}
	for _, a := range s.Final {
		if a.Estimator != estimator {
			continue
		}
		for _, other := range []string{"score", "reparam"} {
			if r := s.run(a.Model, a.StepSize, a.Samples, other); r != nil {
				b := r.final()
				se := math.Hypot(float64(a.ExactSE), float64(b.ExactSE))
				c.add(float64(a.Exact-b.Exact)/se, "%s: %s, %s %s", a.place(), nats(float64(a.Exact)), other, nats(float64(b.Exact)))
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
		errors := math.Min(float64(b.Exact-a.Exact)/se, (best-float64(a.Exact))/float64(a.ExactSE))
		c.add(errors, "%s: %s, ours %s, the optimum %s", a.place(), nats(float64(a.Exact)), nats(float64(b.Exact)), nats(best))
	}
	return c
}

func (s *summary) scoreUnstable() *claim {
	c := &claim{
		Claim: "Score is unstable at step size 0.01.",
		How: fmt.Sprintf("Measured is the jitter: the standard deviation, in nats, of a run's closed-form ELBO about a line through neighbouring "+
			"evaluations, over its second half. Score's at 0.01 exceeds its own at 0.001 and the paper's estimator's at 0.01; noise is %d standard errors "+
			"of the ratio's logarithm.", noise),
	}
	for _, a := range s.Final {
		small, ours := s.run(a.Model, 0.001, a.Samples, "score"), s.run(a.Model, 0.01, a.Samples, "ours")
		if a.Estimator != "score" || a.StepSize != 0.01 || small == nil || ours == nil {
			continue
		}
		low, own := small.final(), ours.final()
		errors := math.Min(jitterExcess(a, low), jitterExcess(a, own))
		if a.Diverged > 0 {
			errors = math.Inf(1)
		}
		c.add(errors, "%s: %s, at 0.001 %s, ours %s", a.place(), amount(float64(a.Jitter)), amount(float64(low.Jitter)), amount(float64(own.Jitter)))
	}
	return c
}

// jitterExcess is by how many standard errors a's jitter exceeds b's, on the
// scale of logarithms.
func jitterExcess(a, b finalRow) float64 {
	return math.Log(float64(a.Jitter/b.Jitter)) / math.Hypot(float64(a.JitterSE/a.Jitter), float64(b.JitterSE/b.Jitter))
}

func (s *summary) moreSamplesMoreStable() *claim {
	few, many := slices.Min(s.Settings.Samples), slices.Max(s.Settings.Samples)
	c := &claim{
		Claim: "More samples are more stable.",
		How:   fmt.Sprintf("The jitter and its noise are as above; at N = %d it is below that at N = %d, for each model, step size and estimator.", many, few),
	}
	for _, a := range s.Final {
		if few == many || a.Samples != many {
			continue
		}
		b := s.run(a.Model, a.StepSize, few, a.Estimator).final()
		c.add(jitterExcess(b, a), "%s, %s, %s: %s, at N = %d %s",
			a.Model, number(a.StepSize), a.Estimator, amount(float64(a.Jitter)), few, amount(float64(b.Jitter)))
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
		errors := math.Inf(1) // not known: the averages are of one run
		if larger := math.Max(float64(g.Own.Avg), float64(g.Same.Avg)); math.IsNaN(larger) {
			continue
		} else if larger >= 1 {
			errors = math.Inf(-1)
		}
		c.add(errors, "%s, %s: %s of one guard's in own runs, %s at the same θ",
			g.Model, number(g.StepSize), sig(float64(g.Own.Avg), 3), sig(float64(g.Same.Avg), 3))
	}
	return c
}

// place is the panel and N of a run.
func (r runSpec) place() string {
	return fmt.Sprintf("%s, %s, N = %d", r.Model, number(r.StepSize), r.Samples)
}
