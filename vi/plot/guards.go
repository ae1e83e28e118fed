package plot

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// Guards draws the posterior probabilities of a vector of guards, such as those
// that a program made in a loop over time and named:
//
//	plot.Guards(fit, density.Named("on"), nil)
//
// x has the position of each guard, increasing, or is nil for 0, 1, …. It returns
// an error if there are no guards, if one belongs to another model, and for an x
// of another length or order.
func Guards(fit *vi.Posterior, guards []graph.Guard, x []float64) (*plot.Plot, error) {
	if len(guards) == 0 {
		return nil, errors.New("plot: no guards; does the program name them?")
	}
	at, err := edges(x, len(guards))
	if err != nil {
		return nil, fmt.Errorf("plot: guards: %w", err)
	}
	prob, zero := make([]float64, len(guards)), make([]float64, len(guards))
	for i, g := range guards {
		e, err := fit.Prob(g)
		if err != nil {
			return nil, fmt.Errorf("plot: guard %d: %w", i, err)
		}
		prob[i] = e.Value
	}
	area, err := stairsBand(at, zero, prob, [2]int{0, len(guards)}, pale(blue, 0.3))
	if err != nil {
		return nil, err
	}
	line, err := plotter.NewLine(points(stairs(at, prob, 0, len(guards))))
	if err != nil {
		return nil, err
	}
	line.LineStyle = lineStyle(0)
	p := newPlot("", indexLabel(x), "probability")
	p.Add(area, line)
	p.Y.Min, p.Y.Max = 0, 1
	return p, nil
}
