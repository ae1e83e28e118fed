package vi

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/draws"
)

// PredictPrior makes n prior predictive draws of a program, before any fit; the seed fixes them: latents from their priors, among which
// those are rejected that break what is required ([graph.Model.Require]), and all observations, one after the other, so that a series
// that depends on its past ([graph.Model.Observed]) depends on what was drawn. Factors play no part. The data of the result are those of
// the program, for comparison. It is an error if n < 1, if the program has parameters, which have no prior, or if hardly
// any draw of the prior meets what is required.
func PredictPrior(d *graph.Density, n int, seed uint64) (Predictive, error) {
	if d == nil || n < 1 {
		return Predictive{}, fmt.Errorf("vi: prior predictive: a nil density, or %d draws", n)
	}
	prior, err := onlyGiven(d, nil)
	if err != nil {
		return Predictive{}, fmt.Errorf("vi: prior predictive: %w", err)
	}
	points, err := priorDraws(prior, n, seed)
	if err != nil {
		return Predictive{}, fmt.Errorf("vi: prior predictive: %w", err)
	}
	r, err := draws.Predict(draws.At(prior, PriorStart(prior), points), seed)
	if err != nil {
		return Predictive{}, err
	}
	return r.Beside(d), nil
}

// onlyGiven is the program with all observations missing but for those of the given names.
func onlyGiven(d *graph.Density, given []string) (*graph.Density, error) {
	data := d.Data()
	for i, name := range d.Observations() {
		if !slices.Contains(given, name) {
			data[i] = math.NaN()
		}
	}
	return d.WithObservations(data)
}

// mostRejected is how many draws of the prior are tried for one that meets what is required.
const mostRejected = 10_000

// priorDraws are n draws of the prior that meet what is required.
func priorDraws(d *graph.Density, n int, seed uint64) ([][]float64, error) {
	if d.Params() > 0 {
		return nil, errors.New("the program has parameters, which have no prior")
	}
	required, err := d.Engine().Requirements()
	if err != nil {
		return nil, err
	}
	rng, list := parallel.NewRand(seed), make([][]float64, n)
	for k := range list {
		list[k] = d.PriorDraw(nil, rng)
		for tries := 0; !meets(required, d.Arrangement().Signs(list[k])); tries++ {
			if tries == mostRejected {
				return nil, fmt.Errorf("none of %d draws of the prior meets what is required", mostRejected)
			}
			d.PriorDraw(list[k], rng)
		}
	}
	return list, nil
}

// meets reports whether all that is required holds in a region; required is nil if nothing is.
func meets(required *derive.Requirements, signs regions.Signs) bool {
	for k := 0; required != nil && k < required.Len(); k++ {
		if !required.Holds(k, signs) {
			return false
		}
	}
	return true
}
