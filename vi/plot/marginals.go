package plot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/weighted"
)

// Marginals draws the posterior densities of the named latents and components of vectors, or of all
// of them if there are no names, on the program's own scale, and their priors
// as dashed lines. They share the axes, so choose latents of one unit.
//
// The posterior is that of the weighted draws, [vi.Posterior.Sample]; the prior is that of
// draws which follow the program, [graph.Density.PriorDraw]. Both are smoothed, but the
// posterior not across a value at which a guard on that latent alone may make it jump. A discrete
// latent has a bar for each value, as high as its probability.
//
// It returns an error for a name that is none of these, and for a latent that is
// the same in all draws.
func Marginals(fit *vi.Posterior, names ...string) (*plot.Plot, error) {
	return marginals(fit, newDraws(fit), names, true)
}

// Small returns Marginals of one latent each, for many pictures side by side: they have no legend, and the draws of the prior,
// the dashed line, are made once.
func Small(fit *vi.Posterior) func(name string) (*plot.Plot, error) {
	made := newDraws(fit)
	return func(name string) (*plot.Plot, error) {
		p, err := marginals(fit, made, []string{name}, false)
		if err == nil {
			p.X.Tick.Marker, p.Y.Tick.Marker = ticks{few: true}, ticks{few: true}
		}
		return p, err
	}
}

// marginals are drawn with a legend, or without.
func marginals(fit *vi.Posterior, made draws, names []string, withLegend bool) (*plot.Plot, error) {
	if len(names) == 0 {
		names = shown(fit.Density)
	}
	x := "value"
	if len(names) == 1 {
		x = names[0]
	}
	f := newFigure(x, "density")
	if withLegend {
		f.addLegend()
	}
	top := 0.0
	var sample *plotter.Line // of a prior, for the legend
	for k, name := range names {
		i, ok := number(fit.Density, name)
		if !ok {
			return nil, fmt.Errorf("plot: no latent %q in the model", name)
		}
		posterior, prior, err := marginal(fit, i, made)
		if err != nil {
			return nil, fmt.Errorf("plot: latent %s: %w", name, err)
		}
		if isDiscrete(fit.Density, i) {
			f.Y.Label.Text = "probability"
			if len(names) > 1 {
				f.Y.Label.Text = "density, or probability"
			}
		}
		style := lineStyle(k)
		if len(prior) > 0 {
			dashed := style
			dashed.Width, dashed.Dashes = 1, []vg.Length{4, 3}
			sample = f.line(prior, dashed)
		}
		line := f.line(posterior, style)
		if f.err != nil {
			return nil, fmt.Errorf("plot: latent %s: %w", name, f.err)
		}
		_, _, _, highest := plotter.XYRange(posterior)
		top = max(top, highest)
		if len(names) == 1 {
			name = "posterior"
		}
		f.name(name, line)
	}
	if sample != nil {
		entry := *sample
		if len(names) > 1 {
			entry.Color = ink
		}
		f.name("prior", &entry)
	}
	f.Y.Min, f.Y.Max = 0, min(f.Y.Max, 1.3*top) // a prior's peak may leave the figure
	f.roomy()
	return f.Plot, nil
}

const (
	priorDraws     = 20000
	priorNumbers   = 20_000_000 // in the draws of a program with many latents, which are fewer
	leastDraws     = 1000
	priorSeed      = 1
	marginalBeyond = 5e-4 // of the posterior, to each side of the figure
	marginalRoom   = 0.03 // of the width, to each side of that
	leastBar       = 1e-4 // a probability
	barWidth       = 0.8
)

// shown are the latents that are not in vectors, and the components of these.
func shown(d *graph.Density) (names []string) {
	for i, name := range d.Latents() {
		if i >= d.Params() && !d.Coordinate(i).InVector() {
			names = append(names, name)
		}
	}
	return append(names, d.Components()...)
}

