// Package loo says how well a model predicts each observation from all others, without fitting it again.
//
// Weighted draws θ_s of the posterior given all observations become draws of the one given all but y_i by weights that are
// divided by the likelihood of y_i, and smoothed by a Pareto distribution (PSIS-LOO of Vehtari, Gelman and Gabry, Statistics and
// Computing 27, 2017):
//
//	elpd_i = log Σ_s v_s·p(y_i | θ_s) / Σ_s v_s,   v_s = PSIS(w_s / p(y_i | θ_s)),   elpd = Σ_i elpd_i
//
//	log p(y_i | θ_s), weights ──▶ Of ──▶ elpd, k-hat by observation ──▶ Minus, Stack
//
// Observation i must be independent of the others given θ, or its log likelihood one given some of them: as for a step of a
// time series given the past, of which what comes later still tells θ.
package loo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/weighted"
)

// A Result is what a model predicts of each observation, given the others.
type Result struct {
	// ELPD is the sum of the points' ELPD, in nats: the expected log predictive density of as many new observations. Its
	// standard error is by how these differ, and says how well the data tell it; MonteCarlo is that of the draws alone.
	ELPD       mc.Estimate
	MonteCarlo float64
	Params     mc.Estimate // effective number of parameters, the sum of those of the points
	Points     []Point     // by observation
	Threshold  float64     // of k-hat: above it a point's ELPD is not to be relied on
}

// A Point is one observation.
type Point struct {
	Name   string
	ELPD   mc.Estimate // log p(y_i | the others), with the standard error of the draws
	Params float64     // effective number of parameters that it takes: log p(y_i | all) − ELPD
	K      float64     // k-hat: high where the model did not expect the observation
}

