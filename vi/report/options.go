package report

import (
	"errors"
	"fmt"

	"github.com/facetvi/facet/vi"
)

// Options are what the reader of a report is told beside the fit. The zero value works.
type Options struct {
	Title string // "A posterior" if empty
	About string // a paragraph below the title: what the data are, what was asked
	// X has for the elements of an observation, a named expression or a guard's name their positions, years for
	// instance. Names without one are drawn over From, From + 1, …, the first year for instance.
	X    map[string][]float64
	From float64
	Seed uint64 // of the predictions
}

// at are the positions of n elements of a name; nil for 0, 1, ….
func (o Options) at(name string, n int) ([]float64, error) {
	if x := o.X[name]; x != nil {
		if len(x) != n {
			return nil, fmt.Errorf("report: %d positions for the %d elements of %s", len(x), n, name)
		}
		return x, nil
	}
	if o.From == 0 {
		return nil, nil
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = o.From + float64(i)
	}
	return x, nil
}

func check(fit *vi.Posterior) error {
	if fit == nil || fit.Density == nil || fit.Q == nil {
		return errors.New("report: no fit, or one without a density or a distribution")
	}
	return nil
}
