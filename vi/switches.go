package vi

import (
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
)

// When switches are summed out first: where so many draws of a scout are in cells that have
// no other draw that there are too many cells to look at, as with a threshold for each
// of many groups; and where that leaves few latents, of many, or of
// several with many intervals, or none. The intervals of one are cells to look at, however many: where
// it leaves a latent without data that latent is as its prior, far from what one normal says of it.
const (
	mostScattered = 0.8
	manySwitches  = 6
	manyIntervals = 300
	fewLatents    = 12
)

// few reports whether few latents are left when switches are summed out.
func few(d *graph.Density, switches []derive.SwitchLatent) bool {
	return d.Dim()-len(switches) <= fewLatents
}

// sumsFirst reports whether to sum switches out first, whatever the posterior is like.
func sumsFirst(d *graph.Density, switches []derive.SwitchLatent) bool {
	intervals := 0
	for _, w := range switches {
		intervals += len(w.Planes)
	}
	return few(d, switches) && (len(switches) >= manySwitches || len(switches) > 1 && intervals >= manyIntervals || len(switches) == d.Dim())
}
