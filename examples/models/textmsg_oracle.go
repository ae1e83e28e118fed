package models

import "math"

// TextMsgOracle is the Oracle of textmsg, a switch point in the rate of daily text messages: x0, x1 ~ N(m, log 2), where m is such
// that exp x has the mean of all counts, and u ~ N(0, 1); on every second day k = 2, …, 74 the count is
// Poisson(exp x0) if u > Φ⁻¹(k/75), else Poisson(exp x1). The latents are x0, x1 and u, which is named "z".
func TextMsgOracle() Oracle {
	days, counts := TextMsgData()
	m := textMsg{counts: counts, mean: TextMsgMean()}
	for _, day := range days {
		m.thresholds = append(m.thresholds, TextMsgThreshold(day))
	}
	return closedForm{m}
}

type textMsg struct {
	counts, thresholds []float64
	mean               float64
}

// Dim implements Oracle.
func (textMsg) Dim() int { return 3 }

// Guards implements Oracle.
func (m textMsg) Guards() []Guard {
	guards := make([]Guard, len(m.thresholds))
	for k, c := range m.thresholds {
		guards[k] = Guard{2, c}
	}
	return guards
}

// prior returns mean and sd of x0 and x1: the log-normal exp x has both mean and sd equal to m.mean.
func (m textMsg) prior() (mean, sd float64) {
	return math.Log(m.mean) - math.Ln2/2, math.Sqrt(math.Ln2)
}

// LogDensity implements Oracle.
func (m textMsg) LogDensity(z []float64, side Side) float64 {
	mean, sd := m.prior()
	v := logNormal(z[0], mean, sd) + logNormal(z[1], mean, sd) + logNormal(z[2], 0, 1)
	for k, count := range m.counts {
		v += logPoisson(count, choose(side(2, m.thresholds[k]), z[0], z[1]))
	}
	return v
}

func (m textMsg) expect(e *expectation) {
	mean, sd := m.prior()
	for i := range 2 {
		e.add(e.normal(latent(i).plus(-1, affine{constant: mean}), sd))
	}
	e.add(e.normal(latent(2), 1))
	for k, count := range m.counts {
		e.branch(e.above(2, m.thresholds[k]), e.poisson(count, 0), e.poisson(count, 1))
	}
}
