package regions

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/facetvi/facet/internal/vec"
)

// A Function is an elementary function of one number.
type Function interface {
	String() string
	Value(x float64) float64
	// Slope is f′(x), given also y = f(x).
	Slope(x, y float64) float64
	// Inverse are the x with f(x) = y, NaN in place of those that are not there; none if f is not a function that can be inverted.
	Inverse(y float64) (x [2]float64, roots int)
	// Increasing reports whether f is strictly increasing wherever it has a value, and Positive whether all its values are > 0.
	Increasing() bool
	Positive() bool
}

// A rowFunction is a Function that does rows of numbers at once.
type rowFunction interface {
	// Values writes f(x) to dst.
	Values(dst, x []float64)
	// AddSlopes adds g·f′(x) to dst, given also y = f(x).
	AddSlopes(dst, g, x, y []float64)
}

// A Step computes one number from coordinates and from the steps before it, whose positions are A, B and those of Terms.
type Step struct {
	Kind  StepKind
	A, B  int
	F     Function // of an Apply
	Const float64  // of an Affine
	Terms []Term
	Call  Several // of a Call, of steps Args
	Args  []int
}

// A Several is a function of several numbers.
type Several interface {
	String() string
	ValueOf(x []float64) float64
	// SlopeOf is the derivative by number k, given also y = f(x).
	SlopeOf(k int, x []float64, y float64) float64
	// HasFirst reports whether f increases strictly with x[0], and First is then the x[0] for which f(x) is y.
	HasFirst() bool
	First(y float64, x []float64) float64
}

// A Term is a multiple of a step.
type Term struct {
	Of   int
	Coef float64
}

// StepKind says what a step computes.
type StepKind uint8

const (
	Coordinate StepKind = iota // z_A
	Affine                     // Const + Σ Coef·step
	Apply                      // F(step A)
	Times                      // step A · step B
	Over                       // step A / step B
	Power                      // step A to the power of step B
	Call                       // Call(steps Args)
)

// A Curve is Φ of a guard that is not affine, as a list of steps of which the last is Φ. It knows which coordinates Φ = 0 can be solved
// for: given all others there is one root or none, or, of squares, two.
type Curve struct {
	steps   []Step
	latents []int     // ascending
	leaf    []int     // the steps that are their coordinates
	pivots  []pivot   // by latent
	uses    [][]bool  // by latent: the steps that depend on it
	signs   []signSet // of the values of steps
	back    backward
	pool    sync.Pool // of *CurveBatch
}

// NewCurve returns the curve of the steps, which it keeps. It panics if a step refers to one that is not before it.
func NewCurve(steps []Step) *Curve {
	c := &Curve{steps: steps, signs: make([]signSet, len(steps))}
	at := map[int]int{}
	for s, x := range steps {
		for o := range x.operands {
			if o < 0 || o >= s {
				panic(fmt.Sprintf("regions: step %d refers to step %d", s, o))
			}
		}
		if x.Kind == Coordinate {
			if _, known := at[x.A]; known {
				panic(fmt.Sprintf("regions: coordinate %d is two steps", x.A))
			}
			at[x.A] = s
			c.latents = append(c.latents, x.A)
		}
		c.signs[s] = c.signOf(x)
	}
	slices.Sort(c.latents)
	for _, i := range c.latents {
		c.leaf = append(c.leaf, at[i])
		c.uses = append(c.uses, c.dependents(at[i]))
	}
	for k := range c.latents {
		c.pivots = append(c.pivots, c.newPivot(k))
	}
	c.back = c.newBackward()
	return c
}

// Renumbered is the curve with coordinate number[i] in place of i. The order of those that Φ
// uses must stay.
func (c *Curve) Renumbered(number []int) *Curve {
	steps := slices.Clone(c.steps)
	for s, x := range steps {
		if x.Kind == Coordinate {
			steps[s].A = number[x.A]
		}
	}
	return NewCurve(steps)
}

// operands yields the steps that x is made of.
func (x Step) operands(yield func(int) bool) {
	switch x.Kind {
	case Coordinate:
	case Affine:
		for _, t := range x.Terms {
			if !yield(t.Of) {
				return
			}
		}
	case Apply:
		yield(x.A)
	case Call:
		for _, o := range x.Args {
			if !yield(o) {
				return
			}
		}
	default:
		_ = yield(x.A) && yield(x.B)
	}
}

