package ir

import "github.com/facetvi/facet/internal/kernel"

// A Substitution says what takes the place of latents, signs and observations. Each function
// is asked for the ones that occur, and returns false to keep one; nil keeps all.
type Substitution struct {
	Latent, Sign, Data func(number int) (ID, bool)
}

// At is what takes the place of a leaf.
func (s Substitution) At(n Node) (x ID, ok bool) {
	var of func(number int) (ID, bool)
	switch n.Kind {
	case Latent:
		of = s.Latent
	case Sign:
		of = s.Sign
	case Data:
		of = s.Data
	}
	if of == nil {
		return x, false
	}
	return of(int(n.A))
}

// NewRewriter returns a rewriter that makes sub.
func NewRewriter(st *Store, sub Substitution) *Rewriter {
	return &Rewriter{st: st, sub: sub, Done: map[ID]ID{}}
}

// A Rewriter rebuilds expressions with a substitution made in them; what does not
// change stays the same node.
type Rewriter struct {
	st    *Store
	sub   Substitution
	Done  map[ID]ID
	Fixed func(ID) bool // nodes that are known not to change; nil for none
	// Smooth selects are those that are continuous where what is substituted in their
	// formula changes: in that it is what it is for on. nil for none.
	Smooth func(n Node) bool
	On     *Rewriter // nil for the rewriter itself
	// Pole is what takes the place of a denominator that is 0 at the points: the least number
	// on its side, by which quotients are the infinite limits from there. nil for none.
	Pole func(denominator ID) (v float64, is bool)
}

// NewForcer returns a rewriter that puts holds in the place of a formula.
func NewForcer(st *Store, formula ID, holds bool) *Rewriter {
	v := st.Constant(Indicator(holds))
	return &Rewriter{st: st, Done: map[ID]ID{formula: v}, Fixed: func(id ID) bool { return id < formula }}
}

func (w *Rewriter) Rewrite(id ID) ID {
	if w.Fixed != nil && w.Fixed(id) {
		return id
	}
	return Remembered(w.Done, id, func() ID { return w.rebuild(id) })
}

func (w *Rewriter) rebuild(id ID) ID {
	s := w.st
	n := s.At(id)
	switch n.Kind {
	case Latent, Sign, Data:
		if x, ok := w.sub.At(n); ok {
			return x
		}
	case Sum:
		return w.sum(id, n)
	case Unary:
		if v, is := w.poleOf(n.Fn == kernel.Recip, n.A); is {
			return s.Intern(Node{Kind: Unary, Fn: kernel.Recip, A: s.Constant(v)})
		}
	case Binary:
		if v, is := w.poleOf(n.Fn == kernel.Div, n.B); is {
			return s.Intern(Node{Kind: Binary, Fn: kernel.Div, A: w.Rewrite(n.A), B: s.Constant(v)})
		}
	case Select:
		return w.selection(id, n)
	case Flip:
		return id
	}
	changes := false
	n.Operands(func(o ID) { changes = w.Rewrite(o) != o || changes })
	if !changes {
		return id
	}
	return s.Operation(n, w.Rewrite)
}

// poleOf is pole of the denominator of a quotient.
func (w *Rewriter) poleOf(quotient bool, denominator ID) (v float64, is bool) {
	if !quotient || w.Pole == nil {
		return 0, false
	}
	return w.Pole(denominator)
}

func (w *Rewriter) sum(id ID, n Node) ID {
	s := w.st
	kept, changed := make([]Term, 0, len(n.Terms)), []Term(nil)
	for _, t := range n.Terms {
		if to := w.Rewrite(t.Atom); to != t.Atom {
			changed = append(changed, Term{Atom: to, Coef: t.Coef})
		} else {
			kept = append(kept, t)
		}
	}
	if changed == nil {
		return id
	}
	out := s.AffineSum(n.V, kept)
	for _, t := range changed {
		out = s.Sum(1, out, t.Coef, t.Atom)
	}
	return out
}

// selection is a select with its sign substituted. Of a sign that has become a
// number only one side is made.
func (w *Rewriter) selection(id ID, n Node) ID {
	s := w.st
	of := w
	if w.On != nil && w.Smooth != nil && w.Smooth(n) {
		of = w.On
	}
	cond := of.Rewrite(n.A)
	if v, ok := s.IsConst(cond); ok {
		if v != 0 {
			return w.Rewrite(n.B)
		}
		return w.Rewrite(n.C)
	}
	b, c := w.Rewrite(n.B), w.Rewrite(n.C)
	if cond == n.A && b == n.B && c == n.C {
		return id
	}
	return s.Sel(cond, b, c)
}
