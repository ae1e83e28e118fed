package cells

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// A prober evaluates log r at points with forced signs, many at once.
type prober struct {
	x *graph.Executor
}

const (
	probes = 64   // points at once, at most
	same   = 1e-6 // nats, a change of log r that counts as none
)

// newProber makes a prober of n points at once.
func newProber(d *graph.Density, n int) (*prober, error) {
	x, err := d.Executor(n, graph.Compute{Out: true})
	return &prober{x}, err
}

// newWalker makes a prober for walks both ways along each line.
func newWalker(d *graph.Density, g *lines) (*prober, error) {
	const vector = 4 // numbers that kernels do at once
	return newProber(d, min(probes, (2*len(g.group)+vector)/vector*vector))
}

// reset makes all columns z in region s.
func (p *prober) reset(z []float64, s regions.Signs) {
	p.x.Spread(z)
	p.x.Force(s)
}

// move puts column k from interval i of a line to interval to, by the signs of the planes
// between them.
func (p *prober) move(k int, planes []int, i, to int) {
	for _, l := range planes[min(i, to):max(i, to)] {
		p.x.Signs[l*p.x.N+k] = 0
		if to > i {
			p.x.Signs[l*p.x.N+k] = 1
		}
	}
}

// flip puts column k on the other side of a plane.
func (p *prober) flip(k, plane int) {
	sign := &p.x.Signs[plane*p.x.N+k]
	*sign = 1 - *sign
}

// A walk goes along the line of a group of planes, away from a region, as long as log r
// stays what it was.
type walk struct {
	group, dir int
	at         int // the interval where it is
	last       float64
}

// spans are those of the cell of region s at z: on each line as much as log r, with all
// other signs as they are, does not change on.
func (f *finder) spans(z []float64, s regions.Signs) ([]span, error) {
	g, p := f.lines, f.walker
	spans, from := make([]span, len(g.group)), make([]int, len(g.group))
	var walks []walk
	for k, planes := range g.group {
		if g.open[k] {
			spans[k] = span{0, len(planes)}
			continue
		}
		i := g.interval(k, s)
		spans[k], from[k] = span{i, i}, i
		walks = append(walks, walk{k, -1, i, 0}, walk{k, 1, i, 0})
	}
	ended := func(w walk) bool { return w.at+w.dir < 0 || w.at+w.dir > len(g.group[w.group]) }
	for walks = slices.DeleteFunc(walks, ended); len(walks) > 0; walks = slices.DeleteFunc(walks, ended) {
		var on []walk
		for batch := range slices.Chunk(walks, p.x.N-1) {
			p.reset(z, s)
			for k, w := range batch {
				p.move(1+k, g.group[w.group], from[w.group], w.at+w.dir)
			}
			if err := p.x.Run(); err != nil {
				return nil, err
			}
			for k, w := range batch {
				if w.at == from[w.group] {
					w.last = p.x.Out[0] // in the region itself
				}
				if out := p.x.Out[1+k]; math.Abs(out-w.last) < same {
					w.at, w.last = w.at+w.dir, out
					spans[w.group].first = min(spans[w.group].first, w.at)
					spans[w.group].last = max(spans[w.group].last, w.at)
					on = append(on, w)
				}
			}
		}
		walks = on
	}
	return spans, nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
