package plot

import (
	"errors"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"

	"github.com/facetvi/facet/vi"
)

// Intervals draws many latents beside each other, in the order of names, as the elements of a vector: posterior medians, and
// bands that hold 50 % and 90 % of the posterior. Behind them is a grey band that holds 90 % of the prior, as far as it
// is in the figure. It returns an error for no names, a name that is not a latent's, and if the fit has no draws.
func Intervals(fit *vi.Posterior, names ...string) (*plot.Plot, error) {
	if len(names) == 0 {
		return nil, errors.New("plot: no latents")
	}
	s, err := fit.Sample()
	if err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	made := newDraws(fit)
	var of []int
	var q [5][]float64 // quantiles of the posterior
	for _, name := range names {
		i, ok := number(fit.Density, name)
		if !ok {
			return nil, fmt.Errorf("plot: no latent %q in the model", name)
		}
		of = append(of, i)
		_, at := made.of(s, i, 0.05, 0.25, 0.5, 0.75, 0.95)
		for k, x := range at {
			q[k] = append(q[k], x.Value)
		}
	}
	low, high := slices.Min(q[0]), slices.Max(q[4])
	room := 0.04 * (high - low)
	low, high = low-room, high+room
	f := newFigure("index", "value")
	f.addLegend()
	layers := []layer{{"90 %", q[0], q[4], pale(blue, 0.18)}, {"50 %", q[1], q[3], pale(blue, 0.42)}}
	if before, after, ok := priorBand(made.prior, of, low, high); ok {
		layers = append([]layer{{"prior, 90 %", before, after, rule}}, layers...)
	}
	_, edges, err := places(nil, len(names))
	if err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	for _, x := range layers {
		f.name(x.name, f.stairs(edges, x.low, x.high, [2]int{0, len(names)}, x.fill))
	}
	f.name("median", f.line(points(stairs(edges, q[2], 0, len(names))), lineStyle(0)))
	if f.err != nil {
		return nil, fmt.Errorf("plot: %w", f.err)
	}
	f.Y.Min, f.Y.Max = low, high
	return f.Plot, nil
}

// A layer is a band with its name in the legend.
type layer struct {
	name      string
	low, high []float64
	fill      color.Color
}

// priorBand is between the quantiles at 5 % and 95 % of the priors of some latents, cut to what is between low and high.
// It is false where the prior of one has no meaning.
func priorBand(before [][]float64, of []int, low, high float64) (bottom, top []float64, ok bool) {
	for _, i := range of {
		x := before[i]
		if len(x) == 0 {
			return nil, nil, false
		}
		slices.Sort(x)
		within := func(prob float64) float64 { return max(low, min(high, stat.Quantile(prob, stat.Empirical, x, nil))) }
		bottom, top = append(bottom, within(0.05)), append(top, within(0.95))
	}
	return bottom, top, true
}
