package cells

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
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
	leastDamping     = modeDamping / 10
	intervalGain     = 1e-5 // nats that end a climb
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
	climbs []climb
	todo   []int
	// scratch
	lower, back, step, noise, moved, theta []float64
	kept                                   []int
	pairs                                  [][2]int // intervals, by column of value
	fitted                                 Fitted
	half, logs                             []float64
	normals                                []family.Q
	lost                                   float64
	mass                                   []float64 // of each interval, by Laplace
	nodes, weights                         []float64 // of a quadrature, of a normal
	mean, variance, left, squares          []float64 // of the rest and the switch; squares × intervals
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

// A climb is one to the mode of an interval.
type climb struct {
	u, g, trial []float64 // in units of scale: where it is, ∂log r there, and where it looks next
	h           []float64 // −∂²log r, rest × rest
	mode, root  []float64 // when done: the mode, and the Cholesky factor of h, lower triangular
	value, top  float64   // log r at u, and at the mode
	logZ        float64   // Laplace's log evidence of the interval
	damping     float64
	tries       int
	interval    int
	state       climbState
}

type climbState uint8

const (
	begun climbState = iota
	climbing
	arrived
	failed
)

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
	f.climbs = make([]climb, len(f.parts))
	for j := range f.climbs {
		v := make([]float64, 4*n+2*n*n)
		f.climbs[j] = climb{interval: j, u: v[:n], g: v[n : 2*n], trial: v[2*n : 3*n], mode: v[3*n : 4*n], h: v[4*n : 4*n+n*n], root: v[4*n+n*n:]}
	}
	f.mass = make([]float64, len(f.parts))
	f.squares = make([]float64, len(f.parts)*(n+1))
	f.mean, f.variance, f.left = make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	const nodes = 24
	f.nodes, f.weights = make([]float64, nodes), make([]float64, nodes)
	quad.Hermite{}.FixedLocations(f.nodes, f.weights, math.Inf(-1), math.Inf(1))
	floats.Scale(1/math.Sqrt(math.Pi), f.weights)
	f.theta = make([]float64, 2*(n+1)+n*(n-1)/2)
	f.lower, f.back, f.step, f.noise, f.moved = make([]float64, n*n), make([]float64, n*n), make([]float64, n), make([]float64, n), make([]float64, n)
	return f, nil
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
		cells = append(cells, &Cell{span: span, region: regions.Signs{}})
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
	// of the switch are its means in the interval. Mean and Square are the same of Q, cells × latents.
	X, XX, Mean, Square []float64
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
		c.state, c.damping, c.tries = begun, 0, 0
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

// climbAll climbs until all of f.todo have arrived or failed.
func (f *Intervals) climbAll() error {
	n := len(f.rest)
	columns := 2*n + 1
	for ; len(f.todo) > 0; slices.Reverse(f.todo) { // slots of batches go back by the way that they came
		x := f.gradients()
		for batch := range slices.Chunk(f.todo, x.N/columns) {
			for s, j := range batch {
				first := s * columns
				x.put(j, first, first+columns)
				c := &f.climbs[j]
				for k, i := range f.rest {
					row := x.Z[i*x.N:][first : first+columns]
					for e := range row {
						row[e] = c.trial[k] * f.scale[k]
					}
					w := c.differences(k, n)
					row[1+2*k] = (c.trial[k] + w) * f.scale[k]
					row[2+2*k] = (c.trial[k] - w) * f.scale[k]
				}
			}
			if err := x.Run(); err != nil {
				return err
			}
			for s, j := range batch {
				f.advance(&f.climbs[j], x, s*columns)
			}
		}
		f.todo = slices.DeleteFunc(f.todo, func(j int) bool { return f.climbs[j].state >= arrived })
	}
	return nil
}

// differences is the width of the differences along latent k of n.
func (c *climb) differences(k, n int) float64 {
	if c.state == climbing {
		if p := c.h[k*n+k]; p > 1 {
			return modeInterval / math.Sqrt(p)
		}
	}
	return modeInterval
}

