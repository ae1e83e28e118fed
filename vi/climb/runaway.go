package climb

import (
	"fmt"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

// mostBeyond is the probability up to which a parameter counts as beyond what it is compared with.
const mostBeyond = 0.01

// runaways are warnings of parameters that stand in guards alone and are, under the fit, above
// or below all that these compare them with: there the ELBO is flat, and where it rises
// towards that it has no maximum. Where q is confined to sides of guards there is no telling.
func runaways(d *graph.Density, q family.Q) (warnings []string) {
	if _, truncated := q.(family.Truncated); truncated {
		return nil
	}
	arr := d.Arrangement()
	for _, i := range d.Engine().Thresholds() {
		if i >= d.Params() {
			continue
		}
		least, most := 1.0, 0.0 // of the probabilities that the parameter is above
		for l, h := range arr.Planes() {
			if !slices.Contains(arr.Latents(l), i) {
				continue
			}
			k := slices.Index(h.Index, i)
			if arr.Curve(l) != nil || k < 0 {
				least, most = 0, 1
				break
			}
			above := q.Law(h).Above(0)
			if h.Coef[k] < 0 {
				above = 1 - above
			}
			least, most = min(least, above), max(most, above)
		}
		side := "above"
		switch {
		case most < mostBeyond:
			side = "below"
		case least < 1-mostBeyond:
			continue
		}
		name := d.Latents()[i]
		value := d.Coordinate(i).Value(q.Mean(i))
		warnings = append(warnings, fmt.Sprintf("parameter %q = %.4g is %s all that guards compare it with: nothing in the ELBO holds it there; bound it (graph.Between), or sample it from a prior",
			name, value, side))
	}
	return warnings
}
