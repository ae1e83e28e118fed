package regions

import (
	"fmt"
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// A pivot says how Φ = 0 is solved for one latent: from the last step down to the latent's, in moves that each turn the value that a
// step must have into the value that a step below it must have.
type pivot struct {
	wrong string // why it cannot be solved
	moves []move
	roots int // at most so many

	direct   bool // there is one root or none, and all moves invert a step
	straight bool // all of these are of sums
	separate bool // Φ is a function of the latent plus what does not depend on it
	trend    int  // of Φ with the latent

	limits []limit
}

// A move goes from a step to one below it.
type move struct {
	from, to int
	how      method
	between  []int // of affine and monotone moves: the steps that change with to, ascending, to itself left out
	up       bool  // of monotone moves: from increases with to
}

type method uint8

const (
	invert    method = iota // to is the only operand that depends on the latent
	affine                  // from is A·to + B
	quadratic               // from is A·to² + B·to + C
	monotone                // from increases strictly with to, or decreases
)

const mostRoots = 4

// newPivot is what there is to know of latent k.
func (c *Curve) newPivot(k int) pivot {
	p := c.solution(k)
	p.separate = c.isSeparate(k)
	p.limits = c.limits(k)
	switch c.trend(c.leaf[k])[len(c.steps)-1] {
	case positive:
		p.trend = 1
	case negative:
		p.trend = -1
	}
	return p
}

// solution finds the moves for latent k.
func (c *Curve) solution(k int) pivot {
	p := pivot{roots: 1, direct: true, straight: true}
	on := c.uses[k]
	for at := len(c.steps) - 1; at != c.leaf[k]; {
		m, wrong := c.nextMove(at, c.leaf[k], on)
		if wrong != "" {
			return pivot{wrong: wrong}
		}
		if p.roots *= c.rootsOf(m); p.roots > mostRoots {
			return pivot{wrong: fmt.Sprintf("it has more than %d roots", mostRoots)}
		}
		p.moves = append(p.moves, m)
		p.direct = p.direct && m.how == invert && p.roots == 1
		p.straight = p.straight && m.how == invert && c.steps[at].Kind == Affine
		at = m.to
	}
	return p
}

// rootsOf is how many roots a move has at most.
func (c *Curve) rootsOf(m move) int {
	x := c.steps[m.from]
	switch {
	case m.how == quadratic, m.how == invert && x.Kind == Power && m.to == x.A && math.Mod(c.exponent(x), 2) == 0:
		return 2
	case m.how == invert && x.Kind == Apply:
		_, n := x.F.Inverse(1)
		return n
	}
	return 1
}

// exponent is that of a power if it is a whole number other than 0, and else 0.5.
func (c *Curve) exponent(x Step) float64 {
	p := c.steps[x.B]
	if p.Kind == Affine && len(p.Terms) == 0 && p.Const == math.Trunc(p.Const) && p.Const != 0 {
		return p.Const
	}
	return 0.5
}

// Straight reports whether Φ is a multiple of latent k of Latents plus what does not depend on it, by sums alone.
func (c *Curve) Straight(k int) bool { return c.pivots[k].straight }

// Separate reports whether Φ is a function of latent k of Latents plus what does not depend on it.
func (c *Curve) Separate(k int) bool { return c.pivots[k].separate }

// Trend is 1 if Φ increases strictly with latent k of Latents wherever the others are, −1 if it decreases, and 0 if that is not known.
func (c *Curve) Trend(k int) int { return c.pivots[k].trend }

// isSeparate is Separate.
func (c *Curve) isSeparate(k int) bool {
	for s, x := range c.steps {
		if !c.uses[k][s] || x.Kind == Affine {
			continue
		}
		for other := range c.latents {
			if other != k && c.uses[other][s] {
				return false
			}
		}
	}
	return true
}

// nextMove is a move from step at towards leaf.
func (c *Curve) nextMove(at, leaf int, on []bool) (move, string) {
	x := c.steps[at]
	below := -1
	several := false
	for o := range x.operands {
		if on[o] {
			several = several || below >= 0
			below = o
		}
	}
	if !several {
		if wrong := c.cannotInvert(x, below); wrong != "" {
			return move{}, wrong
		}
		return move{from: at, to: below, how: invert}, ""
	}
	// The lowest step through which all paths from at to the leaf go may be in the way twice, but affinely.
	for g := range c.gates(at, leaf, on) {
		switch between, degree := c.degreeIn(at, g); degree {
		case 1:
			return move{from: at, to: g, how: affine, between: between}, ""
		case 2:
			return move{from: at, to: g, how: quadratic, between: between}, ""
		}
	}
	switch d := c.trend(leaf)[at]; d {
	case positive, negative:
		m := move{from: at, to: leaf, how: monotone, up: d == positive}
		for s := leaf + 1; s <= at; s++ {
			if on[s] {
				m.between = append(m.between, s)
			}
		}
		return m, ""
	}
	return move{}, "it occurs more than once, and what is compared neither is affine in it nor increases or decreases throughout"
}

// cannotInvert says why step x cannot be solved for its operand.
func (c *Curve) cannotInvert(x Step, operand int) string {
	switch x.Kind {
	case Apply:
		if _, n := x.F.Inverse(1); n == 0 {
			return fmt.Sprintf("%v(…) has no inverse", x.F)
		}
	case Call:
		if operand != x.Args[0] || !x.Call.HasFirst() {
			return fmt.Sprintf("%v cannot be solved for it", x.Call)
		}
	case Power:
		if c.signs[x.A] != positive && (operand != x.A || c.exponent(x) == 0.5) {
			return "it is in a power of what need not be positive"
		}
	}
	return ""
}

// gates yields the steps through which all paths from at down to leaf go, the highest first.
func (c *Curve) gates(at, leaf int, on []bool) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for g := at - 1; g >= leaf; g-- {
			if on[g] && !c.reaches(at, leaf, g, on) && !yield(g) {
				return
			}
		}
	}
}