// advance looks at log r and its derivatives at c.trial, in the columns of x from first on, and decides
// where to look next.
func (f *Intervals) advance(c *climb, x *intervalBatch, first int) {
	n := len(f.rest)
	c.tries++
	v := x.Out[first]
	at := func(i, column int) float64 { return x.at(f.rest[i], first+column) * f.scale[i] }
	better := finite(v) && (c.state == begun || v >= c.value)
	if better {
		g, h := f.step, f.lower // scratch
		for i := range n {
			g[i] = at(i, 0)
			better = better && finite(g[i])
			wi := c.differences(i, n)
			for j := range i + 1 {
				wj := c.differences(j, n)
				ij := (at(i, 2*j+2) - at(i, 2*j+1)) / (2 * wj)
				ji := (at(j, 2*i+2) - at(j, 2*i+1)) / (2 * wi)
				h[i*n+j] = (ij + ji) / 2
				h[j*n+i] = h[i*n+j]
				better = better && finite(h[i*n+j])
			}
		}
		if better {
			if c.state == climbing {
				if c.damping /= 10; c.damping < leastDamping {
					c.damping = 0
				}
			}
			c.state, c.value = climbing, v
			copy(c.u, c.trial)
			copy(c.g, g)
			copy(c.h, h)
			if cholesky(f.lower, c.h, n, 0) && f.newton(c) < intervalGain {
				f.arrive(c)
				return
			}
		}
	}
	if c.state == begun || c.tries > intervalPasses {
		c.state = failed
		return
	}
	if !better {
		c.damping = max(modeDamping, 10*c.damping)
	}
	for !cholesky(f.lower, c.h, n, c.damping) {
		if c.damping = max(modeDamping, 10*c.damping); c.damping > 1e12 {
			c.state = failed
			return
		}
	}
	f.newton(c)
	for i := range n {
		c.trial[i] = c.u[i] + f.step[i]
	}
}

// newton puts the step from u in f.step, for the factor in f.lower, and returns what it gains.
func (f *Intervals) newton(c *climb) (gain float64) {
	n := len(f.rest)
	copy(f.step, c.g)
	solveLower(f.lower, f.step, n)
	solveUpper(f.lower, f.step, n)
	for i, s := range f.step {
		gain += s * c.g[i] / 2
	}
	return gain
}

// arrive makes the Newton step in f.step the last one.
func (f *Intervals) arrive(c *climb) {
	n := len(f.rest)
	c.state, c.top = arrived, c.value
	copy(c.root, f.lower)
	c.logZ = 0.5 * float64(n) * math.Log(2*math.Pi)
	for i, s := range f.step {
		c.mode[i] = c.u[i] + s
		c.top += s * c.g[i] / 2
		c.logZ += math.Log(f.scale[i] / c.root[i*n+i])
	}
	c.logZ += c.top + f.parts[c.interval].offset
}

// unimodal compares each climb's end with those of its neighbours, in its own interval, and
// climbs again from what is higher. It reports whether all ends are one mode's.
func (f *Intervals) unimodal() (bool, error) {
	const rounds = 6
	best := math.Inf(-1)
	for j := range f.climbs {
		if c := &f.climbs[j]; c.state == arrived {
			best = max(best, c.logZ)
		}
	}
	for range rounds {
		again, several := false, false
		err := f.eachNeighbour(func(j, of int, value float64) {
			c, o := &f.climbs[j], &f.climbs[of]
			switch {
			case c.state == arrived && c.logZ < best-intervalFar && value < c.top+sameMode:
				return // it does not count
			case c.state == failed || value > c.top+sameMode:
				if c.state == arrived && c.logZ > best-intervalFar/2 {
					several = true
				}
				c.state, c.damping, c.tries = begun, 0, 0
				copy(c.trial, o.mode)
				f.todo = append(f.todo, j)
				again = true
			case f.apart(c, o.mode) > apartSquare && c.top-value < apartFall/2*f.apart(c, o.mode):
				several = true
			}
		})
		if err != nil || several {
			return false, err
		}
		if !again {
			break
		}
		if err := f.climbAll(); err != nil {
			return false, err
		}
		for j := range f.climbs {
			if c := &f.climbs[j]; c.state == arrived {
				best = max(best, c.logZ)
			}
		}
	}
	for j := range f.climbs {
		if f.climbs[j].state != arrived {
			return false, nil
		}
	}
	return !math.IsInf(best, -1), nil
}

