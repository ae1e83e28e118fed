package intervals

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/newton"
)

// How climbs go.
const (
	mostColumns      = 160 // of a batch, at most,
	neighbourColumns = 256 // and of one without gradients for pairs of intervals
	mostPasses       = 60  // evaluations of the Hessian in each interval, at most
	polishPasses     = 4
	polishEnd        = 1e-3 // of a logarithm of a standard deviation
	farBelow         = 25   // nats below the best from which on an interval does not count
	sameMode         = 0.1  // nats that another climb's end may be above an interval's own
	apartSquare      = 12   // squared distance, in standard deviations, of ends that may be other modes,
	apartFall        = 0.2  // and part of half of it that log r falls by at least between ends that are one
)

// A finder climbs to the modes of all intervals, side by side, and knows the normals there.
type finder struct {
	*program
	climbs []climb  // by interval
	todo   []int    // intervals
	grad   *columns // 2·rest + 1 for an interval
	value  *columns // of neighbours
	pairs  [][2]int // intervals, by column of value
	// scratch
	lower, back, moved, theta []float64
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

func newFinder(p *program) (*finder, error) {
	n, intervals := len(p.rest), len(p.parts)
	each := 2*n + 1
	batches := 1 + (intervals-1)/max(1, mostColumns/each)
	pairs := 1 + (2*intervals-1)/neighbourColumns
	f := &finder{program: p, climbs: make([]climb, intervals)}
	var err error
	if f.grad, err = p.columns((intervals+batches-1)/batches*each, true); err != nil {
		return nil, err
	}
	if f.value, err = p.columns((2*intervals+pairs-1)/pairs, false); err != nil {
		return nil, err
	}
	f.pairs = make([][2]int, f.value.N)
	for j := range f.climbs {
		f.climbs[j] = climb{interval: j, Climb: newton.New(n, newton.Interval), mode: make([]float64, n), logGammas: make([]logGamma, n)}
	}
	f.theta = make([]float64, 2*(n+1)+n*(n-1)/2)
	f.lower, f.back, f.moved = make([]float64, n*n), make([]float64, n*n), make([]float64, n)
	return f, nil
}

// find climbs with the data of d, from the starts. It reports whether all ends are one mode's.
func (f *finder) find(d *graph.Density) (bool, error) {
	for _, x := range [...]*columns{f.grad, f.value} {
		if err := d.Feed(x.Executor); err != nil {
			return false, err
		}
	}
	n := len(f.rest)
	f.todo = f.todo[:0]
	for j := range f.climbs {
		f.climbs[j].Begin()
		copy(f.climbs[j].Trial, f.starts[j*n:][:n])
		f.todo = append(f.todo, j)
	}
	if err := f.climbAll(); err != nil {
		return false, err
	}
	return f.unimodal()
}

// gradients evaluates the columns of the intervals in f.todo, batch by batch: fill fills those of one from first on, and read has what is there.
func (f *finder) gradients(fill, read func(x *columns, first int, c *climb)) error {
	x, each := f.grad, 2*len(f.rest)+1
	for batch := range slices.Chunk(f.todo, x.N/each) {
		for s, j := range batch {
			x.put(j, s*each, (s+1)*each)
			fill(x, s*each, &f.climbs[j])
		}
		if err := x.Run(); err != nil {
			return err
		}
		for s, j := range batch {
			read(x, s*each, &f.climbs[j])
		}
	}
	return nil
}

// climbAll climbs until all of f.todo have arrived or failed.
func (f *finder) climbAll() error {
	for len(f.todo) > 0 {
		err := f.gradients(func(x *columns, first int, c *climb) { c.Put(x.Executor, first, f.rest, f.scale) }, func(x *columns, first int, c *climb) {
			c.Read(x.Executor, first, f.rest, f.scale)
			if c.Advance(x.Out[first]); c.State == newton.Arrived {
				f.arrive(c)
			} else if c.Tries > mostPasses {
				c.State = newton.Failed
			}
		})
		if err != nil {
			return err
		}
		f.todo = slices.DeleteFunc(f.todo, func(j int) bool { return f.climbs[j].State >= newton.Arrived })
	}
	return nil
}

// arrive keeps where c has arrived.
func (f *finder) arrive(c *climb) {
	copy(c.mode, c.Trial)
	c.top = c.Value + c.Gain
	c.logZ = c.LogNormal() + f.parts[c.interval].offset
	for _, s := range f.scale {
		c.logZ += math.Log(s)
	}
}

// unimodal compares each climb's end with those of its neighbours, in its own interval, and
// climbs again from what is higher. It reports whether all ends are one mode's.
func (f *finder) unimodal() (bool, error) {
	const rounds = 6
	best := f.highest()
	for range rounds {
		again, several := false, false
		err := f.eachNeighbour(func(j, of int, value float64) {
			c, o := &f.climbs[j], &f.climbs[of]
			switch {
			case c.State == newton.Arrived && c.logZ < best-farBelow && value < c.top+sameMode:
				return // it does not count
			case c.State == newton.Failed || value > c.top+sameMode:
				if c.State == newton.Arrived && c.logZ > best-farBelow/2 {
					several = true
				}
				c.Begin()
				copy(c.Trial, o.mode)
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
		best = max(best, f.highest())
	}
	for j := range f.climbs {
		if f.climbs[j].State != newton.Arrived {
			return false, nil
		}
	}
	return !math.IsInf(best, -1), nil
}

// highest is the largest log evidence of the intervals whose climbs have arrived.
func (f *finder) highest() float64 {
	best := math.Inf(-1)
	for j := range f.climbs {
		if c := &f.climbs[j]; c.State == newton.Arrived {
			best = max(best, c.logZ)
		}
	}
	return best
}

// apart is the squared distance of a point from the mode, in standard deviations.
func (f *finder) apart(c *climb, mode []float64) (sum float64) {
	n := len(mode)
	for j := range n {
		y := 0.0 // of Lᵀ·(mode − c.mode)
		for i := j; i < n; i++ {
			y += c.Root[i*n+j] * (mode[i] - c.mode[i])
		}
		sum += y * y
	}
	return sum
}

// eachNeighbour calls visit with log r in interval j at the end of the climb in interval of.
func (f *finder) eachNeighbour(visit func(j, of int, value float64)) error {
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
			if f.climbs[p[0]].State != newton.Begun {
				visit(p[0], p[1], x.Out[k])
			}
		}
		count = 0
		return err
	}
	for j := range f.climbs {
		for _, of := range [2]int{j - 1, j + 1} {
			if of < 0 || of >= len(f.climbs) || f.climbs[of].State != newton.Arrived {
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

// polish makes the normals of some intervals those of highest ELBO: where E[∇log r] is 0, with the
// precision −E[∇²log r] = −E[∇log r·εᵀ]·Lᵀ, by the cubature of the 2n points √n·±ε_k. Of a normal posterior that is
// what it was.
func (f *finder) polish(intervals []int) error {
	f.todo = append(f.todo[:0], intervals...)
	for pass := 0; pass < polishPasses && len(f.todo) > 0; pass++ {
		err := f.gradients(f.cubature, func(x *columns, first int, c *climb) { f.repolish(x, first, c, pass == polishPasses-1) })
		if err != nil {
			return err
		}
		f.todo = slices.DeleteFunc(f.todo, func(j int) bool { return f.climbs[j].State == newton.Arrived })
	}
	return nil
}

// cubature fills the columns of x from first on with the mode of c and the points √n·±ε_k of its normal.
func (f *finder) cubature(x *columns, first int, c *climb) {
	n := len(f.rest)
	far := math.Sqrt(float64(n))
	x.fill(first, c.mode)
	for k := range n {
		for side, by := range [2]float64{far, -far} {
			clear(f.moved)
			f.moved[k] = by
			newton.SolveUpper(c.Root, f.moved, n)
			for i, m := range c.mode {
				f.moved[i] += m
			}
			x.fill(first+1+2*k+side, f.moved)
		}
	}
}

// repolish moves the normal of c by what the points of polish say, in the columns of x from first on, and finds its log-Gamma distributions. Its
// state is arrived, and nothing moves, where that would be little, where they do not say, and the last time.
func (f *finder) repolish(x *columns, first int, c *climb, last bool) {
	n := len(f.rest)
	c.State = newton.Arrived
	for k := range n {
		up, mid, down := f.slope(c, x, first+1+2*k, k), f.slope(c, x, first, k), f.slope(c, x, first+2+2*k, k)
		c.logGammas[k] = newLogGamma(down, mid, up, math.Sqrt(float64(n)))
	}
	h, g := c.NextH, c.G
	clear(g)
	for i := range n {
		for j := range n { // (E[∇log r·εᵀ]·Lᵀ)_ij
			h[i*n+j] = 0
			for k := range j + 1 {
				up, down := x.at(f.rest[i], first+1+2*k), x.at(f.rest[i], first+2+2*k)
				h[i*n+j] -= (up - down) * f.scale[i] / (2 * math.Sqrt(float64(n))) * c.Root[j*n+k]
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
	if !newton.Cholesky(f.lower, h, n, 0) || !finite(floats.Sum(g)) {
		return
	}
	gain, change := newton.Step(c.Step, f.lower, g), 0.0
	for i := range n {
		change = max(change, math.Abs(math.Log(f.lower[i*n+i]/c.Root[i*n+i])))
	}
	if last || gain <= newton.Gain && change <= polishEnd || gain > 1 || change > 0.7 {
		return // it is there, or too far for its points to know
	}
	for i, s := range c.Step {
		c.mode[i] += s
		c.logZ -= math.Log(f.lower[i*n+i] / c.Root[i*n+i])
	}
	copy(c.Root, f.lower)
	copy(c.H, h)
	c.State = newton.Climbing
}

// slope is that of log r along column k of the inverse of c.rootᵀ, at the point in a column of x.
func (f *finder) slope(c *climb, x *columns, column, k int) float64 {
	for i, at := range f.rest {
		f.moved[i] = x.at(at, column) * f.scale[i]
	}
	newton.SolveLower(c.Root, f.moved, len(f.rest))
	return f.moved[k]
}

// place is latent i of the rest at the mode of interval j, or the mean of the switch there.
func (f *finder) place(j, i int) float64 {
	if i == len(f.rest) {
		return f.parts[j].mean
	}
	return f.climbs[j].mode[i]
}

// square is the mean squared distance of latent i of the rest, or of the switch, from mean, in interval j.
func (f *finder) square(j, i int, mean float64) float64 {
	n, p, c := len(f.rest), &f.parts[j], &f.climbs[j]
	if i == n {
		return p.square - 2*mean*p.mean + mean*mean
	}
	off := c.mode[i] - mean
	for _, x := range f.row(c, i) {
		off = math.Hypot(off, x)
	}
	return off * off
}

// row is row i of the inverse of c.Rootᵀ, until the scratch is used again: what latent i of the rest is made of.
func (f *finder) row(c *climb, i int) []float64 {
	clear(f.moved)
	f.moved[i] = 1
	newton.SolveLower(c.Root, f.moved, len(f.moved))
	return f.moved
}

// q is the normal of interval j, confined to it, until the next fit. Where its precision is UUᵀ with U upper
// triangular, s_i = 1/U_ii and B_ij = −U_ji·s_i.
func (f *finder) q(j int) family.Q {
	n, c, p := len(f.rest), &f.climbs[j], &f.parts[j]
	back, l := f.back, f.lower // the latents in reverse, where U is the usual factor
	for i := range n {
		for k := range n {
			back[i*n+k] = c.H[(n-1-i)*n+n-1-k]
		}
	}
	newton.Cholesky(l, back, n, 0)
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

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
