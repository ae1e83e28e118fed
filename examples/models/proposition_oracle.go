package models

// PropositionOracle is the Oracle of the model in the paper's Proposition 2: z ~ N(0, 1), x ~ N(5, 1) if z > 0 else N(−2, 1),
// and x = 0 is seen. With θ the mean and the scale held at 1 its gradient is −θ − 10.5·exp(−θ²/2)/√(2π), of which −θ is
// RepGrad.
func PropositionOracle() Oracle { return closedForm{proposition{}} }

type proposition struct{}

// Dim implements Oracle.
func (proposition) Dim() int { return 1 }

// Guards implements Oracle.
func (proposition) Guards() []Guard { return []Guard{{0, 0}} }

// LogDensity implements Oracle.
func (proposition) LogDensity(z []float64, side Side) float64 {
	return logNormal(z[0], 0, 1) + logNormal(0, choose(side(0, 0), 5, -2), 1)
}

func (proposition) expect(e *expectation) {
	e.add(e.normal(latent(0), 1))
	e.branch(e.above(0, 0), moment{value: logNormal(0, 5, 1)}, moment{value: logNormal(0, -2, 1)})
}
