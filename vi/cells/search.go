package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/mc"
)

const quick = 256

// A finder makes cells. It is for one goroutine.
type finder struct {
	d      *graph.Density
	lines  *lines
	prober *prober
	mode   *modeFinder
	x      *graph.Executor
	hard   func(l int) bool
}

func newFinder(d *graph.Density, hard func(l int) bool) (*finder, error) {
	f := &finder{d: d, lines: newLines(d.Arrangement()), hard: hard}
	var err error
	if f.prober, err = newProber(d); err != nil {
		return nil, err
	}
	_, scale := d.PriorStart()
	if f.mode, err = newModeFinder(d, scale); err != nil {
		return nil, err
	}
	f.x, err = d.Executor(quick, graph.Compute{Out: true})
	return f, err
}

// make is the cell of region s at z.
func (f *finder) make(ctx context.Context, z []float64, s regions.Signs, spans []span, rng *rand.Rand) (*Cell, error) {
	c := &Cell{region: s, span: spans, point: slices.Clone(z)}
	c.Sides = f.lines.sides(spans)
	precision, _, err := f.mode.extend(ctx, c.point, s)
	if err != nil {
		return nil, err
	}
	if precision == nil {
		return c, nil
	}
	c.prop = newProposal(slices.Clone(c.point), precision, f.d.Arrangement(), c.Sides)
	if c.prop == nil {
		return c, nil
	}
	return c, f.weigh(c, rng)
}

// weigh estimates the evidence of a cell.
func (f *finder) weigh(c *Cell, rng *rand.Rand) error {
	z := make([]float64, f.d.Dim())
	logq := make([]float64, quick)
	mean := make([]float64, len(z))
	for k := range quick {
		logq[k] = c.prop.draw(z, rng)
		for i, v := range z {
			f.x.Z[i*quick+k] = v
			mean[i] += v / quick
		}
	}
	f.d.Arrangement().SignBatch(f.x.Signs, f.x.Z, quick)
	if err := f.x.Run(); err != nil {
		return err
	}
	r := make([]float64, quick)
	floats.SubTo(r, f.x.Out, logq)
	c.ELBO = mc.Mean(r)
	c.LogEvidence = logMean(r)
	c.center = mean
	c.ratios = r
	return nil
}

// logMean is the log of the mean of exp r.
func logMean(r []float64) mc.Estimate {
	top := floats.Max(r)
	if !(top > math.Inf(-1)) {
		return mc.Estimate{Mean: math.Inf(-1)}
	}
	var m mc.Moments
	for _, x := range r {
		m.Add(math.Exp(x - top))
	}
	e := m.Estimate()
	return mc.Estimate{Mean: top + math.Log(e.Mean), SE: e.SE / e.Mean}
}

// A Search is what was found.
type Search struct {
	Cells       []*Cell
	LogEvidence mc.Estimate
	ELBO        float64
	Tried int
}

// neighbour is a region to look at.
type neighbour struct {
	z []float64
	s regions.Signs
}

// neighbours are the regions across the cell's sides.
func (f *finder) neighbours(c *Cell) (list []neighbour) {
	for _, side := range c.Sides {
		l := side.Plane
		k := f.lines.of[l]
		planes := f.lines.group[k]
		i := f.lines.interval(k, c.region)
		at := f.lines.at[l]
		var flip []int
		if at >= i {
			flip = planes[i : at+1]
		} else {
			flip = planes[at:i]
		}
		for _, apart := range []float64{6, math.Inf(1)} {
			z := slices.Clone(c.center)
			s := f.d.Across(z, c.region, flip, apart)
			list = append(list, neighbour{z, s})
		}
	}
	return list
}

// Find looks for the cells of a density from points.
func Find(ctx context.Context, d *graph.Density, points [][]float64, budget int, tol float64, seed uint64) (*Search, error) {
	f, err := newFinder(d, func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	rng := mc.NewRand(seed)
	seen := map[string]bool{}
	out := &Search{}
	try := func(z []float64, s regions.Signs) error {
		spans, err := f.spans(z, s, f.hard)
		if err != nil {
			return err
		}
		id := key(spans)
		if seen[id] {
			return nil
		}
		seen[id] = true
		c, err := f.make(ctx, z, s, spans, rng)
		out.Tried++
		if err != nil || c.prop == nil || !finite(c.LogEvidence.Mean) {
			return err
		}
		out.Cells = append(out.Cells, c)
		return nil
	}
	done := map[regions.Signs]bool{}
	for _, z := range points {
		s := d.Arrangement().Signs(z)
		if done[s] {
			continue
		}
		done[s] = true
		if err := try(z, s); err != nil {
			return nil, err
		}
		if out.Tried > budget/2 {
			break
		}
	}
	for out.Tried < budget {
		// the best cell that was not expanded
		var best *Cell
		total := out.total()
		for _, c := range out.Cells {
			if !c.expanded && (best == nil || c.LogEvidence.Mean > best.LogEvidence.Mean) {
				best = c
			}
		}
		if best == nil || best.LogEvidence.Mean < total+math.Log(tol) {
			break
		}
		best.expanded = true
		for _, n := range f.neighbours(best) {
			if done[n.s] {
				continue
			}
			done[n.s] = true
			if err := try(n.z, n.s); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(out.Cells, func(a, b *Cell) int {
		switch {
		case a.LogEvidence.Mean > b.LogEvidence.Mean:
			return -1
		case a.LogEvidence.Mean < b.LogEvidence.Mean:
			return 1
		}
		return 0
	})
	return out, nil
}

func (s *Search) total() float64 {
	v := make([]float64, 0, len(s.Cells))
	for _, c := range s.Cells {
		v = append(v, c.LogEvidence.Mean)
	}
	if len(v) == 0 {
		return math.Inf(-1)
	}
	return floats.LogSumExp(v)
}
