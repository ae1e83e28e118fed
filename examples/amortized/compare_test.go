//go:build long

// After the training new series are given to the network, and each to a fit of its own, of the same family. Where two changes are about as likely, or
// none is, a normal is at one of several places; so the network answers to several guesses of the change, and the answer with
// the largest ELBO counts. The exact posterior of the change is known as well, for the rates can be integrated out.

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

var (
	steps = flag.Int("steps", 300, "of each training of BenchmarkAnswers")
	many  = flag.Int("series", 10, "new ones of BenchmarkAnswers")
	seed  = flag.Uint64("seed", 1, "of BenchmarkAnswers")
)

// BenchmarkAnswers has new series answered by fits of their own, by the network, by one that was trained without the boundary part, and by one that was not trained.
func BenchmarkAnswers(b *testing.B) {
	for b.Loop() {
		series, through := trained(b, true, *steps, *many, *seed)
		_, without := trained(b, false, (*steps+8)/9, *many, *seed) // which gets no better
		_, start := trained(b, true, 0, *many, *seed)
		names := []string{"network, through the ifs", "without the boundary part", "network at the start"}
		answers, err := compare(context.Background(), series, names, [][]float64{through, without, start})
		require.NoError(b, err)
		printed(os.Stdout, series, answers)
	}
}

// trained are new series, and what a network answers to them after so many steps, with the boundary part or without.
func trained(t testing.TB, through bool, steps, count int, seed uint64) (series, answers []float64) {
	rows, err := expect.NewRows(program(), nil, 4, seed)
	require.NoError(t, err)
	if !through {
		rows.WithoutBoundary()
	}
	return run(io.Discard, layer.Of(rows), seed, steps, count, "")
}

// fit climbs the ELBO of one series, to a few thousandths of a nat: a fiftieth is a fifth of a standard deviation of a mean.
func fit(ctx context.Context, d *graph.Density, counts []float64) (family.Q, error) {
	d, err := d.WithObservations(counts)
	if err != nil {
		return nil, err
	}
	p, err := vi.Fit(ctx, d, vi.Settings{Seed: 1, Method: vi.Climb{Family: family.MeanField{}, Samples: 64, Tolerance: 0.004}})
	if err != nil {
		return nil, err
	}
	return p.Q, nil
}

// exact is the posterior of the change given a series: its density is constant between t − ½ and t + ½, where the first t counts come before it.
func exact(counts []float64) (mean, sd float64) {
	marginal := func(counts []float64) float64 { // log ∫ Π λ^c e^−λ·0.1·e^−0.1λ dλ
		a, _ := math.Lgamma(floats.Sum(counts) + 1)
		return a - (floats.Sum(counts)+1)*math.Log(float64(len(counts))+rate)
	}
	var logs, middle, square []float64
	for t := range length + 1 {
		lo, hi := max(0, float64(t)-0.5), min(length, float64(t)+0.5)
		logs = append(logs, math.Log(hi-lo)+marginal(counts[:t])+marginal(counts[t:]))
		middle, square = append(middle, (lo+hi)/2), append(square, (lo*lo+lo*hi+hi*hi)/3)
	}
	floats.AddConst(-floats.Max(logs), logs)
	for t, l := range logs {
		logs[t] = math.Exp(l)
	}
	mean = stat.Mean(middle, logs)
	return mean, math.Sqrt(stat.Mean(square, logs) - mean*mean)
}

// meanChange is the mean of the change at θ, between quantiles of the normal.
func meanChange(theta []float64) (mean float64) {
	const n = 200
	for k := range n {
		z := theta[0] + math.Exp(theta[1])*distuv.UnitNormal.Quantile((float64(k)+0.5)/n)
		mean += length / (1 + math.Exp(-z)) / n
	}
	return mean
}

// An answer is θ, and the ELBO, of each of the series.
type answer struct {
	what        string
	theta, elbo []float64
}

// gap is by how much the mean ELBO is below that of the fits.
func (a answer) gap(fits answer) float64 { return stat.Mean(fits.elbo, nil) - stat.Mean(a.elbo, nil) }

// off is by how much mean i is off that of each fit, in the fit's standard deviations.
func (a answer) off(fits answer, i int) (off []float64) {
	for k := range a.elbo {
		own := fits.theta[k*outputs:]
		off = append(off, math.Abs(a.theta[k*outputs+2*i]-own[2*i])/math.Exp(own[2*i+1]))
	}
	return off
}

// offExact is by how much the change's mean is off the exact one of each series, in exact standard deviations.
func (a answer) offExact(series []float64) (off []float64) {
	for k := range a.elbo {
		mean, sd := exact(series[k*length:][:length])
		off = append(off, math.Abs(meanChange(a.theta[k*outputs:])-mean)/sd)
	}
	return off
}

// compare has new series answered by fits of their own, and then by each network.
func compare(ctx context.Context, series []float64, names []string, networks [][]float64) (answers []answer, err error) {
	d := program()
	judge, err := expect.NewRows(d, nil, 2000, 1)
	if err != nil {
		return nil, err
	}
	n := len(series) / length
	add := func(what string, theta []float64) error {
		elbo := make([]float64, n)
		answers = append(answers, answer{what, theta, elbo})
		return judge.Run(0, theta, series, elbo, make([]float64, len(theta)))
	}
	fits := make([]float64, n*outputs)
	for k := range n {
		own, err := fit(ctx, d, series[k*length:][:length])
		if err != nil {
			return nil, err
		}
		judge.Free(fits[k*outputs:], own)
	}
	if err := add("fit of its own", fits); err != nil {
		return nil, err
	}
	for k, theta := range networks {
		if err := add(names[k], theta); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// printed prints the change of the first ten series, and how far the answers are off those of the fits, and off what is exact.
func printed(out io.Writer, series []float64, answers []answer) {
	n := len(series) / length
	fmt.Fprintf(out, "\nmean of the change   exact")
	for _, a := range answers {
		fmt.Fprintf(out, "  %s", a.what)
	}
	for k := range min(n, 10) {
		mean, _ := exact(series[k*length:][:length])
		fmt.Fprintf(out, "\nseries %-13d %6.2f", k+1, mean)
		for _, a := range answers {
			fmt.Fprintf(out, "  %*.2f", len(a.what), meanChange(a.theta[k*outputs:]))
		}
	}
	fmt.Fprintf(out, `

Average of %d series, with the median in brackets: ELBO, and how far it is below the fits'; how far the means of change, before and
after are off the fit's, in its standard deviations; how far the change's mean is off the exact one, in exact standard deviations.
%-26s %8s %8s %13s %13s %13s %13s
`, n, "", "ELBO", "below", "change", "before", "after", "off exact")
	typical := func(x []float64) string {
		slices.Sort(x)
		return fmt.Sprintf("%.2f (%.2f)", stat.Mean(x, nil), x[len(x)/2])
	}
	for k, a := range answers {
		var off [3]string
		for i := range off {
			if k > 0 {
				off[i] = typical(a.off(answers[0], i))
			}
		}
		fmt.Fprintf(out, "%-26s %8.2f %8.3f %13s %13s %13s %13s\n", a.what, stat.Mean(a.elbo, nil), a.gap(answers[0]), off[0], off[1], off[2], typical(a.offExact(series)))
	}
}
