package graph

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph/internal/kernel"
)

// Counts whose parameters are expressions of latents are cut at a last value, beyond which there is no more than lostTail of
// the prior. Half of that may be lost because latents are outside the extents that are assumed for them, and half because
// counts are beyond the last value for the worst parameters in these extents.

// lastOf is the last value for d; ∞ if none is known.
func (m *Model) lastOf(d Dist) float64 {
	if d.law.rises == nil {
		return math.Inf(1)
	}
	latents := map[int]bool{}
	for _, p := range d.params {
		if p.m != nil {
			for _, i := range m.latentsOf(p.id) {
				latents[i] = true
			}
		}
	}
	out := lostTail / (4 * float64(len(latents)))
	worst := make([]float64, len(d.params))
	for i, p := range d.params {
		x := extent{p.v, p.v}
		if p.m != nil {
			x = reaching{m, out, map[nodeID]extent{}}.of(p.id)
		}
		worst[i] = x.hi
		if !d.law.rises[i] {
			worst[i] = x.lo
		}
		if !x.known() || d.law.params[i].rule.excludes(worst[i]) || worst[i] == 0 || math.IsInf(worst[i], 0) {
			return math.Inf(1)
		}
	}
	at := Dist{law: d.law, params: numbersOf(worst)}
	last := at.support().lo
	for step := 1.0; at.logTail(Expr{v: last}, true).v > math.Log(lostTail/2); step *= 1.1 { // a few more do no harm
		if last += math.Floor(step); last > 2*mostValues {
			return math.Inf(1)
		}
	}
	return last
}

// reaching finds the extents of expressions, if each latent whose prior has numbers as parameters lies between the quantiles
// out and 1 − out of it.
type reaching struct {
	m    *Model
	out  float64
	seen map[nodeID]extent
}

func (r reaching) of(id nodeID) extent {
	return remembered(r.seen, id, func() extent { return r.find(r.m.st.at(id)) })
}

func (r reaching) find(n node) extent {
	switch n.kind {
	case kConst:
		return extent{n.v, n.v}
	case kLatent:
		return r.latent(int(n.a))
	case kSum:
		x := extent{n.v, n.v}
		for _, t := range n.terms {
			part := r.of(t.atom)
			if !part.known() {
				return unknown
			}
			part = part.times(t.coef, 0)
			x.lo, x.hi = x.lo+part.lo, x.hi+part.hi
		}
		return x
	case kSelect:
		if one, other := r.of(n.b), r.of(n.c); one.known() && other.known() {
			return one.or(other)
		}
	case kUnary:
		x := r.of(n.a)
		if recip := n.fn == kernel.Recip; x.known() && (n.fn.Increasing() || recip && x.lo > 0) {
			ends := [2]float64{n.fn.Value(x.lo), n.fn.Value(x.hi)}
			return extent{min(ends[0], ends[1]), max(ends[0], ends[1])}
		}
	case kBinary:
		x, y := r.of(n.a), r.of(n.b)
		if x.known() && y.known() && (n.fn == kernel.Mul || n.fn == kernel.Div && y.lo > 0) {
			f := n.fn.Value2
			ends := [4]float64{f(x.lo, y.lo), f(x.lo, y.hi), f(x.hi, y.lo), f(x.hi, y.hi)}
			return extent{slices.Min(ends[:]), slices.Max(ends[:])}
		}
	}
	return unknown
}

// latent is where the coordinate of latent i lies: anywhere where its prior depends on others, or
// has no distribution function.
func (r reaching) latent(i int) extent {
	d := r.m.latents[i].prior
	if i < r.m.params || d.law.logCDF == nil || d.law.start == nil || slices.ContainsFunc(d.params, func(p Expr) bool { return p.m != nil }) {
		return extent{math.Inf(-1), math.Inf(1)}
	}
	return extent{d.quantile(r.out), d.quantile(1 - r.out)}
}
