package vi

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/powerscale"
)

// mostScaled is how many draws sensitivities are of, at most.
const mostScaled = 4000

// Sensitivity says which priors matter to which latents and named expressions, by draws of the fit weighed anew; see package
// powerscale. Priors are those of latents, or of all latents of a name where these are numbered, each given the others; what
// observations add is the likelihood. Print the result: “the prior of x matters”. Names choose quantities; all if there are none.
func (p *Posterior) Sensitivity(names ...string) (Sensitivity, error) {
	s, err := p.Sample()
	if err != nil {
		return Sensitivity{}, err
	}
	asked := askedOf(p.Density)
	asked.guards, asked.names = nil, append(p.Density.Latents()[p.Density.Params():], withNumbers(p.Density.Deterministics())...)
	var draws powerscale.Draws
	var columns []int
	for j, name := range asked.names {
		if len(names) == 0 || slices.Contains(names, name) {
			columns, draws.Quantities = append(columns, j), append(draws.Quantities, name)
		}
	}
	for _, name := range names {
		if !slices.Contains(draws.Quantities, name) {
			return Sensitivity{}, fmt.Errorf("vi: no latent or expression %q", name)
		}
	}
	priors, part := priorParts(p.Density)
	draws.Parts = append(priors, powerscale.Likelihood)
	draws.Values, draws.Log = make([][]float64, len(columns)), make([][]float64, len(draws.Parts))
	for k := 0; k < s.Len(); k += 1 + (s.Len()-1)/mostScaled {
		if s.Weights[k] == 0 {
			continue
		}
		z := s.Point(k)
		x := asked.at(z)
		for j, c := range columns {
			draws.Values[j] = append(draws.Values[j], x[c])
		}
		logs := make([]float64, len(draws.Parts))
		for i, l := range p.Density.LogPriors(nil, z) {
			logs[part[i]] += l
		}
		for _, l := range p.Density.LogLikelihoods(nil, z) {
			if !math.IsNaN(l) {
				logs[len(logs)-1] += l
			}
		}
		for j, l := range logs {
			draws.Log[j] = append(draws.Log[j], l)
		}
		draws.Weights = append(draws.Weights, s.Weights[k])
	}
	floats.Scale(1/floats.Sum(draws.Weights), draws.Weights)
	r, err := powerscale.Of(draws)
	return r, wrapped(err)
}

// priorParts are the names of latents, without their numbers, and which of them each latent has.
func priorParts(d *graph.Density) (names []string, of []int) {
	of = make([]int, d.Dim())
	for i, name := range d.Latents()[d.Params():] {
		name, _, _ = strings.Cut(name, "[")
		k := slices.Index(names, name)
		if k < 0 {
			k = len(names)
			names = append(names, name)
		}
		of[d.Params()+i] = k
	}
	return names, of
}