// apart is the squared distance of a point from the mode, in standard deviations.
func (f *Intervals) apart(c *climb, mode []float64) (sum float64) {
	n := len(mode)
	for j := range n {
		y := 0.0 // of Lᵀ·(mode − c.mode)
		for i := j; i < n; i++ {
			y += c.root[i*n+j] * (mode[i] - c.mode[i])
		}
		sum += y * y
	}
	return sum
}

// eachNeighbour calls visit with log r in interval j at the end of the climb in interval of.
func (f *Intervals) eachNeighbour(visit func(j, of int, value float64)) error {
	x := f.value
	batch, count := f.pairs, 0
	run := func() error {
		if count == 0 {
			return nil
		}
		for k := count; k < x.N; k++ {
			x.column(k, batch[0][0], f.climbs[batch[0][1]].mode)
		}
		err := x.Run()
		for k, p := range batch[:count] {
			if f.climbs[p[0]].state != begun {
				visit(p[0], p[1], x.Out[k])
			}
		}
		count = 0
		return err
	}
	for j := range f.climbs {
		for _, of := range [2]int{j - 1, j + 1} {
			if of < 0 || of >= len(f.climbs) || f.climbs[of].state != arrived {
				continue
			}
			batch[count] = [2]int{j, of}
			x.column(count, j, f.climbs[of].mode)
			if count++; count == len(batch) {
				if err := run(); err != nil {
					return err
				}
			}
		}
	}
	return run()
}

// keep chooses the intervals that matter.
func (f *Intervals) keep(lost float64) {
	f.kept = f.kept[:0]
	best, total := math.Inf(-1), 0.0
	for j := range f.climbs {
		f.kept = append(f.kept, j)
		best = max(best, f.climbs[j].logZ)
	}
	for j := range f.climbs {
		total += math.Exp(f.climbs[j].logZ - best)
	}
	for j := range f.climbs {
		f.mass[j] = math.Exp(f.climbs[j].logZ-best) / total
	}
	slices.SortStableFunc(f.kept, func(a, b int) int { return cmp.Compare(f.mass[b], f.mass[a]) })
	f.spread()
	f.lost = 0
	for last := len(f.kept) - 1; last > 0; last-- {
		j := f.kept[last]
		if f.lost+f.mass[j] > lost/intervalLost || !f.leaves(j, lostSquare*lost) {
			break
		}
		f.lost += f.mass[j]
		f.kept = f.kept[:last]
	}
}

// cleared is a list of n zeros, in list if there is room.
func cleared(list []float64, n int) []float64 {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}

