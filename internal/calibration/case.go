package calibration

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
)

// A Case is a model with its exact posterior.
type Case struct {
	Name    string
	Density *graph.Density
	Exact   Exact

	joint joint
	solve func(fine int) Exact
}

// Exact is what is known of a posterior.
type Exact struct {
	LogEvidence float64
	// Mean and SD are those of latents on the program's own scale, by name; of
	// those that are known.
	Mean, SD map[string]float64
	// Guards are the posterior probabilities of named guards, by name, in order.
	Guards map[string][]float64
	// Likeliest says which named guards hold in the pattern of guards with most
	// posterior mass, and LikeliestProb is that mass. Likeliest is nil where the
	// patterns were not enumerated.
	Likeliest     map[string][]bool
	LikeliestProb float64
}

// A joint is the log prior density and the log likelihood of latents on the
// program's own scale, in the order of the program.
type joint func(x []float64) (prior, likelihood float64)

// A problem is a program with the two descriptions of its posterior that do not
// use the program's density.
type problem struct {
	model *graph.Model
	// latents are the arguments of joint.
	latents []string
	joint   joint
	// solve computes the posterior. Steps of quadrature are divided by fine, and
	// ranges widened if fine is above 1.
	solve func(fine int) Exact
}

// An entry of the collection is made when it is asked for.
type entry struct {
	name string
	make func() problem
}

func (e entry) build() Case {
	p := e.make()
	d, err := p.model.Compile()
	if err != nil {
		panic(fmt.Sprintf("calibration: %s: %v", e.name, err))
	}
	return Case{Name: e.name, Density: d, Exact: p.solve(1), joint: ordered(d, p), solve: p.solve}
}

// ordered is p's joint density with its arguments in the order of the program.
func ordered(d *graph.Density, p problem) joint {
	at := make([]int, len(p.latents))
	for k, name := range p.latents {
		i, ok := d.Latent(name)
		if !ok || len(p.latents) != d.Dim() {
			panic(fmt.Sprintf("calibration: latents %q of the oracle are not %q of the program", p.latents, d.Latents()))
		}
		at[k] = i
	}
	return func(x []float64) (prior, likelihood float64) {
		y := make([]float64, len(at))
		for k, i := range at {
			y[k] = x[i]
		}
		return p.joint(y)
	}
}

// LogJoint is the log of prior density times likelihood at x, latents on the
// program's own scale in the order of Density.Latents, by the oracle.
func (c Case) LogJoint(x []float64) float64 {
	prior, likelihood := c.joint(x)
	if math.IsInf(prior, -1) {
		return prior
	}
	return prior + likelihood
}
