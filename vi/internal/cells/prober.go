package cells

import (
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// A prober evaluates log r at points with forced signs, many at once.
type prober struct {
	x *graph.Executor
}

// probes is how many points are evaluated at once, at most.
const probes = 64

// newProber makes a prober of n points at once.
func newProber(d *graph.Density, n int) (prober, error) {
	x, err := d.Executor(n, graph.Compute{Out: true})
	return prober{x}, err
}

// reset makes all columns z in region s.
func (p prober) reset(z []float64, s regions.Signs) {
	p.x.Spread(z)
	p.x.Force(s)
}

// move puts column k from interval i of a line to interval to, by the signs of the planes
// between them.
func (p prober) move(k int, planes []int, i, to int) {
	for _, l := range planes[min(i, to):max(i, to)] {
		p.x.Signs[l*p.x.N+k] = 0
		if to > i {
			p.x.Signs[l*p.x.N+k] = 1
		}
	}
}

// flip puts column k on the other side of a plane.
func (p prober) flip(k, plane int) {
	sign := &p.x.Signs[plane*p.x.N+k]
	*sign = 1 - *sign
}