// number is that of a latent, or, after all of them, of a component of a vector.
func number(d *graph.Density, name string) (i int, ok bool) {
	if i, ok := d.Latent(name); ok {
		return i, true
	}
	k := slices.Index(d.Components(), name)
	return d.Dim() + k, k >= 0
}

func isDiscrete(d *graph.Density, i int) bool {
	if i >= d.Dim() {
		return false
	}
	values, _ := d.Values(i)
	return values != nil
}

// draws are those of the prior and those of the posterior's components of vectors: they are made once for many pictures.
type draws struct{ prior, components [][]float64 }

func newDraws(fit *vi.Posterior) draws {
	made := draws{prior: priors(fit.Density)}
	if s, err := fit.Sample(); err == nil { // who asks for the sample sees the error
		made.components = s.Components()
	}
	return made
}

// of are the draws of a latent or a component, and quantiles of them.
func (made draws) of(s *weighted.Sample, i int, probs ...float64) (x []float64, quantiles []vi.Estimate) {
	if c := i - (len(made.prior) - len(made.components)); c >= 0 {
		x = made.components[c]
		return x, s.QuantilesOf(x, probs...)
	}
	return s.Latent(i), s.Quantiles(i, probs...)
}

// priors are ancestral draws, latent by latent, and then component by component.
func priors(d *graph.Density) [][]float64 {
	rng := rand.New(rand.NewPCG(priorSeed, 0))
	all := make([][]float64, d.Dim()+len(d.Components()))
	add := func(i int, x float64) {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			all[i] = append(all[i], x)
		}
	}
	z := make([]float64, d.Dim())
	for range max(leastDraws, min(priorDraws, priorNumbers/max(1, d.Dim()))) {
		for i, u := range d.PriorDraw(z, rng) {
			add(i, d.Coordinate(i).Value(u))
		}
		for k, x := range d.ComponentsAt(z) {
			add(d.Dim()+k, x)
		}
	}
	return all
}

// marginal is the posterior density of a latent or a component, and that of its prior where the posterior is.
func marginal(fit *vi.Posterior, i int, made draws) (posterior, prior plotter.XYs, err error) {
	d, before := fit.Density, made.prior
	if isDiscrete(d, i) {
		values, masses, err := fit.Masses(d.Latents()[i])
		heights, counts := make([]float64, len(values)), make([]float64, len(values))
		for j, v := range values {
			heights[j] = masses[j].Value
			for _, x := range before[i] {
				if x == v {
					counts[j] += 1 / float64(len(before[i]))
				}
			}
		}
		return bars(values, heights), bars(values, counts), err
	}
	s, err := fit.Sample()
	if err != nil {
		return nil, nil, err
	}
	x, q := made.of(s, i, marginalBeyond, 1-marginalBeyond)
	from, to := q[0].Value, q[1].Value
	if !(from < to) {
		return nil, nil, fmt.Errorf("it is %v in all draws", from)
	}
	low, high := math.Inf(-1), math.Inf(1)
	if i < d.Dim() {
		low, high = d.Coordinate(i).Value(low), d.Coordinate(i).Value(high)
	}
	room := marginalRoom * (to - from)
	from, to = max(low, from-room), min(high, to+room)
	posterior = newSmooth(x, s.Weights, cuts(d, i, low, high)).lines(from, to)
	if i >= d.Params() && len(before[i]) > 1 {
		prior = newSmooth(before[i], nil, []float64{low, high}).lines(from, to)
	}
	return posterior, prior, nil
}

// bars is the outline of bars of the given heights over the values.
func bars(values, heights []float64) (xys plotter.XYs) {
	for j, v := range values {
		if heights[j] < leastBar {
			continue
		}
		low, high := v-barWidth/2, v+barWidth/2
		xys = append(xys, plotter.XY{X: low}, plotter.XY{X: low, Y: heights[j]}, plotter.XY{X: high, Y: heights[j]}, plotter.XY{X: high})
	}
	return xys
}