// reaches reports whether a path goes from at down to leaf, not through without.
func (c *Curve) reaches(at, leaf, without int, on []bool) bool {
	if leaf == without {
		return false
	}
	open := make([]bool, at+1)
	open[at] = true
	for s := at; s > leaf; s-- {
		if open[s] && s != without {
			for o := range c.steps[s].operands {
				open[o] = open[o] || on[o]
			}
		}
	}
	return open[leaf]
}

// degreeIn is the degree of step at as a polynomial in g, whose coefficients are free of the latent, and lists the steps between; it is
// 3 if it is larger, or if the step is no polynomial.
func (c *Curve) degreeIn(at, g int) (between []int, degree int) {
	of := make([]int, at+1)
	of[g] = 1
	for s := g + 1; s <= at; s++ {
		x := c.steps[s]
		for o := range x.operands {
			of[s] = max(of[s], of[o])
		}
		if of[s] == 0 {
			continue
		}
		between = append(between, s)
		switch {
		case x.Kind == Affine, x.Kind == Over && of[x.B] == 0:
		case x.Kind == Times:
			of[s] = of[x.A] + of[x.B]
		case x.Kind == Apply && isSquare(x.F):
			of[s] *= 2
		case x.Kind == Power && of[x.B] == 0 && c.exponent(x) == 2:
			of[s] *= 2
		default:
			of[s] = 3
		}
		of[s] = min(of[s], 3)
	}
	return between, of[at]
}

func isSquare(f Function) bool {
	x, roots := f.Inverse(9)
	return roots == 2 && x[0] == 3 && f.Value(-2) == 4
}

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
	if p.direct {
		b.solveDirect(p)
		return b.inDomain(k)
	}
	for i := range b.n {
		targets, n := [mostRoots]float64{}, 1
		for _, m := range p.moves {
			next, more := [mostRoots]float64{}, 0
			for _, t := range targets[:n] {
				roots, count := b.lower(m, t, i)
				more += copy(next[more:], roots[:count])
			}
			targets, n = next, more
		}
		for r, t := range targets[:p.roots] {
			b.roots[r*b.n+i] = t
			if r >= n || math.IsInf(t, 0) {
				b.roots[r*b.n+i] = math.NaN()
			}
		}
	}
	return b.inDomain(k)
}

