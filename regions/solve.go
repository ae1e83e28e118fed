package regions

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// Solve finds the points of Φ = 0 that differ from those of the last Values in latent k of Latents: its value, in a row for each of
// Roots(k), NaN where there is none. The rows are views, valid until the next call.
func (b *CurveBatch) Solve(k int) []float64 {
	p := &b.c.pivots[k]
	if p.wrong != "" {
		panic("regions: " + p.wrong)
	}
	if b.roots == nil {
		b.roots = make([]float64, mostRoots*b.most)
	}
	targets := b.roots[:b.n]
	clear(targets)
	for _, m := range p.moves {
		n := len(targets)
		if m.two {
			targets = b.roots[:2*n]
		}
		b.lower(m, targets[:n], targets[n:])
	}
	for i, x := range targets {
		if x-x != 0 { // infinite, or NaN
			targets[i] = math.NaN()
		}
	}
	return b.inDomain(k, targets)
}

// lower turns values of step m.from, of all points one time or more, into those that m.to must have, and into others of its two roots.
func (b *CurveBatch) lower(m move, x, other []float64) {
	for ; len(x) > 0; x = x[b.n:] {
		row := x[:b.n]
		if m.how == invert && b.invertSum(m, row) {
			continue
		}
		for i, target := range row {
			var roots [2]float64
			switch m.how {
			case invert:
				roots = b.invert(m, target, i)
			case affine:
				b.goTo(m, i)
				at0, at1 := b.at(0), b.at(1)
				roots[0] = (target - at0) / (at1 - at0)
			case quadratic:
				b.goTo(m, i)
				roots = b.square(target)
			case monotone:
				b.goTo(m, i)
				roots[0] = b.find(target, b.v[m.to][i])
			}
			if row[i] = roots[0]; len(other) > 0 {
				other[i] = roots[1]
			}
		}
		other = other[min(b.n, len(other)):]
	}
}

// invertSum turns values of step m.from, if that is a sum or a product, into those of its operand m.to.
func (b *CurveBatch) invertSum(m move, x []float64) bool {
	switch s := &b.c.steps[m.from]; s.Kind {
	case Affine:
		coef := 0.0
		if s.Const != 0 {
			vec.Affine(x, x, 1, -s.Const)
		}
		for _, t := range s.Terms {
			if t.Of == m.to {
				coef = t.Coef
				continue
			}
			vec.AddScaled(x, -t.Coef, b.v[t.Of])
		}
		if coef != 1 {
			for i := range x {
				x[i] /= coef
			}
		}
	case Times:
		for i, v := range b.v[s.A+s.B-m.to][:len(x)] {
			x[i] /= v
		}
	default:
		return false
	}
	return true
}

// invert solves step m.from, which is neither, for its operand m.to.
func (b *CurveBatch) invert(m move, target float64, i int) (x [2]float64) {
	s := &b.c.steps[m.from]
	switch s.Kind {
	case Apply:
		x, _ = s.F.Inverse(target)
	case Over:
		if m.to == s.A {
			x[0] = target * b.v[s.B][i]
		} else {
			x[0] = b.v[s.A][i] / target
		}
	case Call:
		var room [3]float64
		x[0] = s.Call.First(target, s.numbers(room[:], b.v, i))
	case Power:
		switch p := b.c.exponent(*s); {
		case m.to == s.A && p != 0.5 && math.Mod(p, 2) != 0: // odd
			x[0] = math.Copysign(math.Pow(math.Abs(target), 1/p), target)
		case !(target > 0):
			x = [2]float64{math.NaN(), math.NaN()}
		case m.to == s.A:
			x[0] = math.Pow(target, 1/b.v[s.B][i])
			x[1] = -x[0]
		default:
			x[0] = math.Log(target) / math.Log(b.v[s.A][i])
		}
	}
	return x
}

// square are the two x at which a quadratic, at, is target. The coefficients come from its values at 0 and ±1, and a step of Newton's method
// takes back what rounding cost there.
func (b *CurveBatch) square(target float64) [2]float64 {
	c, up, down := b.at(0)-target, b.at(1)-target, b.at(-1)-target
	a, half := (up+down)/2-c, (up-down)/4 // a·x² + 2·half·x + c
	root := math.Sqrt(half*half - a*c)
	far := -(half + math.Copysign(root, half)) // a times the root that is further from 0
	x := [2]float64{far / a, c / far}
	for r := range x {
		if slope := 2 * (a*x[r] + half); slope != 0 {
			if next := x[r] - (b.at(x[r])-target)/slope; next-next == 0 {
				x[r] = next
			}
		}
	}
	return x
}

