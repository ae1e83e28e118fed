package derive

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lower"
)

// A Builder builds a program from the terms of a density, with some of their
// latents and signs substituted. It has two kinds of inputs beside those of the density:
// points, values that stand for latents, and signs at these points. Package
// boundary builds the jumps of a density with it.
type Builder struct {
	logTerms
	of     *ir.Output // log r
	affect [][]int    // for each hyperplane, the terms that depend on its sign
	pairs  int        // of a sign and a term in affect
	flips  *flips
	sz     lower.Sizes
}

// Limits of a builder. A state that depends on the signs of all steps before it
// has steps²/2 pairs of a sign and a term that depends on it; where the latents of
// all later steps move with a sign's, each pair has expressions of its own.
const (
	maxPairs       = 1 << 24
	maxExpressions = 1 << 22
)

// Builder returns a builder of programs from the terms of d. It adds expressions to the
// store of the model, so only one may be at work at a time: call it inside Cached.
func (d Density) Builder() *Builder {
	p := d.Program
	b := &Builder{logTerms: logTerms{p.Store, ir.ID(d.Nodes.Len()), d.Planes, p.Outs[0].Terms}, of: p.Of, sz: p.Sizes, affect: make([][]int, d.Arr.Len())}
	b.flips = newFlips(&b.logTerms, d.Nodes)
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
	var above []ir.ID
	reach := func(id ir.ID, signs uint64) {
		if below[id] == 0 {
			above = append(above, id)
		}
		below[id] |= signs
	}
	for l := from; l < to; l++ {
		if sign := b.Store.Leaf(ir.Sign, l); int(sign) < len(below) {
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
		signs := below[b.terms[t].Atom]
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
func (b *Builder) Point() ir.ID {
	b.sz.Points++
	return b.Store.Leaf(ir.Point, b.sz.Points-1)
}

// PointSign adds a row to the program's PointSigns and returns it as a formula.
func (b *Builder) PointSign() ir.ID {
	b.sz.PointSigns++
	return b.Store.Leaf(ir.PointSign, b.sz.PointSigns-1)
}

// Number is a constant.
func (b *Builder) Number(x float64) ir.ID { return b.Store.Constant(x) }

// LogProb is log r.
func (b *Builder) LogProb() ir.ID { return b.Store.AffineSum(b.of.C, b.of.Terms) }

// Always is the formula that always holds, or never.
func (b *Builder) Always(holds bool) ir.ID { return b.Number(ir.Indicator(holds)) }

// Jump is the change of log r from the − to the + side of hyperplane l, with sub
// made in it: at a point of the hyperplane, if sub gives the latents and the
// other signs there. It does not ask sub for the sign of l. Terms of log r that
// do not depend on the sign are the same on both sides, and not asked for. A quotient
// whose denominator is a multiple of Φ is infinite, with its sign on either side.
func (b *Builder) Jump(l int, sub ir.Substitution) ir.ID {
	if b.tooMany() != nil { // an error of Compile
		return b.Number(0)
	}
	sign := b.Store.Leaf(ir.Sign, l)
	moved, fixed, gateway := b.affect[l], func(ir.ID) bool { return false }, sign
	if b.flips.hasFormula(sign) {
		moved, fixed, gateway = b.moved(l, sub)
	}
	smooth := b.smooth(l)
	rewritten := func(holds bool) *ir.Rewriter {
		forced := sub
		forced.Sign = func(k int) (ir.ID, bool) {
			if k == l {
				return b.Always(holds), true
			}
			return sub.At(ir.Node{Kind: ir.Sign, A: ir.ID(k)})
		}
		w := ir.NewRewriter(b.Store, forced)
		w.Fixed, w.Smooth, w.Pole = fixed, smooth, b.poleOn(l, holds)
		return w
	}
	on, off := rewritten(true), rewritten(false)
	off.On = on
	jump := b.Store.Sum(1, b.sum(moved, on), -1, b.sum(moved, off))
	if len(moved) < len(b.affect[l]) {
		rest := b.flips.of(gateway, moved)
		if gateway != sign {
			rest = b.Store.Flip(on.Rewrite(gateway), off.Rewrite(gateway), rest)
		}
		jump = b.Store.Sum(1, jump, 1, rest)
	}
	return jump
}

// poleOn is what denominators are that are multiples of Φ of plane l on one of its sides.
func (b *Builder) poleOn(l int, positive bool) func(ir.ID) (float64, bool) {
	return func(id ir.ID) (float64, bool) {
		ratio, is := b.planes.Multiple(l, b.Store.Expand(id))
		if !positive {
			ratio = -ratio
		}
		return math.Copysign(math.SmallestNonzeroFloat64, ratio), is
	}
}

// moved are those of the terms on the sign of l that sub changes also elsewhere, and
// fixed are nodes in them that change neither so nor with the sign. The other terms
// depend on both only through a formula, gateway, which is the sign itself where sub
// leaves them as they are.
func (b *Builder) moved(l int, sub ir.Substitution) (terms []int, fixed func(ir.ID) bool, gateway ir.ID) {
	sign := b.Store.Leaf(ir.Sign, l)
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
	return terms, func(id ir.ID) bool { return int(id) < len(how) && how[id] == known }, gateway
}

// How a node depends on what changes at a point.
const (
	bySub uint8 = 1 << iota
	bySign
	known // so far as is known
)

// marked are those of the terms on the sign of l that change in one of the given ways.
// It completes how, by node.
func (b *Builder) marked(how []uint8, l int, sub ir.Substitution, ways uint8) (terms []int) {
	var mark func(id ir.ID) uint8
	mark = func(id ir.ID) uint8 {
		if how[id] != 0 {
			return how[id]
		}
		at := known
		switch n := b.Store.At(id); {
		case n.Kind == ir.Sign && int(n.A) == l:
			at |= bySign
		case n.Kind == ir.Latent || n.Kind == ir.Sign:
			if _, ok := sub.At(n); ok {
				at |= bySub
			}
		default:
			n.Operands(func(o ir.ID) { at |= mark(o) })
		}
		how[id] = at
		return at
	}
	for _, t := range b.affect[l] {
		if mark(b.terms[t].Atom)&ways != 0 {
			terms = append(terms, t)
		}
	}
	return terms
}

// tooMany is an error if there are too many pairs or expressions.
func (b *Builder) tooMany() error {
	what, most := "pairs in which the term depends on the guard", maxPairs
	switch {
	case b.pairs > maxPairs:
	case b.Store.Len()-int(b.own) > maxExpressions:
		what, most = "expressions for the jumps", maxExpressions
	default:
		return nil
	}
	return fmt.Errorf("graph: %d guards and %d terms of the log density: more than %d %s; let the program's states depend on fewer of the steps before them",
		b.planes.Arr.Len(), len(b.terms), most, what)
}

// usesFlip reports whether a flip is part of id other than as a summand.
func (b *Builder) usesFlip(id ir.ID) bool {
	_, terms := b.Store.Parts(id)
	return slices.ContainsFunc(terms, func(t ir.Term) bool {
		return b.Store.Head(t.Atom).Kind != ir.Flip && b.flips.hasFlip(t.Atom)
	})
}

// Compile makes the program whose output rows are outs. Its gradient is that of
// log r, like the density's own: what outputs and gradient have in common is
// computed once.
func (b *Builder) Compile(outs []ir.ID) (*lower.Program, error) {
	if err := b.tooMany(); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(outs, b.usesFlip) {
		return nil, errors.New("graph: a jump can be an output, or be added to others and scaled, but not be transformed")
	}
	rows := make([]ir.Output, len(outs))
	for i, o := range outs {
		rows[i] = b.row(o)
	}
	return lower.NewProgram(b.Store, rows, b.of, b.sz)
}
