package intervals

import (
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/residuals"
	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/cells"
)

// mostLatents is how many latents a program may have beside the switch.
const mostLatents = 12

// A program is what is the same for all data.
type program struct {
	d      *graph.Density
	rest   []int     // latents but for the switch,
	scale  []float64 // and their priors' scales
	bent   []bool    // latents that are not their coordinates
	at     int       // the switch,
	planes []int     // its thresholds,
	down   bool
	starts []float64 // of climbs, intervals × rest, in units of scale
	parts  []part    // what the prior says of the switch in each interval
}

// A part is what is the same for all data.
type part struct {
	at            float64 // a point inside
	offset        float64 // log of the prior's mass in it, less its log density at that point
	mean, square  float64 // of the switch, on the program's scale
	q             family.Q
	name          string
	center, width float64 // of the normal that is its prior inside
}

// newProgram returns nil if d is not of the kind.
func newProgram(d *graph.Density) (*program, error) {
	switches := d.Engine().Switches()
	if d.Params() > 0 || len(switches) != 1 || len(switches[0].Index) > 0 || switches[0].Curved() ||
		len(switches[0].Planes) != d.Arrangement().Len() || d.Dim() > mostLatents+1 || d.Dim() < 2 {
		return nil, nil
	}
	w := switches[0]
	if values, _ := d.Values(w.Latent); values != nil {
		return nil, nil
	}
	prior, err := d.Residuals(len(w.Planes) + 1)
	if err != nil || !prior.Fixed(w.Latent) {
		return nil, err
	}
	p := &program{d: d, at: w.Latent, down: w.Down, planes: w.Planes}
	_, scale := d.PriorStart()
	for i := range d.Dim() {
		p.bent = append(p.bent, d.Coordinate(i).Transformed())
		if i != w.Latent {
			p.rest, p.scale = append(p.rest, i), append(p.scale, scale[i])
		}
	}
	p.findStarts(prior)
	p.findParts(prior, w)
	return p, p.findNormals(w)
}

// findStarts draws a start for each interval from the prior; the seed is the same for all data.
func (p *program) findStarts(prior *residuals.Batch) {
	prior.Draw(parallel.NewRand(uint64(prior.N)))
	for j := range prior.N {
		for k, i := range p.rest {
			p.starts = append(p.starts, prior.Z[i*prior.N+j]/p.scale[k])
		}
	}
}

// findParts finds what the prior says of the switch in each interval.
func (p *program) findParts(prior *residuals.Batch, w derive.SwitchLatent) {
	const nodes = 16 // of a quadrature over the quantiles of an interval
	n := prior.N
	cut := make([]float64, n-1)
	w.Thresholds(1).Fill(cut, make([]float64, p.d.Dim()))
	log := func(x float64) float64 {
		prior.Z[w.Latent*n] = x
		return prior.LogPriorOf(w.Latent, 0)
	}
	for j := range n {
		lo, hi := truncnorm.Between(cut, j)
		x := part{at: prior.Within(w.Latent, 0, 0.5, lo, hi)}
		x.offset = prior.LogMass(w.Latent, 0, lo, hi) - log(x.at)
		for k := range nodes {
			v := p.d.Coordinate(w.Latent).Value(prior.Within(w.Latent, 0, (float64(k)+0.5)/nodes, lo, hi))
			x.mean += v / nodes
			x.square += v * v / nodes
		}
		// the normal that has the prior's slope and curvature in the middle
		const leastCurvature = 1e-3
		e := 1e-3 * min(1, (hi-lo)/2)
		up, mid, down := log(x.at+e), log(x.at), log(x.at-e)
		curvature := max((2*mid-up-down)/(e*e), leastCurvature)
		x.center, x.width = x.at+(up-down)/(2*e)/curvature, 1/math.Sqrt(curvature)
		p.parts = append(p.parts, x)
	}
}

// findNormals makes the distribution of each interval, which is to be moved, and finds its name.
func (p *program) findNormals(w derive.SwitchLatent) error {
	var all []regions.Signs
	for j := range p.parts {
		positive := make([]bool, len(w.Planes))
		for k, l := range w.Planes {
			positive[l] = (k < j) != w.Down
		}
		all = append(all, regions.NewSigns(positive))
	}
	parents := make([][]int, p.d.Dim())
	for k, i := range p.rest {
		parents[i] = p.rest[:k]
	}
	names, sides := cells.Regions(p.d, all)
	for j := range p.parts {
		x, normal := &p.parts[j], family.Sequential(parents)
		x.name, x.q = names[j], normal
		if len(sides[j]) > 0 {
			q, soft, err := normal.Confine(sides[j])
			if err != nil || len(soft) > 0 {
				return err
			}
			x.q = q
		}
	}
	return nil
}

// Columns are those of an executor, each in an interval.
type columns struct {
	*graph.Executor
	p  *program
	in []int // by column
}

func (p *program) columns(n int, grad bool) (*columns, error) {
	x, err := p.d.Executor(n, graph.Compute{Out: true, Grad: grad, NewData: true})
	if err != nil {
		return nil, err
	}
	b := &columns{x, p, make([]int, n)}
	for _, l := range p.planes { // all are in interval 0, below all thresholds
		for c := range n {
			x.Signs[l*n+c] = 0
			if p.down {
				x.Signs[l*n+c] = 1
			}
		}
	}
	for c, row := 0, x.Z[p.at*n:]; c < n; c++ {
		row[c] = p.parts[0].at
	}
	return b, nil
}

// put puts columns first to last into interval j: only signs that change are written.
func (b *columns) put(j, first, last int) {
	z := b.Z[b.p.at*b.N:]
	for first < last {
		c := first + 1 // columns first to c are in one interval
		for c < last && b.in[c] == b.in[first] {
			c++
		}
		from, to, above := b.in[first], j, 1.0
		if from > to {
			from, to, above = to, from, 0
		}
		if b.p.down {
			above = 1 - above
		}
		for _, l := range b.p.planes[from:to] {
			signs := b.Signs[l*b.N:]
			for k := first; k < c; k++ {
				signs[k] = above
			}
		}
		for ; first < c; first++ {
			b.in[first], z[first] = j, b.p.parts[j].at
		}
	}
}

// column puts a point of interval j in column k.
func (b *columns) column(k, j int, u []float64) {
	b.put(j, k, k+1)
	b.fill(k, u)
}

// fill puts a point in column k.
func (b *columns) fill(k int, u []float64) {
	for r, i := range b.p.rest {
		b.Z[i*b.N+k] = u[r] * b.p.scale[r]
	}
}

// at is ∂log r/∂z_i in column k.
func (b *columns) at(i, k int) float64 { return b.Grad[i*b.N+k] }
