package cells

import (
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// A prober evaluates log r at points with forced signs, many at once.
type prober struct {
	x   *graph.Executor
	own []float64
	n   int // filled
}

const probes = 64

func newProber(d *graph.Density) (*prober, error) {
	x, err := d.Executor(probes, graph.Compute{Out: true})
	return &prober{x: x, own: make([]float64, d.Arrangement().Len())}, err
}

// reset makes all columns z in region s.
func (p *prober) reset(z []float64, s regions.Signs) {
	for i, v := range z {
		row := p.x.Z[i*probes:][:probes]
		for k := range row {
			row[k] = v
		}
	}
	s.Floats(p.own)
	for l, v := range p.own {
		row := p.x.Signs[l*probes:][:probes]
		for k := range row {
			row[k] = v
		}
	}
	p.n = 0
}

// force sets the sign of plane l in column k.
func (p *prober) force(k, l int, positive bool) {
	p.x.Signs[l*probes+k] = 0
	if positive {
		p.x.Signs[l*probes+k] = 1
	}
}

// walker finds the spans of cells: it walks from a point's region along the lines
// of all groups, both ways, until log r changes.
type walk struct {
	group, dir int
	at         int // intervals away
	last       float64
}

// spans are those of the cell of region s at z: as far as log r, forced, stays within
// hard of what it is at s along each line.
func (f *finder) spans(z []float64, s regions.Signs) ([]span, error) {
	g, p := f.lines, f.prober
	spans := make([]span, len(g.group))
	var open []walk
	for k, planes := range g.group {
		i := g.interval(k, s)
		spans[k] = span{i, i}
		if g.open[k] {
			spans[k] = span{0, len(planes)}
			continue
		}
		if i > 0 {
			open = append(open, walk{group: k, dir: -1})
		}
		if i < len(planes) {
			open = append(open, walk{group: k, dir: 1})
		}
	}
	p.reset(z, s)
	if err := p.x.Run(); err != nil {
		return nil, err
	}
	base := p.x.Out[0]
	for k := range open {
		open[k].last = base
	}
	for len(open) > 0 {
		var next []walk
		for first := 0; first < len(open); first += probes {
			batch := open[first:min(first+probes, len(open))]
			p.reset(z, s)
			for k, w := range batch {
				for step := 0; step <= w.at; step++ {
					f.forceBeyond(k, w.group, spans[w.group], w.dir, step, s)
				}
			}
			if err := p.x.Run(); err != nil {
				return nil, err
			}
			for k, w := range batch {
				planes := g.group[w.group]
				i := g.interval(w.group, s)
				if d := p.x.Out[k] - w.last; !(math.Abs(d) < same) {
					continue
				}
				w.last = p.x.Out[k]
				w.at++
				if w.dir < 0 {
					spans[w.group].first--
				} else {
					spans[w.group].last++
				}
				if e := i + w.at*w.dir; w.dir < 0 && e > 0 || w.dir > 0 && e < len(planes) {
					next = append(next, w)
				}
			}
		}
		open = next
	}
	return spans, nil
}

// same is the change of log r that counts as none.
const same = 1e-6

func (f *finder) forceBeyond(col, group int, _ span, dir, step int, s regions.Signs) {
	planes := f.lines.group[group]
	i := f.lines.interval(group, s)
	edge := i + step*dir
	l := planes[min(edge, edge+dir)]
	f.prober.force(col, l, dir > 0)
}