// dependents are the steps that depend on the given one.
func (c *Curve) dependents(of int) []bool {
	on := make([]bool, len(c.steps))
	on[of] = true
	for s, x := range c.steps {
		for o := range x.operands {
			on[s] = on[s] || on[o]
		}
	}
	return on
}

// Latents are the coordinates that Φ uses, ascending.
func (c *Curve) Latents() []int { return c.latents }

// Pivots are the positions in Latents of those that Φ = 0 can be solved for.
func (c *Curve) Pivots() (list []int) {
	for k := range c.pivots {
		if c.pivots[k].wrong == "" {
			list = append(list, k)
		}
	}
	return list
}

// SignsOf says which signs the last of steps can have, as far as is known, where it has a value.
func SignsOf(steps []Step) (canBeNegative, canBeZero, canBePositive bool) {
	c := Curve{steps: steps, signs: make([]signSet, len(steps))}
	for s, x := range steps {
		c.signs[s] = c.signOf(x)
	}
	s := c.signs[len(steps)-1]
	return s&negative != 0, s&zero != 0, s&positive != 0
}

// WhyNot says why Φ = 0 cannot be solved for latent k of Latents; "" if it can.
func (c *Curve) WhyNot(k int) string { return c.pivots[k].wrong }

// A CurveBatch evaluates a curve at n points. In holds the points' coordinates, a row for each of Latents; they must stay as they are
// from Values to what refers to its points. It is for one goroutine, and allocates nothing after it is made.
type CurveBatch struct {
	In [][]float64

	c      *Curve
	n      int
	most   int         // that n can be
	v      [][]float64 // values of the steps; those of coordinates are rows of In
	adj    [][]float64 // adjoints of the steps; made when they are wanted
	out    [][]float64 // of these, those of the coordinates
	spare  [][]float64 // values of the steps at one point, elsewhere; made when they are wanted
	one    [][]float64 // of these, and of v where they are the same
	move   move        // that changes them
	beside [][]float64 // values of the steps where one latent differs; made when they are wanted
	mixed  [][]float64 // of these, and of v where they are the same
	roots  []float64
	near   []expansion // of the steps at one point; made when they are wanted
}

// Bind returns a batch of n points.
func (c *Curve) Bind(n int) *CurveBatch {
	b := &CurveBatch{In: make([][]float64, len(c.latents)), c: c, n: n, most: n}
	b.v = rows(len(c.steps), n)
	return b
}

// batch is Bind of one that may have been used before; release it after use.
func (c *Curve) batch(n int) *CurveBatch {
	b, ok := c.pool.Get().(*CurveBatch)
	if !ok || b.most < n {
		return c.Bind(n)
	}
	b.n = n
	for _, m := range [][][]float64{b.v, b.adj} {
		for s := range m {
			if m[s] != nil {
				m[s] = m[s][:n]
			}
		}
	}
	return b
}

func (c *Curve) release(b *CurveBatch) {
	for k, s := range c.leaf {
		b.In[k], b.v[s] = nil, nil
	}
	c.pool.Put(b)
}

// moved is x with its operands at other positions.
func (x Step) moved(at []int) Step {
	switch x.Kind {
	case Affine:
		x.Terms = slices.Clone(x.Terms)
		for k := range x.Terms {
			x.Terms[k].Of = at[x.Terms[k].Of]
		}
	case Apply:
		x.A = at[x.A]
	case Call:
		x.Args = slices.Clone(x.Args)
		for k, o := range x.Args {
			x.Args[k] = at[o]
		}
	default:
		x.A, x.B = at[x.A], at[x.B]
	}
	return x
}

func rows(k, n int) [][]float64 {
	all, list := make([]float64, k*n), make([][]float64, k)
	for i := range list {
		list[i] = all[i*n:][:n]
	}
	return list
}

// Values are Φ at the points: a view, valid until the next call.
func (b *CurveBatch) Values() []float64 {
	for k, s := range b.c.leaf {
		b.v[s] = b.In[k][:b.n]
	}
	for s := range b.c.steps {
		b.run(b.v, s)
	}
	return b.v[len(b.v)-1]
}

