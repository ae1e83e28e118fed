package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// Marginals draws the posterior densities of the named latents, or of all
// latents if there are no names, on the program's own scale. They share the
// axes, so choose latents of one unit.
//
// It returns an error for a name that is not a latent's.
func Marginals(fit *vi.Posterior, names ...string) (*plot.Plot, error) {
	if len(names) == 0 {
		names = fit.Density.Latents()
	}
	x := "value"
	if len(names) == 1 {
		x = names[0]
	}
	p := newPlot("", x, "posterior density")
	p.Y.Min = 0
	l := addLegend(p)
	for k, name := range names {
		i, ok := fit.Density.Latent(name)
		if !ok {
			return nil, fmt.Errorf("plot: no latent %q in the model", name)
		}
		xys, err := marginal(fit, i)
		if err != nil {
			return nil, fmt.Errorf("plot: latent %s: %w", name, err)
		}
		line, err := plotter.NewLine(xys)
		if err != nil {
			return nil, fmt.Errorf("plot: latent %s: %w", name, err)
		}
		line.LineStyle = lineStyle(k)
		p.Add(line)
		if len(names) > 1 {
			l.add(name, line)
		}
	}
	roomy(p)
	return p, nil
}

const (
	marginalPieces = 200  // that choose where points are
	marginalPoints = 400  // to each of these, but fewer
	marginalMost   = 4000 // to all
	marginalNear   = 1e-6 // to the end of a piece, in its width
	marginalBeyond = 5e-4 // of several pieces, to each side
	marginalRoom   = 0.03 // of the width, to each side of that
	marginalTail   = 3e-5 // beyond them, to each side of a piece: 4 standard deviations
)

// marginal is the density of latent i: that of its unconstrained coordinate u,
// over the slope of the transform x(u).
func marginal(fit *vi.Posterior, i int) (plotter.XYs, error) {
	if values, _ := fit.Density.Values(i); values != nil {
		_, masses, err := fit.Masses(fit.Density.Latents()[i])
		return bars(values, masses), err
	}
	law := family.Marginal(fit.Q, i)
	var xys plotter.XYs
	for _, u := range grid(law) {
		x, slope := transform(fit.Density, i, u)
		if slope > 0 && !math.IsInf(slope, 0) { // else x is at its bound
			xys = append(xys, plotter.XY{X: x, Y: law.Density(u) / slope})
		}
	}
	if len(xys) < 2 {
		return nil, fmt.Errorf("its posterior is all at a bound")
	}
	return xys, nil
}

const (
	barWidth = 0.8
	leastBar = 1e-4 // a probability
)

// bars is the outline of bars of the given heights over whole numbers.
func bars(values []float64, masses []vi.Estimate) (xys plotter.XYs) {
	for j, v := range values {
		if masses[j].Value < leastBar {
			continue
		}
		low, high := v-barWidth/2, v+barWidth/2
		xys = append(xys, plotter.XY{X: low}, plotter.XY{X: low, Y: masses[j].Value}, plotter.XY{X: high, Y: masses[j].Value}, plotter.XY{X: high})
	}
	return xys
}

// grid is where to draw the density of a law: across each piece, and close to both
// sides of its ends. Of many pieces it looks at one for each part of the weight.
func grid(law family.Law) (at []float64) {
	few := len(law) <= marginalPieces
	n := max(8, min(marginalPoints, marginalMost/len(law)))
	sum := 0.0
	for _, p := range law {
		before := sum
		sum += p.Weight
		if !few && math.Floor(marginalPieces*before) == math.Floor(marginalPieces*sum) {
			continue
		}
		p.Weight = 1
		one := family.Law{p}
		low, high := one.Quantile(marginalTail), one.Quantile(1-marginalTail)
		for k := range n + 1 {
			at = append(at, low+(high-low)*float64(k)/float64(n))
		}
		for _, end := range []float64{p.Lo, p.Hi} {
			if !math.IsInf(end, 0) {
				at = append(at, end-marginalNear*(high-low), end+marginalNear*(high-low))
			}
		}
	}
	if len(law) > 1 { // light pieces may be far away
		low, high := law.Quantile(marginalBeyond), law.Quantile(1-marginalBeyond)
		room := marginalRoom * (high - low)
		at = slices.DeleteFunc(at, func(u float64) bool { return u < low-room || u > high+room })
	}
	slices.Sort(at)
	return at
}

// transform is the value of latent i at coordinate u, and the slope there: of
// the exponential function from 0 up, or of the logistic one between two bounds.
func transform(d *graph.Density, i int, u float64) (x, slope float64) {
	x = d.ConstrainOne(i, u)
	if !d.Transformed(i) {
		return x, 1
	}
	low, high := d.ConstrainOne(i, math.Inf(-1)), d.ConstrainOne(i, math.Inf(1))
	if math.IsInf(high, 1) {
		return x, x - low
	}
	return x, (x - low) * (high - x) / (high - low)
}
