package family

// Prior is the law of a simulation's noise: independent standard normals that stay as they are (see
// graph.NewSimulation). Its one member moves with the parameters of the program alone, so that with it ∇ELBO
// is the gradient of the expected objective, E[f].
type Prior struct{}

// Name implements Family.
func (Prior) Name() string { return "prior" }

// StepSize implements Family.
func (Prior) StepSize() float64 { return relative }

// New implements Family.
func (f Prior) New(p Program) (Q, error) {
	return newNormal(f, make([][]int, p.Dim())).Points(p.Params()), nil
}