// Weigh makes a fit of what Find has found, of about so many draws; it is nil where log r is not finite.
func (f *Intervals) Weigh(seed uint64, draws int) (*Fitted, error) {
	n, x := len(f.rest), f.draws
	out, count := &f.fitted, 0
	out.Tried, out.Left = len(f.parts), f.lost
	out.Cells, out.Where, out.Cell, out.First, out.Tail = out.Cells[:0], out.Where[:0], out.Cell[:0], out.First[:0], out.Tail[:0]
	out.Mean, out.Square = out.Mean[:0], out.Square[:0]
	f.logs, f.normals = f.logs[:0], f.normals[:0]
	least := max(intervalLeast, min(intervalEnough, draws/32))
	shares := 0.0
	for _, j := range f.kept {
		shares += f.share(j)
	}
	for _, j := range f.kept { // as family.Mixture.Defensive shares draws out
		out.First = append(out.First, count)
		count += max(least, 2*int(math.Round(float64(draws)/4*(f.mass[j]+f.share(j)/shares))))
	}
	out.First = append(out.First, count)
	out.Ratio, out.LogWeight, out.X, out.XX = cleared(out.Ratio, count), cleared(out.LogWeight, count), cleared(out.X, count*(n+1)), cleared(out.XX, count*(n+1))
	rng := mc.NewRand(seed)
	f.half = cleared(f.half, count)
	k, half := 0, f.half
	for first := 0; first < count; first += x.N {
		width := min(x.N, count-first)
		for c := range x.N {
			d := first + min(c, width-1)
			if c == 0 || d >= out.First[k+1] {
				for d >= out.First[k+1] {
					k++
				}
				last := out.First[k+1] - first
				if last >= width {
					last = x.N
				}
				x.put(f.kept[k], c, last)
			}
			if c < width {
				half[d] = f.draw(&f.climbs[f.kept[k]], d%2 == 1, rng)
			}
			x.fill(c, f.moved)
			if c >= width {
				continue
			}
			at, p := d*(n+1), &f.parts[f.kept[k]]
			for r, i := range f.rest {
				x := f.moved[r] * f.scale[r]
				if f.bent[i] {
					x = f.d.ConstrainOne(i, x)
				}
				out.X[at+i], out.XX[at+i] = x, x*x
			}
			out.X[at+f.at], out.XX[at+f.at] = p.mean, p.square
		}
		if err := x.Run(); err != nil {
			return nil, err
		}
		copy(out.Ratio[first:], x.Out[:width])
	}
	for k, j := range f.kept {
		c := &f.climbs[j]
		group := out.Ratio[out.First[k]:out.First[k+1]]
		for d := range group {
			out.Cell = append(out.Cell, k)
			group[d] += half[out.First[k]+d] - c.top
			if !finite(group[d]) {
				return nil, nil
			}
			out.LogWeight[out.First[k]+d] = group[d] + c.logZ + math.Log(float64(count)/float64(len(group)))
		}
		mean := logMean(group).Mean
		for _, r := range group {
			out.Tail = append(out.Tail, r-mean)
		}
		cell := Cell{ELBO: mc.Mean(group), LogEvidence: logMean(group), KHat: math.NaN()}
		cell.ELBO.Mean += c.logZ
		cell.LogEvidence.Mean += c.logZ
		out.Cells, out.Where = append(out.Cells, cell), append(out.Where, f.parts[j].name)
		f.moments(out, j)
		f.logs, f.normals = append(f.logs, cell.LogEvidence.Mean), append(f.normals, f.q(j))
	}
	out.Q = family.NewMixture(f.logs, f.normals)
	return out, nil
}

// polish makes the normals of the intervals that are kept those of highest ELBO: where E[∇log r] is 0, with the
// precision −E[∇²log r] = −E[∇log r·εᵀ]·Lᵀ, by the cubature of the 2n points √n·±ε_k. Of a normal posterior that is
// what it was.
func (f *Intervals) polish() error {
	n := len(f.rest)
	columns, far := 2*n+1, math.Sqrt(float64(n))
	f.todo = append(f.todo[:0], f.kept...)
	for pass := 0; pass < polishPasses && len(f.todo) > 0; pass++ {
		x := f.gradients()
		for batch := range slices.Chunk(f.todo, x.N/columns) {
			for s, j := range batch {
				first, c := s*columns, &f.climbs[j]
				x.put(j, first, first+columns)
				x.fill(first, c.mode)
				for k := range n {
					for side, by := range [2]float64{far, -far} {
						clear(f.moved)
						f.moved[k] = by
						solveUpper(c.root, f.moved, n)
						for i, m := range c.mode {
							f.moved[i] += m
						}
						x.fill(first+1+2*k+side, f.moved)
					}
				}
			}
			if err := x.Run(); err != nil {
				return err
			}
			for s, j := range batch {
				f.settle(&f.climbs[j], x, s*columns)
			}
		}
		f.todo = slices.DeleteFunc(f.todo, func(j int) bool { return f.climbs[j].state == arrived })
	}
	return nil
}

