package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// exact is the mean of the change given a series: its density is constant between t − ½ and t + ½, where the first t counts come before it.
func exact(counts []float64) float64 {
	var logs, middle []float64
	marginal := func(counts []float64) float64 { // ∫ Π λ^c e^−λ·0.1·e^−0.1λ dλ
		a, _ := math.Lgamma(floats.Sum(counts) + 1)
		return a - (floats.Sum(counts)+1)*math.Log(float64(len(counts))+rate)
	}
	for t := range length + 1 {
		lo, hi := max(0, float64(t)-0.5), min(length, float64(t)+0.5)
		logs = append(logs, math.Log(hi-lo)+marginal(counts[:t])+marginal(counts[t:]))
		middle = append(middle, (lo+hi)/2)
	}
	all, mean := floats.LogSumExp(logs), 0.0
	for t, l := range logs {
		mean += math.Exp(l-all) * middle[t]
	}
	return mean
}

// meanChange is the mean of the change of which θ is the posterior, between quantiles of the normal.
func meanChange(theta []float64) (mean float64) {
	const n = 200
	for k := range n {
		z := theta[0] + math.Exp(theta[1])*distuv.UnitNormal.Quantile((float64(k)+0.5)/n)
		mean += length / (1 + math.Exp(-z)) / n
	}
	return mean
}

// A comparison is of answers with the fit of each series.
type comparison struct {
	elbo, gap float64      // mean, and by how much it is below the fits'
	off       [3][]float64 // by how much the means are off, in standard deviations of the fit, by series
}

// An examiner gives series to networks and to fits.
type examiner struct {
	d     *graph.Density
	judge *expect.Rows // with many draws a row
	own   []float64    // scratch: gradient
}

func (x *examiner) elbo(theta, counts []float64) (float64, error) {
	value := make([]float64, 1)
	err := x.judge.Run(0, theta, counts, value, x.own)
	return value[0], err
}

// fit climbs the ELBO of one series, to a few thousandths of a nat: a fiftieth is a fifth of a standard deviation of a mean.
func (x *examiner) fit(ctx context.Context, counts []float64) ([]float64, error) {
	d, err := x.d.WithObservations(counts)
	if err != nil {
		return nil, err
	}
	p, err := vi.Fit(ctx, d, vi.Settings{Seed: 1, Method: vi.Climb{Family: family.MeanField{}, Samples: 64, Tolerance: 0.004}})
	if err != nil {
		return nil, err
	}
	theta := make([]float64, len(x.judge.Labels()))
	x.judge.Free(theta, p.Q)
	return theta, nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

func what(through bool) string {
	if through {
		return "through the ifs"
	}
	return "without the boundary part"
}

// compare gives new series to the networks and to fits, and prints what they say of the first ten.
func (x *examiner) compare(ctx context.Context, networks []network, series int, seed uint64, out io.Writer) (of []comparison, fits float64, err error) {
	rng := rand.New(rand.NewPCG(seed, 3))
	of = make([]comparison, len(networks))
	for k := range series {
		counts := draw(rng)
		own, err := x.fit(ctx, counts)
		if err != nil {
			return nil, 0, err
		}
		best, err := x.elbo(own, counts)
		if err != nil {
			return nil, 0, err
		}
		fits += best / float64(series)
		said := []any{exact(counts), meanChange(own)}
		for i, n := range networks {
			theta, err := n.answer(counts)
			if err != nil {
				return nil, 0, err
			}
			elbo, err := x.elbo(theta, counts)
			if err != nil {
				return nil, 0, err
			}
			c := &of[i]
			c.elbo += elbo / float64(series)
			c.gap += (best - elbo) / float64(series)
			for j := range c.off {
				c.off[j] = append(c.off[j], math.Abs(theta[2*j]-own[2*j])/math.Exp(own[2*j+1]))
			}
			said = append(said, meanChange(theta))
		}
		if k < 10 {
			fmt.Fprintf(out, "series %-11d %6.2f %15.2f %16.2f %26.2f\n", append([]any{k + 1}, said...)...)
		}
	}
	return of, fits, nil
}
