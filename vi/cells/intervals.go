package cells

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// How intervals are fitted.
const (
	intervalLatents  = 12  // at most, beside the switch
	intervalColumns  = 160 // of a batch, at most,
	fewColumns       = 40  // of one for few intervals,
	neighbourColumns = 256 // and of one without gradients for pairs of intervals
	intervalPasses   = 60  // evaluations of the Hessian in each interval, at most
	polishPasses     = 4
	polishEnd        = 1e-3 // of a logarithm of a standard deviation
	intervalLost     = 20   // how much less than Settings.Lost may be left out: of the mass, for the variances' sake
	intervalEnough   = 64   // draws for any interval that is kept, where draws are many,
	intervalLeast    = 8    // draws in an interval that is kept, an even number
	intervalFar      = 25   // nats below the best from which on an interval does not count
	sameMode         = 0.1  // nats that another climb's end may be above an interval's own
	apartSquare      = 12   // squared distance, in standard deviations, of ends that may be other modes,
	apartFall        = 0.2  // and part of half of it that log r falls by at least between ends that are one
)

// An Intervals fits densities with one switch (see graph.Switches) whose thresholds are
// numbers, such as the time of a change, and no other guards: log r is smooth in the rest
// of the latents in each interval, and the cells are the intervals. It is made once for a
// program and fits data set after data set:
//
//	climb in each interval, each from a prior draw of its own ─▶ log Z_j = Laplace ─▶ draws of q(j)·q_j(rest), weighted
//
// The climbs are Newton's, side by side as columns of one batch. Those of neighbouring
// intervals begin far from each other and climb nearly the same log r. Where they
// end on different modes there is more than one, and no fit.
//
// The switch is integrated out in its interval, where log r knows no more of it than its
// prior. An Intervals is for one goroutine.
type Intervals struct {
	d      *graph.Density
	rest   []int  // latents but for the switch
	bent   []bool // those that are not their coordinates, by latent
	at     int    // the switch
	scale  []float64
	starts []float64 // intervals × rest, in units of scale
	parts  []intervalPart
	grad   *intervalBatch // 2·rest + 1 columns for an interval
	few    *intervalBatch // the same, of few intervals
	value  *intervalBatch // of neighbours
	draws  *intervalBatch
	down   bool
	planes []int
	climbs []intervalClimb
	todo   []int
	// scratch
	pending                          []int
	lower, back, noise, moved, theta []float64
	kept                             []int
	pairs                            [][2]int // intervals, by column of value
	fitted                           Fitted
	half, normal, elbo, logs         []float64 // of draws: as logGamma.put has it, and that of the normal
	normals                          []family.Q
	lost                             float64
	mass                             []float64 // of each interval, by Laplace
	nodes, weights                   []float64 // of a quadrature, of a normal
	mean, variance, left, squares    []float64 // of the rest and the switch; squares × intervals
}

// An intervalPart is what is the same for all data.
type intervalPart struct {
	at            float64 // a point inside
	offset        float64 // log of the prior's mass in it, less its log density at that point
	mean, square  float64 // of the switch, on the program's scale
	q             family.Q
	name          string
	center, width float64 // of the normal that is its prior inside
}

// An intervalClimb is one to the mode of an interval.
type intervalClimb struct {
	climb
	logGammas []logGamma // of draws, by column of the inverse of rootᵀ
	mode      []float64  // when done; h and root are those of the normal there
	top       float64    // log r at the mode
	logZ      float64    // Laplace's log evidence of the interval
	interval  int
}