// settle moves the normal of c by what the points of polish say, in the columns of x from first on. Its state is
// arrived when that was little, or when they do not say.
func (f *Intervals) settle(c *climb, x *intervalBatch, first int) {
	n := len(f.rest)
	c.state = arrived
	h, g := f.back, c.g
	clear(g)
	for i := range n {
		for j := range n { // (E[∇log r·εᵀ]·Lᵀ)_ij
			h[i*n+j] = 0
			for k := range j + 1 {
				up, down := x.at(f.rest[i], first+1+2*k), x.at(f.rest[i], first+2+2*k)
				h[i*n+j] -= (up - down) * f.scale[i] / (2 * math.Sqrt(float64(n))) * c.root[j*n+k]
			}
		}
		for k := range 2 * n {
			g[i] += x.at(f.rest[i], first+1+k) * f.scale[i] / float64(2*n)
		}
	}
	for i := range n {
		for j := range i {
			h[i*n+j] = (h[i*n+j] + h[j*n+i]) / 2
			h[j*n+i] = h[i*n+j]
		}
	}
	if !cholesky(f.lower, h, n, 0) || !finite(floats.Sum(g)) {
		return
	}
	gain, change := f.newton(c), 0.0
	for i := range n {
		change = max(change, math.Abs(math.Log(f.lower[i*n+i]/c.root[i*n+i])))
	}
	if gain > 1 || change > 0.7 {
		return // too far for its points to know
	}
	for i, s := range f.step {
		c.mode[i] += s
		c.logZ -= math.Log(f.lower[i*n+i] / c.root[i*n+i])
	}
	copy(c.root, f.lower)
	copy(c.h, h)
	if gain > intervalGain || change > polishEnd {
		c.state = climbing
	}
}

// place is latent i of the rest at the mode of interval j, or the mean of the switch there.
func (f *Intervals) place(j, i int) float64 {
	if i == len(f.rest) {
		return f.parts[j].mean
	}
	return f.climbs[j].mode[i]
}

// square is the mean squared distance of latent i of the rest, or of the switch, from mean, in interval j.
func (f *Intervals) square(j, i int, mean float64) float64 {
	n, p, c := len(f.rest), &f.parts[j], &f.climbs[j]
	if i == n {
		return p.square - 2*mean*p.mean + mean*mean
	}
	off := c.mode[i] - mean
	clear(f.moved)
	f.moved[i] = 1
	solveLower(c.root, f.moved, n)
	for _, x := range f.moved {
		off = math.Hypot(off, x)
	}
	return off * off
}

// spread finds mean and variance of each latent, and what each interval has of them: squares.
func (f *Intervals) spread() {
	n := len(f.rest)
	for i := range n + 1 {
		f.mean[i], f.variance[i] = 0, 0
		for j := range f.climbs {
			f.mean[i] += f.mass[j] * f.place(j, i)
		}
		for j := range f.climbs {
			f.squares[j*(n+1)+i] = f.mass[j] * f.square(j, i, f.mean[i])
			f.variance[i] += f.squares[j*(n+1)+i]
		}
	}
	clear(f.left)
}

// leaves leaves interval j out, if no latent then misses more than most of its variance.
func (f *Intervals) leaves(j int, most float64) bool {
	for i := range f.left {
		if f.left[i] += f.squares[j*len(f.left)+i]; f.left[i] > most*f.variance[i] {
			return false
		}
	}
	return true
}

// share is the largest part of a latent's variance that interval j has.
func (f *Intervals) share(j int) (share float64) {
	for i, v := range f.variance {
		share = max(share, f.squares[j*len(f.left)+i]/v)
	}
	return share
}

