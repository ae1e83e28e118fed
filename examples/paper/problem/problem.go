// Package problem has the models of the paper as its programs fit them, compiled, where fits start, and the estimators that are compared.
package problem

import (
	"errors"
	"slices"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// Estimators are those that are compared: score, reparameterization, the boundary by all guards, and as in the paper by one at random.
var Estimators = []gradient.Estimator{gradient.Score{}, gradient.Reparam{}, gradient.Boundary{}, gradient.SingleGuard()}

// A Problem is a compiled model of the paper. It is safe for concurrent use.
type Problem struct {
	models.Spec
	Density *graph.Density
}

// Named compiles the model of that name, and makes sure that θ and the density have the latents in the same order.
func Named(name string) (*Problem, error) {
	spec, err := models.ByName(name)
	if err != nil {
		return nil, err
	}
	d, err := spec.Model().Compile()
	if err != nil {
		return nil, err
	}
	if !slices.Equal(d.Latents(), spec.Latents) {
		return nil, errors.New("the model's latents are not in the order of θ")
	}
	return &Problem{spec, d}, nil
}

// Start is q at the paper's initial θ: independent normals with scales log(1 + exp ρ).
func (p *Problem) Start() *family.Normal { return family.Softplus{}.At(p.ThetaInit) }
