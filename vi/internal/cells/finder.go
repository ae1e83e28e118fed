package cells

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/sumout"
)

// A finder makes cells. It is for one goroutine.
type finder struct {
	d        *graph.Density
	lines    *lines
	walker   *graph.Executor // for walks
	mode     *ModeFinder
	plain    *ModeFinder           // with nothing summed out; nil before it is needed
	x        *graph.Executor       // of quick points
	switches []derive.SwitchLatent // that are summed out,
	given    *sumout.Given         // and their posterior given the others
	draws    [][]float64           // Settings.Draws
	over     func() bool           // Settings.Over
	discrete []bool                // latents
}

func newFinder(d *graph.Density, g *lines, switches []derive.SwitchLatent) (*finder, error) {
	f := &finder{d: d, lines: g, switches: switches, given: sumout.NewGiven(d, switches), discrete: make([]bool, d.Dim())}
	for i := range f.discrete {
		values, _ := d.Values(i)
		f.discrete[i] = values != nil
	}
	var err error
	const vector = 4                                      // numbers that kernels do at once
	atOnce := (2*len(g.group) + vector) / vector * vector // walks both ways along each line
	if f.walker, err = d.Executor(min(probes, atOnce), graph.Compute{Out: true}); err != nil {
		return nil, err
	}
	if f.mode, err = NewModeFinder(d, switches); err != nil {
		return nil, err
	}
	f.x, err = d.Executor(quick, graph.Compute{Out: true})
	return f, err
}

func (f *finder) normal(mean []float64, precision *mat.SymDense) *family.Normal {
	return family.FromPrecision(mean, sparse(precision)).Points(f.d.Params())
}

// values are z with the values of discrete latents.
func (f *finder) values(z []float64) []float64 {
	if !slices.Contains(f.discrete, true) {
		return z
	}
	x := slices.Clone(z)
	for i, discrete := range f.discrete {
		if discrete { // whose variance may be that of a rare one
			x[i] = f.d.Coordinate(i).Value(z[i])
		}
	}
	return x
}

// noChange is a change of log r that counts as none, in nats.
const noChange = 1e-6

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
	g, x := f.lines, f.walker
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
		for batch := range slices.Chunk(walks, x.N-1) {
			x.Spread(z)
			x.Force(s)
			for k, w := range batch {
				moveColumn(x, 1+k, g.group[w.group], from[w.group], w.at+w.dir)
			}
			if err := x.Run(); err != nil {
				return nil, err
			}
			for k, w := range batch {
				if w.at == from[w.group] {
					w.last = x.Out[0] // in the region itself
				}
				if out := x.Out[1+k]; math.Abs(out-w.last) < noChange {
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

// sparse leaves out what differences have left of correlations that are none.
func sparse(p *mat.SymDense) *mat.SymDense {
	n := p.SymmetricDim()
	for i := range n {
		for j := range i {
			if x := p.At(i, j); x*x < 1e-16*p.At(i, i)*p.At(j, j) {
				p.SetSym(i, j, 0)
			}
		}
	}
	return p
}