// NewIntervals returns nil if d is not of the kind.
func NewIntervals(d *graph.Density) (*Intervals, error) {
	switches := d.Switches()
	if d.Params() > 0 || len(switches) != 1 || len(switches[0].Index) > 0 || switches[0].Curved() ||
		len(switches[0].Planes) != d.Arrangement().Len() || d.Dim() > intervalLatents+1 || d.Dim() < 2 {
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
	f := &Intervals{d: d, at: w.Latent, down: w.Down, planes: w.Planes}
	_, scale := d.PriorStart()
	for i := range d.Dim() {
		f.bent = append(f.bent, d.Transformed(i))
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
	columns := 2*n + 1
	batches := 1 + (len(f.parts)-1)/max(1, intervalColumns/columns)
	if f.grad, err = f.batch((len(f.parts)+batches-1)/batches*columns, graph.Compute{Out: true, Grad: true}); err != nil {
		return nil, err
	}
	if f.few, err = f.batch(max(1, fewColumns/columns)*columns, graph.Compute{Out: true, Grad: true}); err != nil {
		return nil, err
	}
	batches = 1 + (2*len(f.parts)-1)/neighbourColumns
	if f.value, err = f.batch((2*len(f.parts)+batches-1)/batches, graph.Compute{Out: true}); err != nil {
		return nil, err
	}
	f.pairs = make([][2]int, f.value.N)
	if f.draws, err = f.batch(intervalColumns, graph.Compute{Out: true}); err != nil {
		return nil, err
	}
	f.climbs = make([]intervalClimb, len(f.parts))
	for j := range f.climbs {
		f.climbs[j] = intervalClimb{interval: j, climb: newClimb(n, modeInterval), mode: make([]float64, n), logGammas: make([]logGamma, n)}
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
func (f *Intervals) findNodes() {
	const nodes = 24
	f.nodes, f.weights = make([]float64, nodes), make([]float64, nodes)
	quad.Hermite{}.FixedLocations(f.nodes, f.weights, math.Inf(-1), math.Inf(1))
	floats.Scale(1/math.Sqrt(math.Pi), f.weights)
	floats.Scale(math.Sqrt2, f.nodes)
}

// findStarts draws a start for each interval from the prior; the seed is the same for all data.
func (f *Intervals) findStarts(prior *graph.Residuals) {
	prior.Draw(mc.NewRand(uint64(prior.N)))
	for j := range prior.N {
		for k, i := range f.rest {
			f.starts = append(f.starts, prior.Z[i*prior.N+j]/f.scale[k])
		}
	}
}

// findParts finds what the prior says of the switch in each interval.
func (f *Intervals) findParts(prior *graph.Residuals, w graph.SwitchLatent) error {
	const points = 16 // of a quadrature over the quantiles of an interval
	n := prior.N
	cut := make([]float64, n+1)
	w.Thresholds(1).Fill(cut[1:n], make([]float64, f.d.Dim()))
	cut[0], cut[n] = math.Inf(-1), math.Inf(1)
	log := func(x float64) float64 {
		prior.Z[w.Latent*n] = x
		return prior.LogPriorOf(w.Latent, 0)
	}
	search := &Search{d: f.d, lines: newLines(f.d.Arrangement())}
	var cells []*Cell
	z := make([]float64, f.d.Dim()) // of which all planes compare the switch alone
	for j := range n {
		lo, hi := cut[j], cut[j+1]
		p := intervalPart{at: prior.Within(w.Latent, 0, 0.5, lo, hi)}
		p.offset = prior.LogMass(w.Latent, 0, lo, hi) - log(p.at)
		for k := range points {
			x := f.d.ConstrainOne(w.Latent, prior.Within(w.Latent, 0, (float64(k)+0.5)/points, lo, hi))
			p.mean += x / points
			p.square += x * x / points
		}
		// the normal that has the prior's slope and curvature in the middle
		const leastCurvature = 1e-3
		e := 1e-3 * min(1, (hi-lo)/2)
		up, mid, down := log(p.at+e), log(p.at), log(p.at-e)
		curvature := max((2*mid-up-down)/(e*e), leastCurvature)
		p.center, p.width = p.at+(up-down)/(2*e)/curvature, 1/math.Sqrt(curvature)
		parents := make([][]int, f.d.Dim())
		for k, i := range f.rest {
			parents[i] = f.rest[:k]
		}
		span := []span{{j, j}}
		if w.Down {
			span[0].first, span[0].last = n-1-j, n-1-j
		}
		half, _, _ := search.lines.affine(search.lines.sides(span))
		normal := family.Sequential(parents)
		p.q = normal
		if len(half) > 0 {
			q, soft, err := normal.Confine(half)
			if err != nil || len(soft) > 0 {
				return err
			}
			p.q = q
		}
		f.parts = append(f.parts, p)
		z[w.Latent] = p.at
		cells = append(cells, &Cell{span: span, region: f.d.Arrangement().Signs(z)})
	}
	for j, name := range search.Where(cells) {
		f.parts[j].name = name
	}
	return nil
}

// A Fitted is what Intervals has found of a posterior. All but Q is good until it finds something else.
type Fitted struct {
	Q     *family.Mixture
	Cells []Cell   // of Q
	Where []string // they are
	Tried int      // intervals
	Left  float64  // of the mass, not in Q
	// Draws are in pairs, each of a cell: Cell[k] is that of draw k, and First[c] the first draw
	// of cell c, after the last cell the number of draws. Ratio is log r − log q of the draws in their
	// cells, without the switch, less what Laplace has; and LogWeight that of the whole: the mean
	// of its exponentials is the evidence.
	Cell, First      []int
	Ratio, LogWeight []float64
	// Tail is Ratio less the logarithm of its cell's mean weight.
	Tail []float64
	// X are the latents of the draws on the program's scale, draws × latents, and XX their squares. Those
	// of the switch are its means in the interval. Mean and Square are the same of Q, cells × latents, and
	// DrawMean and DrawSquare those of what is drawn from, or NaN where they are not known.
	X, XX, Mean, Square, DrawMean, DrawSquare []float64
}

// Find finds the normals of the intervals that hold all but the part lost of the posterior, with the data of d. It
// reports false if the intervals are not near normals that are all there is.
func (f *Intervals) Find(d *graph.Density, lost float64) (bool, error) {
	for _, x := range [...]*intervalBatch{f.grad, f.few, f.value, f.draws} {
		if err := x.SetData(d); err != nil {
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

func (f *Intervals) begin() {
	n := len(f.rest)
	f.todo = f.todo[:0]
	for j := range f.climbs {
		c := &f.climbs[j]
		c.begin()
		copy(c.trial, f.starts[j*n:][:n])
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
func (f *Intervals) gradients() *intervalBatch {
	if len(f.todo)*(2*len(f.rest)+1) <= f.few.N {
		return f.few
	}
	return f.grad
}

// An intervalBatch is an executor whose columns are each in an interval.
type intervalBatch struct {
	*graph.Executor
	f  *Intervals
	in []int // by column
}

func (f *Intervals) batch(n int, w graph.Compute) (*intervalBatch, error) {
	w.NewData = true
	x, err := f.d.Executor(n, w)
	if err != nil {
		return nil, err
	}
	b := &intervalBatch{x, f, make([]int, n)}
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
func (b *intervalBatch) put(j, first, last int) {
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
func (b *intervalBatch) column(k, j int, u []float64) {
	b.put(j, k, k+1)
	b.fill(k, u)
}

// fill puts a point in column k.
func (b *intervalBatch) fill(k int, u []float64) {
	for r, i := range b.f.rest {
		b.Z[i*b.N+k] = u[r] * b.f.scale[r]
	}
}

// at is ∂log r/∂z_i in column k.
func (b *intervalBatch) at(i, k int) float64 { return b.Grad[i*b.N+k] }
