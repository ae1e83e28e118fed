package vi

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/climb"
	"github.com/facetvi/facet/vi/family"
)

// startAtWidth is the width of a start at a given value, in units of the prior's scale.
const startAtWidth = 0.1

// StartAt is a start at given values of some latents, by name and on the
// program's own scale. Their standard deviations are a tenth of their prior's scale, and a fit that
// starts here holds them at their values until the others have followed, for a third
// of its steps at most. The other latents are as in PriorStart, given these.
func StartAt(d *graph.Density, values map[string]float64) (family.Q, error) {
	if d == nil {
		return nil, errors.New("vi: start: a nil density")
	}
	given := map[int]float64{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		i, ok := d.Latent(name)
		if !ok {
			return nil, fmt.Errorf("vi: no latent %q in the model", name)
		}
		u, err := d.Coordinate(i).Inverse(values[name])
		if err != nil {
			return nil, fmt.Errorf("vi: start: %w", err)
		}
		given[i] = u
	}
	center, scale := d.PriorStartAt(given)
	for i := range given {
		if i >= d.Params() {
			scale[i] *= startAtWidth
		}
	}
	q := climb.Around(d, center, scale)
	return q, climb.Hold(q, slices.Sorted(maps.Keys(given)))
}

// PriorStart is a member of family.MeanField. Its means are found by following the program once from top to
// bottom, with every latent at the centre of its prior given those before; its scales are those of the priors there.
// It panics if d is nil.
func PriorStart(d *graph.Density) family.Q {
	if d == nil {
		panic("vi: a nil density")
	}
	return climb.Prior(d)
}