// solveDirect is Solve, a move after the other.
func (b *CurveBatch) solveDirect(p *pivot) {
	x := b.roots[:b.n]
	clear(x)
	for _, m := range p.moves {
		b.invertRow(m, x)
	}
	for i, r := range x {
		if r-r != 0 {
			x[i] = math.NaN()
		}
	}
}

// invertRow turns values of step m.from into those of its operand m.to.
func (b *CurveBatch) invertRow(m move, x []float64) {
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
		other := s.A
		if other == m.to {
			other = s.B
		}
		for i, v := range b.v[other][:len(x)] {
			x[i] /= v
		}
	default:
		for i := range x {
			root, _ := b.invert(m, x[i], i)
			x[i] = root[0]
		}
	}
}

// Roots is the largest number of roots that Solve finds for latent k.
func (c *Curve) Roots(k int) int { return c.pivots[k].roots }

// lower is the value that m.to must have at point i for m.from to be target.
func (b *CurveBatch) lower(m move, target float64, i int) (x [2]float64, roots int) {
	if m.how == invert {
		return b.invert(m, target, i)
	}
	b.goTo(m, i)
	switch m.how {
	case affine:
		at0, at1 := b.at(0), b.at(1)
		x[0] = (target - at0) / (at1 - at0)
	case quadratic:
		return b.square(target), 2
	case monotone:
		x[0] = b.find(target, b.v[m.to][i])
	}
	return x, 1
}

// invert solves step m.from for its operand m.to.
func (b *CurveBatch) invert(m move, target float64, i int) (x [2]float64, roots int) {
	s := &b.c.steps[m.from]
	switch s.Kind {
	case Affine:
		rest, coef := s.Const, 0.0
		for _, t := range s.Terms {
			if t.Of == m.to {
				coef = t.Coef
			} else {
				rest += float64(t.Coef * b.v[t.Of][i])
			}
		}
		x[0] = (target - rest) / coef
	case Apply:
		return s.F.Inverse(target)
	case Times:
		other := s.A
		if other == m.to {
			other = s.B
		}
		x[0] = target / b.v[other][i]
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
			x[0] = math.NaN()
			x[1] = x[0]
			return x, b.c.rootsOf(m)
		case m.to == s.A:
			x[0] = math.Pow(target, 1/b.v[s.B][i])
			x[1] = -x[0]
			return x, b.c.rootsOf(m)
		default:
			x[0] = math.Log(target) / math.Log(b.v[s.A][i])
		}
	}
	return x, 1
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

// find is the x at which at, strictly monotone, is target: a bracket by steps that double from lo on, then regula falsi with the Illinois
// rule, and bisection wherever that gains too little.
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

// Root is the root of an increasing f between lo and hi, to the last bits.
func Root(f func(float64) float64, lo, flo, hi, fhi float64) float64 {
	if flo == 0 {
		return lo
	}
	side := 0
	for range mostHalvings {
		if fhi == 0 {
			return hi
		}
		middle := lo + (hi-lo)/2
		if !(lo < middle && middle < hi) {
			break
		}
		x, width := (lo*fhi-hi*flo)/(fhi-flo), hi-lo
		if !(lo < x && x < hi) {
			x = middle
		}
		for _, x := range [2]float64{x, middle} {
			if !(lo < x && x < hi) {
				continue
			}
			switch y := f(x); {
			case y == 0:
				return x
			case math.IsNaN(y):
				return y
			case y < 0:
				lo, flo = x, y
				if side < 0 {
					fhi /= 2
				}
				side = -1
			default:
				hi, fhi = x, y
				if side > 0 {
					flo /= 2
				}
				side = 1
			}
			if hi-lo < width/2 {
				break
			}
		}
	}
	if -flo < fhi {
		return lo
	}
	return hi
}