// run computes one step that is not a coordinate.
func (b *CurveBatch) run(v [][]float64, s int) {
	x, out := &b.c.steps[s], v[s]
	switch x.Kind {
	case Affine:
		if len(x.Terms) == 0 {
			for i := range out {
				out[i] = x.Const
			}
			return
		}
		vec.Affine(out, v[x.Terms[0].Of], x.Terms[0].Coef, x.Const)
		for _, t := range x.Terms[1:] {
			vec.AddScaled(out, t.Coef, v[t.Of])
		}
	case Apply:
		if f, ok := x.F.(rowFunction); ok {
			f.Values(out, v[x.A])
			return
		}
		for i, y := range v[x.A] {
			out[i] = x.F.Value(y)
		}
	case Times:
		vec.Mul(out, v[x.A], v[x.B])
	case Over:
		for i, y := range v[x.A] {
			out[i] = y / v[x.B][i]
		}
	case Power:
		for i, y := range v[x.A] {
			out[i] = math.Pow(y, v[x.B][i])
		}
	case Call:
		var room [3]float64
		for i := range out {
			if i > 0 && x.same(v, i) {
				out[i] = out[i-1]
			} else {
				out[i] = x.Call.ValueOf(x.numbers(room[:], v, i))
			}
		}
	}
}

// same reports whether the operands of a Call are at point i what they are at the one before: parameters are at all.
func (x *Step) same(v [][]float64, i int) bool {
	for _, o := range x.Args {
		if v[o][i] != v[o][i-1] {
			return false
		}
	}
	return true
}

// numbers are those of the operands of a Call at point i.
func (x *Step) numbers(room []float64, v [][]float64, i int) []float64 {
	for k, o := range x.Args {
		room[k] = v[o][i]
	}
	return room[:len(x.Args)]
}

// Slopes are the derivatives of Φ at the points of the last Values, a row for each of Latents: views, valid until the next call.
func (b *CurveBatch) Slopes() [][]float64 { return b.slopes(b.v) }

// SlopesBeside are Slopes at the points that differ from those of the last Values in latent k of Latents, which is x.
func (b *CurveBatch) SlopesBeside(k int, x []float64) [][]float64 {
	if b.beside == nil {
		b.beside, b.mixed = rows(len(b.c.steps), b.most), make([][]float64, len(b.c.steps))
	}
	for s, moves := range b.c.uses[k] {
		switch {
		case !moves:
			b.mixed[s] = b.v[s]
		case s == b.c.leaf[k]:
			b.mixed[s] = x[:b.n]
		case b.c.back.reads[s]:
			b.mixed[s] = b.beside[s][:b.n]
			b.run(b.mixed, s)
		}
	}
	return b.slopes(b.mixed)
}

func (b *CurveBatch) slopes(v [][]float64) [][]float64 {
	back := &b.c.back
	if b.adj == nil {
		b.adj, b.out = rows(len(b.c.steps), b.most), make([][]float64, len(b.c.latents))
		for s := range b.adj {
			vec.Fill(b.adj[s], back.constant[s])
			b.adj[s] = b.adj[s][:b.n]
		}
	}
	for _, s := range back.varying {
		vec.Fill(b.adj[s], back.constant[s])
	}
	for _, s := range back.pulls {
		b.pull(b.adj, v, s)
	}
	for k, s := range b.c.leaf {
		b.out[k] = b.adj[s]
	}
	return b.out
}

// pull adds the adjoint of a step to those of its operands.
func (b *CurveBatch) pull(adj, v [][]float64, s int) {
	x, g := &b.c.steps[s], adj[s]
	switch x.Kind {
	case Affine:
		for _, t := range x.Terms {
			vec.AddScaled(adj[t.Of], t.Coef, g)
		}
	case Apply:
		if f, ok := x.F.(rowFunction); ok {
			f.AddSlopes(adj[x.A], g, v[x.A], v[s])
			return
		}
		for i, y := range g {
			adj[x.A][i] += float64(y * x.F.Slope(v[x.A][i], v[s][i]))
		}
	case Times:
		vec.AddMul(adj[x.A], g, v[x.B])
		vec.AddMul(adj[x.B], g, v[x.A])
	case Over:
		for i, y := range g {
			by := v[x.B][i]
			adj[x.A][i] += y / by
			adj[x.B][i] -= float64(y * v[s][i] / by)
		}
	case Power:
		for i, y := range g {
			base, p := v[x.A][i], v[x.B][i]
			adj[x.A][i] += float64(y * p * math.Pow(base, p-1))
			if b.c.steps[x.B].Kind != Affine || len(b.c.steps[x.B].Terms) > 0 {
				adj[x.B][i] += float64(y * v[s][i] * math.Log(base))
			}
		}
	case Call:
		var room, slopes [3]float64
		for i, y := range g {
			known := i > 0 && x.same(v, i)
			numbers := x.numbers(room[:], v, i)
			for k, o := range x.Args {
				if isNumber(b.c.steps[o]) {
					continue
				}
				if !known {
					slopes[k] = x.Call.SlopeOf(k, numbers, v[s][i])
				}
				adj[o][i] += float64(y * slopes[k])
			}
		}
	}
}

