package graph

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/facetvi/facet/graph/internal/kernel"
)

// A Builder builds a program from the terms of a density, with some of their
// latents and signs substituted. It has two kinds of inputs beside those of the density:
// points, values that stand for latents, and signs at these points. Package
// boundary builds the jumps of a density with it.
type Builder struct {
	d      *Density
	terms  []term  // of log r
	affect [][]int // for each hyperplane, the terms that depend on its sign
	pairs  int     // of a sign and a term in affect
	flips  *flips
	sz     sizes
}

// Limits of a builder. A state that depends on the signs of all steps before it
// has steps²/2 pairs of a sign and a term that depends on it; where the latents of
// all later steps move with a sign's, each pair has expressions of its own.
const (
	maxPairs       = 1 << 24
	maxExpressions = 1 << 22
)

// A Substitution says what takes the place of latents and signs. Each function
// is asked for the ones that occur, and returns false to keep one.
type Substitution struct {
	Latent func(i int) (Expr, bool)
	Sign   func(l int) (Guard, bool)
}

func (s Substitution) latent(i int) (x Expr, ok bool) {
	if s.Latent == nil {
		return x, false
	}
	return s.Latent(i)
}

func (s Substitution) sign(l int) (g Guard, ok bool) {
	if s.Sign == nil {
		return g, false
	}
	return s.Sign(l)
}

// NewBuilder returns a builder for the terms of d. It adds expressions to the
// store of the model, so only one may be at work at a time: call it inside
// Cached.
func NewBuilder(d *Density) *Builder {
	b := &Builder{d: d, terms: d.made().outs[0].terms, sz: d.sizes(), affect: make([][]int, d.arr.Len())}
	b.flips = newFlips(b)
	below := make([]uint64, len(b.flips.users))
	for l := 0; l < len(b.affect) && b.pairs <= maxPairs; l += 64 {
		b.mark(l, min(l+64, len(b.affect)), below)
	}
	return b
}

// mark makes the lists of the signs with numbers from … to, at most 64 of them. below has a bit for each of these signs: for each
// node, which of them it depends on. It is all 0 before and after. So the time is that of the nodes that depend on any of the 64:
// few where steps are local, and all of them, once for 64 signs, where each step depends on those before it.
func (b *Builder) mark(from, to int, below []uint64) {
	var above []nodeID
	reach := func(id nodeID, signs uint64) {
		if below[id] == 0 {
			above = append(above, id)
		}
		below[id] |= signs
	}
	for l := from; l < to; l++ {
		if sign := b.d.st.leaf(kSign, l); int(sign) < len(below) {
			reach(sign, 1<<(l-from))
		}
	}
	for k := 0; k < len(above); k++ {
		for _, user := range b.flips.users[above[k]] {
			reach(user, below[above[k]])
		}
	}
	slices.Sort(above) // operands before what uses them
	var terms []int
	for _, id := range above {
		for _, user := range b.flips.users[id] {
			below[user] |= below[id]
		}
		if t := b.flips.termOf[id]; t > 0 {
			terms = append(terms, t-1)
		}
	}
	slices.Sort(terms)
	for _, t := range terms {
		signs := below[b.terms[t].atom]
		b.pairs += bits.OnesCount64(signs)
		for ; signs != 0; signs &= signs - 1 {
			l := from + bits.TrailingZeros64(signs)
			b.affect[l] = append(b.affect[l], t)
		}
	}
	for _, id := range above {
		below[id] = 0
	}
}

// Point adds a row to the program's Points and returns its value.
func (b *Builder) Point() Expr {
	b.sz.points++
	return Expr{m: b.d.m, id: b.d.st.leaf(kPoint, b.sz.points-1)}
}

// PointSign adds a row to the program's PointSigns and returns it as a guard.
func (b *Builder) PointSign() Guard {
	b.sz.pointSigns++
	return Guard{value: Expr{m: b.d.m, id: b.d.st.leaf(kPointSign, b.sz.pointSigns-1)}}
}

// Number is a constant.
func (b *Builder) Number(x float64) Expr { return Expr{m: b.d.m, id: b.d.st.constant(x)} }

// LogProb is log r.
func (b *Builder) LogProb() Expr {
	return Expr{m: b.d.m, id: b.d.st.affineSum(b.d.of.c, b.d.of.terms)}
}

// Always is the guard that always holds, or never.
func (b *Builder) Always(holds bool) Guard { return constantGuard(b.d.m, holds) }