// draw puts a draw of the normal of c in f.moved, or the one opposite of the last, and returns half of
// its squared distance from the mode, in standard deviations.
func (f *Intervals) draw(c *climb, opposite bool, rng *rand.Rand) (half float64) {
	n := len(f.noise)
	for i := range f.noise {
		if opposite {
			f.noise[i] = -f.noise[i]
		} else {
			f.noise[i] = rng.NormFloat64()
		}
		half += f.noise[i] * f.noise[i] / 2
	}
	copy(f.moved, f.noise)
	solveUpper(c.root, f.moved, n)
	for i := range f.moved {
		f.moved[i] += c.mode[i]
	}
	return half
}

// moments adds the moments of Q in interval j.
func (f *Intervals) moments(out *Fitted, j int) {
	at, n := len(out.Mean), len(f.rest)
	out.Mean, out.Square = slices.Grow(out.Mean, n+1)[:at+n+1], slices.Grow(out.Square, n+1)[:at+n+1]
	out.Mean[at+f.at], out.Square[at+f.at] = f.parts[j].mean, f.parts[j].square
	for r, i := range f.rest {
		mean, sd := f.climbs[j].mode[r]*f.scale[r], math.Sqrt(f.square(j, r, f.climbs[j].mode[r]))*f.scale[r]
		m, s := mean, mean*mean+sd*sd
		if f.bent[i] {
			m, s = 0, 0
			for k, t := range f.nodes {
				x := f.d.ConstrainOne(i, mean+math.Sqrt2*sd*t)
				m += f.weights[k] * x
				s += f.weights[k] * x * x
			}
		}
		out.Mean[at+i], out.Square[at+i] = m, s
	}
}

// q is the normal of interval j, confined to it, until the next fit. Where its precision is UUᵀ with U upper
// triangular, s_i = 1/U_ii and B_ij = −U_ji·s_i.
func (f *Intervals) q(j int) family.Q {
	n, c, p := len(f.rest), &f.climbs[j], &f.parts[j]
	back, l := f.back, f.lower // the latents in reverse, where U is the usual factor
	for i := range n {
		for k := range n {
			back[i*n+k] = c.h[(n-1-i)*n+n-1-k]
		}
	}
	cholesky(l, back, n, 0)
	theta := f.theta
	theta[2*f.at], theta[2*f.at+1] = p.center, p.width
	b := theta[2*(n+1):]
	for i, at := range f.rest {
		u := n - 1 - i
		s := f.scale[i] / l[u*n+u]
		theta[2*at], theta[2*at+1] = c.mode[i]*f.scale[i], s
		for k := range i {
			b[k] = -l[(n-1-k)*n+u] * s / f.scale[k]
		}
		b = b[i:]
	}
	p.q.Set(theta)
	return p.q
}

// cholesky writes the lower factor of h + damping·max(1, |diagonal|) to l, and reports whether that is
// positive definite.
func cholesky(l, h []float64, n int, damping float64) bool {
	for i := range n {
		for j := range i + 1 {
			v := h[i*n+j]
			if i == j {
				v += damping * max(1, math.Abs(v))
			}
			for k := range j {
				v -= l[i*n+k] * l[j*n+k]
			}
			if i == j {
				if !(v > 0) || math.IsInf(v, 1) {
					return false
				}
				l[i*n+i] = math.Sqrt(v)
			} else {
				l[i*n+j] = v / l[j*n+j]
			}
		}
	}
	return true
}

// solveLower solves L·x = b in place.
func solveLower(l, b []float64, n int) {
	for i := range n {
		for k := range i {
			b[i] -= l[i*n+k] * b[k]
		}
		b[i] /= l[i*n+i]
	}
}

// solveUpper solves Lᵀ·x = b in place.
func solveUpper(l, b []float64, n int) {
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= l[k*n+i] * b[k]
		}
		b[i] /= l[i*n+i]
	}
}