// goTo prepares at for a move at point i.
func (b *CurveBatch) goTo(m move, i int) {
	if b.spare == nil {
		b.spare, b.one = rows(len(b.c.steps), 1), make([][]float64, len(b.c.steps))
	}
	for s, v := range b.v {
		b.one[s] = v[i : i+1]
	}
	b.one[m.to], b.move = b.spare[m.to], m
	for _, s := range m.between {
		b.one[s] = b.spare[s]
	}
}

// at is the step that the move is from, with x in place of the one that it goes to.
func (b *CurveBatch) at(x float64) float64 {
	b.one[b.move.to][0] = x
	for _, s := range b.move.between {
		b.run(b.one, s)
	}
	return b.one[b.move.from][0]
}

const (
	mostEvaluations = 400  // to find a bracket
	mostHalvings    = 2200 // of a bracket: down to the least float64
	flatSteps       = 8    // so many steps, each twice as long, without a change say that there is no root
	longStep        = 1024 // if they are longer: eˣ reaches from the least to the greatest float64 in 1500
)

// find is the x at which at, strictly monotone, is target: a bracket by steps that double from lo on, then [Root].
func (b *CurveBatch) find(target, lo float64) float64 {
	evaluations := 0
	f := func(x float64) float64 {
		evaluations++
		if y := b.at(x) - target; b.move.up {
			return y
		} else {
			return -y
		}
	}
	flo := f(lo)
	if math.IsNaN(flo) {
		return flo
	}
	dir := 1.0
	if flo > 0 {
		dir = -1
	}
	step := dir * (0.1 + 0.1*math.Abs(lo))
	hi, fhi, flat := lo, flo, 0
	for fhi*dir < 0 {
		if evaluations > mostEvaluations || flat > flatSteps {
			return math.NaN()
		}
		x := hi + step
		y := f(x)
		switch {
		case math.IsNaN(y) || math.IsInf(x, 0): // beyond where Φ has a value
			step /= 2
			continue
		case y == fhi && math.Abs(step) > longStep:
			flat++
		default:
			flat = 0
		}
		lo, flo = hi, fhi
		hi, fhi = x, y
		step *= 2
	}
	if dir < 0 {
		lo, flo, hi, fhi = hi, fhi, lo, flo
	}
	return Root(f, lo, flo, hi, fhi)
}

// Root is the root of an increasing f between lo and hi, to the last bits: inverse quadratic interpolation where that is sure to gain, and
// bisection elsewhere (Chandrupatla, Advances in Engineering Software 28, 1997).
func Root(f func(float64) float64, lo, flo, hi, fhi float64) float64 {
	a, fa, b, fb := lo, flo, hi, fhi // the last point, and one beyond the root
	t := fa / (fa - fb)              // from a to b
	for range mostHalvings {
		least := (leastStep + ulp*math.Abs(a)) / math.Abs(b-a)
		if fa == 0 || fb == 0 || !(least < 0.5) {
			break
		}
		if math.IsNaN(t) {
			t = 0.5
		}
		x := a + min(max(t, least), 1-least)*(b-a)
		y := f(x)
		if math.IsNaN(y) {
			return y
		}
		c, fc := a, fa
		if (y < 0) != (fa < 0) {
			c, fc, b, fb = b, fb, a, fa
		}
		a, fa, t = x, y, 0.5
		if at, of := (a-b)/(c-b), (fa-fb)/(fc-fb); of*of < at && (1-of)*(1-of) < 1-at {
			t = fa/(fb-fa)*fc/(fb-fc) + (c-a)/(b-a)*fa/(fc-fa)*fb/(fc-fb)
		}
	}
	if math.Abs(fa) < math.Abs(fb) {
		return a
	}
	return b
}

const (
	leastStep = 1e-300
	ulp       = 0x1p-52
	mostSteps = 24  // each twice as long
	farther   = 8.0 // by how much more a root is moved than is needed
)

// inDomain moves roots of Solve(k) that rounding has put on an edge, or beyond, to where Φ has a value: b in a·log(b − 1) = 1, which is
// 1 + e⁻⁹⁹ for a = −1/99.
func (b *CurveBatch) inDomain(k int, roots []float64) []float64 {
	for _, l := range b.c.pivots[k].limits {
		lo, hi := l.f.Domain()
		for r, x := range roots {
			b.goTo(l.move, r%b.n)
			is := func(x float64) bool { v := b.at(x); return lo < v && v < hi }
			if math.IsNaN(x) || is(x) {
				continue
			}
			step := leastStep + ulp*math.Abs(x)
			for range mostSteps {
				if to := x + step; is(to) {
					roots[r] = x + farther*step
					break
				}
				if to := x - step; is(to) {
					roots[r] = x - farther*step
					break
				}
				step *= 2
			}
		}
	}
	return roots
}