// Jump is the change of log r from the − to the + side of hyperplane l, with sub
// made in it: at a point of the hyperplane, if sub gives the latents and the
// other signs there. It does not ask sub for the sign of l. Terms of log r that
// do not depend on the sign are the same on both sides, and not asked for. A quotient
// whose denominator is a multiple of Φ is infinite, with its sign on either side.
func (b *Builder) Jump(l int, sub Substitution) Expr {
	if b.tooMany() != nil { // an error of Compile
		return b.Number(0)
	}
	sign := b.d.st.leaf(kSign, l)
	moved, fixed, gateway := b.affect[l], func(nodeID) bool { return false }, sign
	if b.flips.hasFormula(sign) {
		moved, fixed, gateway = b.moved(l, sub)
	}
	smooth := b.smooth(l)
	rewritten := func(holds bool) *rewriter {
		forced := sub
		forced.Sign = func(k int) (Guard, bool) {
			if k == l {
				return b.Always(holds), true
			}
			return sub.sign(k)
		}
		return &rewriter{m: b.d.m, sub: forced, done: map[nodeID]nodeID{}, fixed: fixed, smooth: smooth, pole: b.poleOn(l, holds)}
	}
	on, off := rewritten(true), rewritten(false)
	off.on = on
	jump := b.d.st.sum(1, b.sum(moved, on), -1, b.sum(moved, off))
	if len(moved) < len(b.affect[l]) {
		rest := b.flips.of(gateway, moved)
		if gateway != sign {
			rest = b.d.st.flip(on.rewrite(gateway), off.rewrite(gateway), rest)
		}
		jump = b.d.st.sum(1, jump, 1, rest)
	}
	return Expr{m: b.d.m, id: jump}
}

// poleOn is what denominators are that are multiples of Φ of plane l on one of its sides.
func (b *Builder) poleOn(l int, positive bool) func(nodeID) (float64, bool) {
	at := algebra{b.d.st, b.d.arr, b.d.m.features, b.d.Dim() - anyDim}
	return func(id nodeID) (float64, bool) {
		ratio, is := at.multiple(l, b.d.st.expand(id))
		if !positive {
			ratio = -ratio
		}
		return math.Copysign(math.SmallestNonzeroFloat64, ratio), is
	}
}

// smooth reports of selects whether they are continuous on plane l.
func (b *Builder) smooth(l int) func(node) bool {
	known := map[[3]nodeID]bool{}
	return func(n node) bool {
		return remembered(known, [3]nodeID{n.a, n.b, n.c}, func() bool { return b.d.smooth(n, l) })
	}
}

// moved are those of the terms on the sign of l that sub changes also elsewhere, and
// fixed are nodes in them that change neither so nor with the sign. The other terms
// depend on both only through a formula, gateway, which is the sign itself where sub
// leaves them as they are.
func (b *Builder) moved(l int, sub Substitution) (terms []int, fixed func(nodeID) bool, gateway nodeID) {
	sign := b.d.st.leaf(kSign, l)
	how := make([]uint8, len(b.flips.users))
	terms, gateway = b.marked(how, l, sub, bySub), sign
	if len(terms) > 0 {
		for _, exit := range b.flips.exits(sign) {
			without := make([]uint8, len(how))
			without[exit] = known
			if near := b.marked(without, l, sub, bySub|bySign); len(near) < len(terms) {
				terms, gateway = near, exit
			}
		}
	}
	return terms, func(id nodeID) bool { return int(id) < len(how) && how[id] == known }, gateway
}

// How a node depends on what changes at a point.
const (
	bySub uint8 = 1 << iota
	bySign
	known // so far as is known
)

// marked are those of the terms on the sign of l that change in one of the given ways.
// It completes how, by node.
func (b *Builder) marked(how []uint8, l int, sub Substitution, ways uint8) (terms []int) {
	var mark func(id nodeID) uint8
	mark = func(id nodeID) uint8 {
		if how[id] != 0 {
			return how[id]
		}
		at := known
		switch n := b.d.st.at(id); {
		case n.kind == kLatent:
			if _, ok := sub.latent(int(n.a)); ok {
				at |= bySub
			}
		case n.kind == kSign && int(n.a) == l:
			at |= bySign
		case n.kind == kSign:
			if _, ok := sub.sign(int(n.a)); ok {
				at |= bySub
			}
		default:
			n.operands(func(o nodeID) { at |= mark(o) })
		}
		how[id] = at
		return at
	}
	for _, t := range b.affect[l] {
		if mark(b.terms[t].atom)&ways != 0 {
			terms = append(terms, t)
		}
	}
	return terms
}

// sum is the sum of the terms with the given numbers, rewritten.
func (b *Builder) sum(terms []int, w *rewriter) nodeID {
	sum := make([]term, len(terms))
	for i, t := range terms {
		sum[i] = term{w.rewrite(b.terms[t].atom), b.terms[t].coef}
	}
	o := b.d.st.total(0, sum)
	return b.d.st.affineSum(o.c, o.terms)
}

// tooMany is an error if there are too many pairs or expressions.
func (b *Builder) tooMany() error {
	what, most := "pairs in which the term depends on the guard", maxPairs
	switch {
	case b.pairs > maxPairs:
	case b.d.st.len()-b.d.nodes.len() > maxExpressions:
		what, most = "expressions for the jumps", maxExpressions
	default:
		return nil
	}
	return fmt.Errorf("graph: %d guards and %d terms of the log density: more than %d %s; let the program's states depend on fewer of the steps before them",
		b.d.arr.Len(), len(b.terms), most, what)
}

