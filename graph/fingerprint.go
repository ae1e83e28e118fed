package graph

import (
	"bytes"
	"crypto/sha256"
	endian "encoding/binary"
	"encoding/hex"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/lang"
)

// Fingerprint identifies the program: it is the hexadecimal SHA-256 of the
// latents' names and priors, the observations' names, distributions and If
// blocks, the factors, and the hyperplanes. A saved fit belongs to a density
// with the same fingerprint.
//
// Observed values are not in it, so WithData keeps it. Nor are names of guards
// and deterministic expressions, which may be added to a model that has been
// fitted, nor what the expressions are called in Go or where they stand. It is
// the same in every process; only between processor architectures a constant
// that was computed in building the model may differ in its last bit, and the
// fingerprint with it.
func (d *Density) Fingerprint() string { return d.made().fingerprint() }

// digest computes the fingerprint.
func (c *compiled) digest() string {
	w := &programWriter{c: c, sums: make([]digest, c.nodes.Len())}
	w.program() // which finds what is used
	for id, used := range ir.Needed(&c.nodes, w.used) {
		if used {
			w.buf = w.buf[:0]
			w.node(c.nodes.At(ir.ID(id)))
			w.sums[id] = sha256.Sum256(w.buf)
		}
	}
	w.buf = w.buf[:0]
	w.program()
	sum := sha256.Sum256(w.buf)
	return hex.EncodeToString(sum[:])
}

type digest = [sha256.Size]byte

// A programWriter writes a program in a form that does not depend on the order
// in which its expressions were made: each expression is the digest of its
// operation and its operands' digests.
type programWriter struct {
	c    *compiled
	sums []digest // by node
	used []ir.ID  // what program has written
	buf  []byte
}

func (w *programWriter) program() {
	c := w.c
	w.text("facet program 2")
	w.number(len(c.m.latents))
	for i := range c.m.latents {
		l := &c.m.latents[i]
		w.text(l.name)
		w.dist(l.prior)
	}
	w.number(len(c.m.obs))
	for i := range c.m.obs {
		o := &c.m.obs[i]
		w.text(o.name)
		if o.hidden != nil {
			w.hidden(o.hidden, o.step)
		} else {
			w.dist(o.dist())
		}
		w.expr(o.where.value)
	}
	for _, t := range c.m.terms {
		if t.what == factorTerm || t.what == objectiveTerm {
			w.text(t.what)
			w.expr(c.m.expr(t.id))
		}
	}
	for _, id := range c.m.guards.Features() {
		w.text("feature")
		w.expr(c.m.expr(id))
	}
	w.text("hyperplanes")
	w.number(c.arr.Len())
	for _, h := range c.arr.Planes() {
		w.float(h.Const)
		w.number(len(h.Index))
		for k, i := range h.Index {
			w.number(i)
			w.float(h.Coef[k])
		}
	}
}

// kindText is the text of kinds. A function has its name.
var kindText = map[ir.Kind]string{
	ir.Const: "number", ir.Latent: "latent", ir.Sign: "sign", ir.Sum: "sum", ir.Not: "not", ir.And: "and", ir.Select: "if", ir.Forward: "forward sum",
	ir.Data: "data", // of an observation whose distribution depends on others
}

func (w *programWriter) node(n ir.Node) {
	if n.Fn != kernel.None {
		w.text(n.Fn.String())
	} else {
		w.text(kindText[n.Kind])
	}
	switch {
	case n.Kind == ir.Const:
		w.float(n.V)
	case n.Kind == ir.Latent || n.Kind == ir.Sign || n.Kind == ir.Data:
		w.number(int(n.A))
	case n.Kind == ir.Sum:
		w.float(n.V)
		terms := slices.Clone(n.Terms)
		slices.SortFunc(terms, func(x, y ir.Term) int { return w.compare(x.Atom, y.Atom) })
		for _, t := range terms {
			w.float(t.Coef)
			w.operands(t.Atom)
		}
	case n.Kind == ir.Forward:
		w.number(int(n.A))
		w.number(int(n.B))
		for _, t := range n.Terms {
			w.operands(t.Atom)
		}
	case (n.Kind == ir.And || n.Fn == kernel.Mul) && w.compare(n.A, n.B) > 0: // operands that may be swapped
		w.operands(n.B, n.A)
	default:
		n.Operands(func(o ir.ID) { w.operands(o) })
	}
}

func (w *programWriter) compare(x, y ir.ID) int { return bytes.Compare(w.sums[x][:], w.sums[y][:]) }

func (w *programWriter) operands(ids ...ir.ID) {
	for _, id := range ids {
		w.buf = append(w.buf, w.sums[id][:]...)
	}
}

func (w *programWriter) dist(d lang.Dist) {
	w.text(d.Name())
	for _, x := range d.Params() {
		w.expr(x)
	}
}

// hidden writes a step of a chain, and before the first one the probabilities of its states.
func (w *programWriter) hidden(c *Hidden, step int) {
	if step == 0 {
		w.text("hidden states")
		w.number(c.now)
		w.number(c.states)
		for _, x := range c.x[:len(c.x)-c.states*c.steps] {
			w.expr(x)
		}
	}
	for _, d := range c.emission[step] {
		w.dist(d)
	}
}

func (w *programWriter) expr(x Expr) {
	sum := digest{}
	if lang.Of(x) == nil {
		endian.BigEndian.PutUint64(sum[:], math.Float64bits(lang.Plain(x)+0))
	} else {
		sum, w.used = w.sums[lang.ID(x)], append(w.used, lang.ID(x))
	}
	w.buf = append(w.buf, sum[:]...)
}

func (w *programWriter) text(s string) {
	w.number(len(s))
	w.buf = append(w.buf, s...)
}

func (w *programWriter) number(n int) { w.buf = endian.BigEndian.AppendUint64(w.buf, uint64(n)) }

func (w *programWriter) float(v float64) {
	if math.IsNaN(v) {
		v = math.NaN() // one NaN
	}
	w.buf = endian.BigEndian.AppendUint64(w.buf, math.Float64bits(v+0))
}