// isNumber reports whether x is the same everywhere.
func isNumber(x Step) bool { return x.Kind == Affine && len(x.Terms) == 0 }

// A signSet says which signs numbers can have.
type signSet uint8

const (
	negative signSet = 1 << iota
	zero
	positive
)

const anySign = negative | zero | positive

func signOf(x float64) signSet {
	switch {
	case x < 0:
		return negative
	case x > 0:
		return positive
	case x == 0:
		return zero
	}
	return anySign
}

// times are the signs of products.
func (s signSet) times(t signSet) (out signSet) {
	if (s|t)&zero != 0 {
		out |= zero
	}
	if s&positive != 0 && t&positive != 0 || s&negative != 0 && t&negative != 0 {
		out |= positive
	}
	if s&positive != 0 && t&negative != 0 || s&negative != 0 && t&positive != 0 {
		out |= negative
	}
	return out
}

// plus are the signs of sums.
func (s signSet) plus(t signSet) signSet {
	switch both := s | t; {
	case s == zero:
		return t
	case t == zero:
		return s
	case both&(negative|positive) == negative|positive:
		return anySign
	case s&zero == 0 || t&zero == 0:
		return both &^ zero
	default:
		return both
	}
}

// signOf are the signs that a step can have.
func (c *Curve) signOf(x Step) signSet {
	switch x.Kind {
	case Affine:
		out := signOf(x.Const)
		for _, t := range x.Terms {
			out = out.plus(signOf(t.Coef).times(c.signs[t.Of]))
		}
		return out
	case Apply:
		switch {
		case x.F.Positive():
			return positive
		case x.F.Increasing() && x.F.Value(0) == 0:
			return c.signs[x.A]
		}
		if r, n := x.F.Inverse(-1); n == 2 && math.IsNaN(r[0]) { // an even function
			return zero | positive
		}
	case Times:
		return c.signs[x.A].times(c.signs[x.B])
	case Over:
		return c.signs[x.A].times(c.signs[x.B]) | zero&c.signs[x.A]
	case Power:
		switch p := c.exponent(x); {
		case c.signs[x.A] == positive:
			return positive
		case p > 0 && math.Mod(p, 2) == 1:
			return c.signs[x.A]
		case p > 0 && math.Mod(p, 2) == 0:
			return zero | positive
		}
	}
	return anySign
}

// trend are the signs that the derivative of each step with respect to step g can have.
func (c *Curve) trend(g int) []signSet {
	d := slices.Repeat([]signSet{zero}, len(c.steps))
	d[g] = positive
	for s, x := range c.steps {
		if s == g {
			continue
		}
		a, b := zero, zero
		if x.Kind != Coordinate && x.Kind != Affine && x.Kind != Call {
			a = d[x.A]
			if x.Kind != Apply {
				b = d[x.B]
			}
		}
		switch x.Kind {
		case Affine:
			for _, t := range x.Terms {
				d[s] = d[s].plus(signOf(t.Coef).times(d[t.Of]))
			}
		case Apply:
			switch {
			case a == zero:
			case x.F.Increasing():
				d[s] = a
			case c.evenPositive(x):
				d[s] = a
			default:
				d[s] = anySign
			}
		case Times:
			d[s] = a.times(c.signs[x.B]).plus(b.times(c.signs[x.A]))
		case Over:
			d[s] = a.times(c.signs[x.B]).plus(negative.times(b).times(c.signs[x.A]))
			if b != zero && c.signs[x.B] != positive && c.signs[x.B] != negative {
				d[s] = anySign // a pole
			}
		case Call:
			for k, o := range x.Args {
				switch {
				case d[o] == zero:
				case k == 0 && x.Call.HasFirst():
					d[s] = d[o]
				default:
					d[s] = anySign
				}
			}
		case Power:
			switch {
			case b != zero, c.signs[x.A] != positive && a != zero:
				d[s] = anySign
			default:
				d[s] = a.times(c.signs[x.B])
			}
		}
	}
	return d
}

// evenPositive reports whether x is a square, or the like, of what is always positive: it increases there.
func (c *Curve) evenPositive(x Step) bool {
	r, n := x.F.Inverse(-1)
	return n == 2 && math.IsNaN(r[0]) && c.signs[x.A] == positive
}
