package regions

import (
	"fmt"
	"math"
)

// A pivot says how Φ = 0 is solved for one latent: from the last step down to the latent's, in moves that each turn the value that a
// step must have into the value that a step below it must have.
type pivot struct {
	wrong string // why it cannot be solved
	moves []move
	roots int // at most so many

	straight bool // all moves invert a sum
	separate bool // Φ is a function of the latent plus what does not depend on it
	trend    int  // of Φ with the latent

	limits []limit
}

// A move goes from a step to one below it.
type move struct {
	from, to int
	how      method
	two      bool  // there may be two roots
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
func (c *formula) newPivot(k int) pivot {
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
func (c *formula) solution(k int) pivot {
	p := pivot{roots: 1, straight: true}
	on := c.uses[k]
	for at := len(c.steps) - 1; at != c.leaf[k]; {
		m, wrong := c.nextMove(at, c.leaf[k], on)
		if wrong != "" {
			return pivot{wrong: wrong}
		}
		if m.two = c.hasTwo(m); m.two {
			p.roots *= 2
		}
		if p.roots > mostRoots {
			return pivot{wrong: fmt.Sprintf("it has more than %d roots", mostRoots)}
		}
		p.moves = append(p.moves, m)
		p.straight = p.straight && m.how == invert && c.steps[at].Kind == Affine
		at = m.to
	}
	return p
}

// hasTwo reports whether a move may have two roots.
func (c *formula) hasTwo(m move) bool {
	x := c.steps[m.from]
	if m.how == invert && x.Kind == Apply {
		_, n := x.F.Inverse(1)
		return n == 2
	}
	return m.how == quadratic || m.how == invert && x.Kind == Power && m.to == x.A && math.Mod(c.exponent(x), 2) == 0
}

// isSeparate is Separate.
func (c *formula) isSeparate(k int) bool {
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
func (c *formula) nextMove(at, leaf int, on []bool) (move, string) {
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
func (c *formula) cannotInvert(x Step, operand int) string {
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
func (c *formula) gates(at, leaf int, on []bool) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for g := at - 1; g >= leaf; g-- {
			if on[g] && !c.reaches(at, leaf, g, on) && !yield(g) {
				return
			}
		}
	}
}

// reaches reports whether a path goes from at down to leaf, not through without.
func (c *formula) reaches(at, leaf, without int, on []bool) bool {
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
func (c *formula) degreeIn(at, g int) (between []int, degree int) {
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

// A limit is a move from the operand of a Limited function.
type limit struct {
	move
	f Limited
}

// limits are those to latent k.
func (c *formula) limits(k int) (list []limit) {
	for _, x := range c.steps {
		f, limited := x.F.(Limited)
		if !limited || !c.uses[k][x.A] {
			continue
		}
		m := limit{move{from: x.A, to: c.leaf[k]}, f}
		for o := m.to + 1; o <= m.from; o++ {
			if c.uses[k][o] {
				m.between = append(m.between, o)
			}
		}
		list = append(list, m)
	}
	return list
}