// Of computes the result from log likelihoods, observations × draws, of observations that have names. weights are those of the
// draws; nil if these are even. chains are the numbers from 0 of the Markov chains that the draws are of; nil if these are independent.
// It is an error if a log likelihood is NaN or +Inf.
func Of(names []string, logLikelihoods [][]float64, weights []float64, chains []int) (Result, error) {
	if len(logLikelihoods) == 0 || len(names) != len(logLikelihoods) {
		return Result{}, fmt.Errorf("loo: log likelihoods of %d observations with %d names", len(logLikelihoods), len(names))
	}
	n := len(logLikelihoods[0])
	logs := make([]float64, n) // of the weights
	for s, w := range weights {
		logs[s] = math.Log(w)
	}
	r := Result{Points: make([]Point, len(names)), Threshold: weighted.KThreshold(n)}
	err := parallel.Do(parallel.Processors(len(names)), len(names), func(_, i int) (err error) {
		if len(logLikelihoods[i]) != n || weights != nil && len(weights) != n || chains != nil && len(chains) != n {
			return fmt.Errorf("loo: %s: %d log likelihoods for %d draws", names[i], len(logLikelihoods[i]), n)
		}
		r.Points[i], err = point(names[i], logLikelihoods[i], logs, chains)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	elpd, params := r.each(func(p Point) float64 { return p.ELPD.Value }), r.each(func(p Point) float64 { return p.Params })
	r.ELPD, r.Params = total(elpd), total(params)
	r.MonteCarlo = floats.Norm(r.each(func(p Point) float64 { return p.ELPD.SE }), 2)
	return r, nil
}

func point(name string, logLikelihood, logWeights []float64, chains []int) (Point, error) {
	ratio, density := make([]float64, len(logWeights)), make([]float64, len(logWeights))
	for s, l := range logLikelihood {
		if ratio[s] = math.Inf(-1); logWeights[s] > ratio[s] {
			ratio[s] = logWeights[s] - l
		}
	}
	smooth, err := weighted.ParetoSmooth(ratio)
	if err != nil {
		return Point{}, fmt.Errorf("loo: %s: %w", name, err)
	}
	p := Point{Name: name, K: smooth.K}
	floats.AddConst(-floats.LogSumExp(smooth.LogWeights), smooth.LogWeights)
	p.ELPD.Value = floats.LogSumExp(floats.AddTo(density, smooth.LogWeights, logLikelihood))
	off := ratio // by how much each draw moves the value
	for s, w := range smooth.LogWeights {
		off[s] = math.Exp(w) * math.Expm1(logLikelihood[s]-p.ELPD.Value)
	}
	p.ELPD.SE = floats.Norm(sums(off, chains), 2)
	p.Params = floats.LogSumExp(floats.AddTo(density, logWeights, logLikelihood)) - floats.LogSumExp(logWeights) - p.ELPD.Value
	return p, nil
}

// sums are those of x over each chain, by which the standard error of the sum of all is what it is of independent draws; x itself if its
// elements are independent.
func sums(x []float64, chains []int) []float64 {
	if chains == nil {
		return x
	}
	list := make([]float64, slices.Max(chains)+1)
	for s, c := range chains {
		list[c] += x[s]
	}
	if n := float64(len(list)); n > 1 {
		floats.Scale(math.Sqrt(n/(n-1)), list)
	}
	return list
}

// each is f of each point.
func (r Result) each(f func(Point) float64) []float64 {
	x := make([]float64, len(r.Points))
	for i, p := range r.Points {
		x[i] = f(p)
	}
	return x
}

// total is the sum of x, whose standard error is that of a sum of as many draws of what x are drawn from.
func total(x []float64) mc.Estimate {
	e := mc.Estimate{Value: floats.Sum(x)}
	if n := float64(len(x)); n > 1 {
		e.SE = math.Sqrt(n * stat.Variance(x, nil))
	}
	return e
}

// Unreliable are the points whose k-hat is above the threshold, the highest first: observations that the model did not expect, or
// that few others are like.
func (r Result) Unreliable() []Point {
	list := slices.DeleteFunc(slices.Clone(r.Points), func(p Point) bool { return p.K <= r.Threshold })
	slices.SortStableFunc(list, func(a, b Point) int { return cmp.Compare(b.K, a.K) })
	return list
}

// Minus is by how much r predicts the same observations better than o, with the standard error of the difference. Observations in
// another order, or others, are an error as far as names tell.
func (r Result) Minus(o Result) (mc.Estimate, error) {
	if err := same(r, o); err != nil {
		return mc.Estimate{}, err
	}
	elpd := func(p Point) float64 { return p.ELPD.Value }
	return total(floats.SubTo(make([]float64, len(r.Points)), r.each(elpd), o.each(elpd))), nil
}

func same(r, o Result) error {
	if len(r.Points) != len(o.Points) {
		return fmt.Errorf("loo: %d observations and %d", len(r.Points), len(o.Points))
	}
	for i, p := range r.Points {
		if p.Name != o.Points[i].Name {
			return fmt.Errorf("loo: observation %d is %s and %s", i, p.Name, o.Points[i].Name)
		}
	}
	return nil
}

// stackSteps are enough for weights to three digits: each step raises the sum of logarithms.
const stackSteps = 20_000

// Stack are the weights of models by which the mixture of their predictions predicts best, the maximum of
// Σ_i log Σ_k weight_k·exp elpd_ki (stacking of Yao, Vehtari, Simpson and Gelman, Bayesian Analysis 13, 2018). They are no
// probabilities of models: of two that say the same one may have all.
func Stack(models ...Result) ([]float64, error) {
	if len(models) == 0 {
		return nil, nil
	}
	weights := slices.Repeat([]float64{1 / float64(len(models))}, len(models))
	density := make([][]float64, len(models[0].Points)) // of each observation by the models, the best of which has 1
	for i := range density {
		for k, m := range models {
			if err := same(models[0], m); err != nil {
				return nil, fmt.Errorf("%w, by model %d", err, k+1)
			}
			density[i] = append(density[i], m.Points[i].ELPD.Value)
		}
		top := floats.Max(density[i])
		for k, x := range density[i] {
			density[i][k] = math.Exp(x - top)
		}
	}
	next := make([]float64, len(weights))
	for range stackSteps { // of expectation and maximisation
		clear(next)
		for _, p := range density {
			floats.AddScaled(next, 1/floats.Dot(weights, p), p)
		}
		change := 0.0
		for k, x := range next {
			x *= weights[k] / float64(len(density))
			change = max(change, math.Abs(x-weights[k]))
			weights[k] = x
		}
		if change < 1e-9 {
			break
		}
	}
	return weights, nil
}

// String is the elpd, and what is not to be relied on.
func (r Result) String() string {
	s := fmt.Sprintf("elpd %.1f ± %.1f (Monte Carlo ± %.2g), %.1f effective parameters\n", r.ELPD.Value, r.ELPD.SE, r.MonteCarlo, r.Params.Value)
	if bad := r.Unreliable(); len(bad) > 0 {
		var names []string
		for _, p := range bad[:min(len(bad), 5)] {
			names = append(names, fmt.Sprintf("%s (%.2f)", p.Name, p.K))
		}
		s += fmt.Sprintf("warning: k-hat is above %.2f at %d of %d observations, which the model did not expect: %s\n",
			r.Threshold, len(bad), len(r.Points), strings.Join(names, ", "))
	}
	return s
}
