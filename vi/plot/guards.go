package plot

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// Guards draws the posterior probabilities of a vector of guards, such as those
// that a program made in a loop over time and named:
//
//	plot.Guards(fit, density.Named("on"), nil)
//
// x has the position of each guard, in any order, or is nil for 0, 1, …. Of guards at the
// same position the mean of their probabilities is drawn: how many of them are expected to hold, as a share. It returns
// an error if there are no guards, if one belongs to another model, and for an x
// of another length or with an element that is not finite.
func Guards(fit *vi.Posterior, guards []graph.Guard, x []float64) (*plot.Plot, error) {
	if len(guards) == 0 {
		return nil, errors.New("plot: no guards; does the program name them?")
	}
	at, edges, err := places(x, len(guards))
	if err != nil {
		return nil, fmt.Errorf("plot: guards: %w", err)
	}
	probs, err := fit.Probs(guards)
	if err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	prob, zero := make([]float64, len(at)), make([]float64, len(at))
	for k, place := range at {
		for _, i := range place.elements {
			prob[k] += probs[i].Value / float64(len(place.elements))
		}
	}
	f := newFigure(indexLabel(x), "probability")
	f.stairs(edges, zero, prob, [2]int{0, len(at)}, pale(blue, 0.3))
	f.line(points(stairs(edges, prob, 0, len(at))), lineStyle(0))
	f.Y.Min, f.Y.Max = 0, 1
	return f.done()
}
