package intervals

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/residuals"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/cells"
	"github.com/facetvi/facet/vi/internal/newton"
)

// How intervals are fitted.
const (
	mostLatents      = 12  // at most, beside the switch
	mostColumns      = 160 // of a batch, at most,
	fewColumns       = 40  // of one for few intervals,
	neighbourColumns = 256 // and of one without gradients for pairs of intervals
	mostPasses       = 60  // evaluations of the Hessian in each interval, at most
	polishPasses     = 4
	polishEnd        = 1e-3 // of a logarithm of a standard deviation
	lostSquare       = 5    // times as much of the variance of a latent may be lost as of the mass
	lostPart         = 20   // how much less than Settings.Lost may be left out: of the mass, for the variances' sake
	enoughDraws      = 64   // draws for any interval that is kept, where draws are many,
	leastDraws       = 8    // draws in an interval that is kept, an even number
	farBelow         = 25   // nats below the best from which on an interval does not count
	sameMode         = 0.1  // nats that another climb's end may be above an interval's own
	apartSquare      = 12   // squared distance, in standard deviations, of ends that may be other modes,
	apartFall        = 0.2  // and part of half of it that log r falls by at least between ends that are one
)

// A Fitter fits data set after data set of one program. It is for one goroutine.
type Fitter struct {
	d      *graph.Density
	rest   []int  // latents but for the switch
	bent   []bool // those that are not their coordinates, by latent
	at     int    // the switch
	scale  []float64
	starts []float64 // intervals × rest, in units of scale
	parts  []part
	grad   *columns // 2·rest + 1 for an interval
	few    *columns // the same, of few intervals
	value  *columns // of neighbours
	draws  *columns
	down   bool
	planes []int
	climbs []climb
	todo   []int
	sample sample
	// scratch
	pending                          []int
	lower, back, noise, moved, theta []float64
	kept                             []int
	pairs                            [][2]int  // intervals, by column of value
	half, normal, elbo, logs         []float64 // of draws: as logGamma.put has it, and that of the normal
	normals                          []family.Q
	lost                             float64
	mass                             []float64 // of each interval, by Laplace
	nodes, weights                   []float64 // of a quadrature, of a normal
	mean, variance, left, squares    []float64 // of the rest and the switch; squares × intervals
	weight, plain, f, known, e       []float64 // by draw, of judge
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

// A climb is one to the mode of an interval.
type climb struct {
	newton.Climb
	logGammas []logGamma // of draws, by column of the inverse of Rootᵀ
	mode      []float64  // when done; H and Root are those of the normal there
	top       float64    // log r at the mode
	logZ      float64    // Laplace's log evidence of the interval
	interval  int
}

// New returns nil if d is not of the kind.
func New(d *graph.Density) (*Fitter, error) {
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
	f := &Fitter{d: d, at: w.Latent, down: w.Down, planes: w.Planes}
	_, scale := d.PriorStart()
	for i := range d.Dim() {
		f.bent = append(f.bent, d.Coordinate(i).Transformed())
		if i != w.Latent {
			f.rest = append(f.rest, i)
			f.scale = append(f.scale, scale[i])
		}
	}
	f.findStarts(prior)
	if err := f.findParts(prior, w); err != nil {
		return nil, err
	}
	n := len(f.rest)
	each := 2*n + 1
	batches := 1 + (len(f.parts)-1)/max(1, mostColumns/each)
	pairs := 1 + (2*len(f.parts)-1)/neighbourColumns
	for _, x := range []struct {
		to   **columns
		n    int
		grad bool
	}{
		{&f.grad, (len(f.parts) + batches - 1) / batches * each, true},
		{&f.few, max(1, fewColumns/each) * each, true},
		{&f.value, (2*len(f.parts) + pairs - 1) / pairs, false},
		{&f.draws, mostColumns, false},
	} {
		if *x.to, err = f.columns(x.n, x.grad); err != nil {
			return nil, err
		}
	}
	f.pairs = make([][2]int, f.value.N)
	f.climbs = make([]climb, len(f.parts))
	for j := range f.climbs {
		f.climbs[j] = climb{interval: j, Climb: newton.New(n, newton.Interval), mode: make([]float64, n), logGammas: make([]logGamma, n)}
	}
	f.mass = make([]float64, len(f.parts))
	f.squares = make([]float64, len(f.parts)*(n+1))
	f.mean, f.variance, f.left = make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	f.findNodes()
	f.theta = make([]float64, 2*(n+1)+n*(n-1)/2)
	f.lower, f.back, f.noise, f.moved = make([]float64, n*n), make([]float64, n*n), make([]float64, n), make([]float64, n)
	return f, nil
}

// findNodes finds the quadrature.
func (f *Fitter) findNodes() {
	const nodes = 24
	f.nodes, f.weights = make([]float64, nodes), make([]float64, nodes)
	quad.Hermite{}.FixedLocations(f.nodes, f.weights, math.Inf(-1), math.Inf(1))
	floats.Scale(1/math.Sqrt(math.Pi), f.weights)
	floats.Scale(math.Sqrt2, f.nodes)
}

// findStarts draws a start for each interval from the prior; the seed is the same for all data.
func (f *Fitter) findStarts(prior *residuals.Batch) {
	prior.Draw(parallel.NewRand(uint64(prior.N)))
	for j := range prior.N {
		for k, i := range f.rest {
			f.starts = append(f.starts, prior.Z[i*prior.N+j]/f.scale[k])
		}
	}
}

// findParts finds what the prior says of the switch in each interval.
func (f *Fitter) findParts(prior *residuals.Batch, w derive.SwitchLatent) error {
	const nodes = 16 // of a quadrature over the quantiles of an interval
	n := prior.N
	cut := make([]float64, n+1)
	w.Thresholds(1).Fill(cut[1:n], make([]float64, f.d.Dim()))
	cut[0], cut[n] = math.Inf(-1), math.Inf(1)
	log := func(x float64) float64 {
		prior.Z[w.Latent*n] = x
		return prior.LogPriorOf(w.Latent, 0)
	}
	var all []regions.Signs
	for j := range n {
		lo, hi := cut[j], cut[j+1]
		p := part{at: prior.Within(w.Latent, 0, 0.5, lo, hi)}
		p.offset = prior.LogMass(w.Latent, 0, lo, hi) - log(p.at)
		for k := range nodes {
			x := f.d.Coordinate(w.Latent).Value(prior.Within(w.Latent, 0, (float64(k)+0.5)/nodes, lo, hi))
			p.mean += x / nodes
			p.square += x * x / nodes
		}
		// the normal that has the prior's slope and curvature in the middle
		const leastCurvature = 1e-3
		e := 1e-3 * min(1, (hi-lo)/2)
		up, mid, down := log(p.at+e), log(p.at), log(p.at-e)
		curvature := max((2*mid-up-down)/(e*e), leastCurvature)
		p.center, p.width = p.at+(up-down)/(2*e)/curvature, 1/math.Sqrt(curvature)
		f.parts = append(f.parts, p)
		positive := make([]bool, len(w.Planes))
		for k, l := range w.Planes {
			positive[l] = (k < j) != w.Down
		}
		all = append(all, regions.NewSigns(positive))
	}
	parents := make([][]int, f.d.Dim())
	for k, i := range f.rest {
		parents[i] = f.rest[:k]
	}
	names, sides := cells.Regions(f.d, all)
	for j := range f.parts {
		p, normal := &f.parts[j], family.Sequential(parents)
		p.name, p.q = names[j], normal
		if len(sides[j]) > 0 {
			q, soft, err := normal.Confine(sides[j])
			if err != nil || len(soft) > 0 {
				return err
			}
			p.q = q
		}
	}
	return nil
}

// find finds the normals of the intervals that hold all but the part lost of the posterior, with the data of d. It
// reports false if the intervals are not near normals that are all there is.
func (f *Fitter) find(d *graph.Density, lost float64) (bool, error) {
	for _, x := range [...]*columns{f.grad, f.few, f.value, f.draws} {
		if err := d.Feed(x.Executor); err != nil {
			return false, err
		}
	}
	f.begin()
	if err := f.climbAll(); err != nil {
		return false, err
	}
	ok, err := f.unimodal()
	if err != nil || !ok {
		return false, err
	}
	f.keep(lost)
	return true, f.polish()
}

func (f *Fitter) begin() {
	n := len(f.rest)
	f.todo = f.todo[:0]
	for j := range f.climbs {
		c := &f.climbs[j]
		c.Begin()
		copy(c.Trial, f.starts[j*n:][:n])
	}
	// Slots of batches go from interval to interval: few signs change.
	slots := f.grad.N / (2*n + 1)
	batches := (len(f.climbs) + slots - 1) / slots
	for b := range batches {
		for j := b; j < len(f.climbs); j += batches {
			f.todo = append(f.todo, j)
		}
	}
}

// gradients are batches for the intervals in f.todo, with their columns each.
func (f *Fitter) gradients() *columns {
	if len(f.todo)*(2*len(f.rest)+1) <= f.few.N {
		return f.few
	}
	return f.grad
}

// Columns are those of an executor, each in an interval.
type columns struct {
	*graph.Executor
	f  *Fitter
	in []int // by column
}

func (f *Fitter) columns(n int, grad bool) (*columns, error) {
	x, err := f.d.Executor(n, graph.Compute{Out: true, Grad: grad, NewData: true})
	if err != nil {
		return nil, err
	}
	b := &columns{x, f, make([]int, n)}
	for _, l := range f.planes { // all are in interval 0, below all thresholds
		for c := range n {
			x.Signs[l*n+c] = 0
			if f.down {
				x.Signs[l*n+c] = 1
			}
		}
	}
	for c, row := 0, x.Z[f.at*n:]; c < n; c++ {
		row[c] = f.parts[0].at
	}
	return b, nil
}

// put puts columns first to last into interval j: only signs that change are written.
func (b *columns) put(j, first, last int) {
	z := b.Z[b.f.at*b.N:]
	for first < last {
		c := first + 1 // columns first to c are in one interval
		for c < last && b.in[c] == b.in[first] {
			c++
		}
		from, to, above := b.in[first], j, 1.0
		if from > to {
			from, to, above = to, from, 0
		}
		if b.f.down {
			above = 1 - above
		}
		for _, l := range b.f.planes[from:to] {
			signs := b.Signs[l*b.N:]
			for k := first; k < c; k++ {
				signs[k] = above
			}
		}
		for ; first < c; first++ {
			b.in[first], z[first] = j, b.f.parts[j].at
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
	for r, i := range b.f.rest {
		b.Z[i*b.N+k] = u[r] * b.f.scale[r]
	}
}

// at is ∂log r/∂z_i in column k.
func (b *columns) at(i, k int) float64 { return b.Grad[i*b.N+k] }