// usesFlip reports whether a flip is part of id other than as a summand.
func (b *Builder) usesFlip(id nodeID) bool {
	_, terms := b.d.st.parts(id)
	return slices.ContainsFunc(terms, func(t term) bool {
		return b.d.st.head(t.atom).kind != kFlip && b.flips.hasFlip(t.atom)
	})
}

// Compile makes the program whose output rows are outs. Its gradient is that of
// log r, like the density's own: what outputs and gradient have in common is
// computed once.
func (b *Builder) Compile(outs []Expr) (*Program, error) {
	if err := cmp.Or(b.d.m.err, b.tooMany()); err != nil {
		return nil, err
	}
	for _, o := range outs {
		if b.usesFlip(o.in(b.d.m)) {
			return nil, errors.New("graph: a jump can be an output, or be added to others and scaled, but not be transformed")
		}
	}
	rows := make([]output, len(outs))
	for i, o := range outs {
		rows[i] = b.d.st.linearise(b.d.st.factor(b.d.st.total(0, []term{{o.in(b.d.m), 1}})))
	}
	return newProgram(b.d.st, rows, b.d.of, b.sz)
}

// factor joins terms data·a and data·b to data·(a + b): the jump of a count's
// log probability k·log λ is k times one difference.
func (s *store) factor(o output) output {
	byData := map[nodeID][]term{}
	for _, t := range o.terms {
		if n := s.at(t.atom); n.kind == kBinary && n.fn == kernel.MulData {
			byData[n.a] = append(byData[n.a], term{n.b, t.coef})
		}
	}
	sum := make([]term, 0, len(o.terms))
	for _, t := range o.terms {
		n := s.at(t.atom)
		if n.kind != kBinary || n.fn != kernel.MulData || len(byData[n.a]) == 1 {
			sum = append(sum, t)
			continue
		}
		if joined := byData[n.a]; joined != nil {
			f := s.total(0, joined)
			sum = append(sum, term{s.mulData(n.a, s.affineSum(f.c, f.terms)), 1})
			byData[n.a] = nil
		}
	}
	return s.total(o.c, sum)
}

// linearise replaces sums Σ c_i·(L + s_i)² with Σ c_i = 0 by what is left of
// them, Σ c_i·(2·L·s_i + s_i²), where L is what depends on the samples and s_i
// are numbers and step functions: the jump of a normal log density whose mean
// jumps is linear.
func (s *store) linearise(o output) output {
	type square struct{ term, step term }
	groups := map[nodeID][]square{}
	var rest []term
	for _, t := range o.terms {
		l, step, ok := s.splitSquare(t.atom)
		if !ok {
			rest = append(rest, t)
			continue
		}
		groups[l] = append(groups[l], square{t, step})
	}
	for _, l := range slices.Sorted(maps.Keys(groups)) {
		sum, size := 0.0, 0.0
		for _, q := range groups[l] {
			sum += q.term.coef
			size += math.Abs(q.term.coef)
		}
		for _, q := range groups[l] {
			if math.Abs(sum) > 1e-15*size {
				rest = append(rest, q.term)
				continue
			}
			c, step := q.term.coef, q.step
			rest = append(rest, term{s.mul(step.atom, l), 2 * c * step.coef}, term{s.unary(kernel.Square, step.atom), c})
		}
	}
	return s.total(o.c, rest)
}

// splitSquare writes (L + s)² or (−L + s)² as L and the step function ±s. The
// sign makes the first coefficient of L positive.
func (s *store) splitSquare(id nodeID) (l nodeID, step term, ok bool) {
	if !s.isUnary(id, kernel.Square) {
		return 0, term{}, false
	}
	v, terms := s.parts(s.at(id).a)
	var smooth, steps []term
	for _, t := range terms {
		if s.like(t.atom).steps {
			steps = append(steps, t)
		} else {
			smooth = append(smooth, t)
		}
	}
	if len(smooth) == 0 {
		return 0, term{}, false
	}
	sign := 1.0
	if smooth[0].coef < 0 {
		sign = -1
		smooth = slices.Clone(smooth)
		for i := range smooth {
			smooth[i].coef = -smooth[i].coef
		}
	}
	return s.affineSum(0, smooth), term{s.affineSum(v, steps), sign}, true
}

// ExecutorOf returns an executor of a program derived from this density, or
// from one of the same model with other data.
func (d *Density) ExecutorOf(p *Program, n int, w Compute) (*Executor, error) {
	if p.st != d.made().st {
		return nil, fmt.Errorf("graph: the program is derived from another model")
	}
	return p.executor(n, w, d.data)
}
