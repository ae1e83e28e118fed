package evaluation

import "fmt"

// differences lists the cells of Table 1 that are more than twice or less than
// half the paper's.
func (s *summary) differences() []string {
	var all []string
	check := func(r varianceRow, what string, here, paper num) {
		times := float64(here / paper)
		switch {
		case times > 2:
			all = append(all, fmt.Sprintf("%s, step size %s, %s, %s: %s here, %s in the paper, %s times more",
				r.Model, number(r.StepSize), label(r.Estimator), what, sig(float64(here), 3), sig(float64(paper), 3), sig(times, 2)))
		case times < 0.5:
			all = append(all, fmt.Sprintf("%s, step size %s, %s, %s: %s here, %s in the paper, %s times less",
				r.Model, number(r.StepSize), label(r.Estimator), what, sig(float64(here), 3), sig(float64(paper), 3), sig(1/times, 2)))
		}
	}
	for _, r := range s.Table1 {
		check(r, "Avg(V(·))", r.Own.Avg, r.Paper.Avg)
		check(r, "V(‖·‖₂)", r.Own.Norm, r.Paper.Norm)
	}
	return all
}

// reasons is why, in the order of weight.
func reasons() []string {
	return []string{
		"Guards with the same zero set are one guard here, and flip together. Temperature asks the same question twice in each step, for the state " +
			"and for the noise's scale: its 80 ifs are 60 hyperplanes. The authors' program flips ifs one at a time, so that its boundary part converges " +
			"to another vector than the gradient, by up to 1000 in single components at the start, while the one here is unbiased. " +
			"For textmsg and influenza both converge to the same.",
		"Ours draws one of the distinct guards for each sample, uniformly, and multiplies by their number: 60 and 13 for temperature and influenza here, " +
			"80 and 24 ifs there. That is another variance.",
		"The runs are others. Each estimator is averaged over its own run, so over other places, and the variance changes along a run by up to several powers of ten: " +
			"a run that stays longer where guards are near, or a Score that wanders further off, moves the ratio. " +
			"The columns “same θ” are without this; that they differ from those of own runs, and how much, is the size of the effect.",
		"An average is that of few places, such as the start, and of few gradients: they are heavy-tailed, and 16 draws rarely see what weighs most. " +
			"Each cell here is of one seed.",
		"The times are of another machine, and of a graph that is compiled once and run by a static plan; the paper's prototype builds and differentiates while it samples.",
	}
}
