package lang

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// Counts whose parameters are expressions of latents are cut at a last value, beyond which there is no more than lostTail of
// the prior. Half of that may be lost because latents are outside the extents that are assumed for them, and half because
// counts are beyond the last value for the worst parameters in these extents.

// Priors are a program of which one may ask for the priors of its latents.
type Priors interface {
	Program
	// Prior is that of latent i; ok is false for parameters.
	Prior(i int) (d Dist, ok bool)
}

// lastOf is the last value for d; ∞ if none is known.
func lastOf(m Priors, d Dist) float64 {
	if d.law.tails.rises == nil {
		return math.Inf(1)
	}
	latents := map[int]bool{}
	for _, p := range d.params {
		if p.m != nil {
			for _, i := range m.Guards().LatentsOf(p.id) {
				latents[i] = true
			}
		}
	}
	out := lostTail / (4 * float64(len(latents)))
	worst := make([]float64, len(d.params))
	for i, p := range d.params {
		x := ir.Extent{Lo: p.v, Hi: p.v}
		if p.m != nil {
			x = reaching{m, out, map[ir.ID]ir.Extent{}}.of(p.id)
		}
		worst[i] = x.Hi
		if !d.law.tails.rises[i] {
			worst[i] = x.Lo
		}
		if !x.Known() || d.law.params[i].rule.excludes(worst[i]) || worst[i] == 0 || math.IsInf(worst[i], 0) {
			return math.Inf(1)
		}
	}
	at := Dist{law: d.law, params: Numbers(worst)}
	last := at.Support().lo
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
	m    Priors
	out  float64
	seen map[ir.ID]ir.Extent
}

func (r reaching) of(id ir.ID) ir.Extent {
	return ir.Remembered(r.seen, id, func() ir.Extent { return r.find(r.m.Store().At(id)) })
}

func (r reaching) find(n ir.Node) ir.Extent {
	switch n.Kind {
	case ir.Const:
		return ir.Extent{Lo: n.V, Hi: n.V}
	case ir.Latent:
		return r.latent(int(n.A))
	case ir.Sum:
		x := ir.Extent{Lo: n.V, Hi: n.V}
		for _, t := range n.Terms {
			part := r.of(t.Atom)
			if !part.Known() {
				return ir.Unknown
			}
			part = part.Times(t.Coef, 0)
			x.Lo, x.Hi = x.Lo+part.Lo, x.Hi+part.Hi
		}
		return x
	case ir.Select:
		if one, other := r.of(n.B), r.of(n.C); one.Known() && other.Known() {
			return one.Or(other)
		}
	case ir.Unary:
		x := r.of(n.A)
		if recip := n.Fn == kernel.Recip; x.Known() && (n.Fn.Increasing() || recip && x.Lo > 0) {
			ends := [2]float64{n.Fn.Value(x.Lo), n.Fn.Value(x.Hi)}
			return ir.Extent{Lo: min(ends[0], ends[1]), Hi: max(ends[0], ends[1])}
		}
	case ir.Binary:
		x, y := r.of(n.A), r.of(n.B)
		if x.Known() && y.Known() && (n.Fn == kernel.Mul || n.Fn == kernel.Div && y.Lo > 0) {
			f := n.Fn.Value2
			ends := [4]float64{f(x.Lo, y.Lo), f(x.Lo, y.Hi), f(x.Hi, y.Lo), f(x.Hi, y.Hi)}
			return ir.Extent{Lo: slices.Min(ends[:]), Hi: slices.Max(ends[:])}
		}
	}
	return ir.Unknown
}

// latent is where the coordinate of latent i lies: anywhere where its prior depends on others, or
// has no distribution function.
func (r reaching) latent(i int) ir.Extent {
	d, ok := r.m.Prior(i)
	if !ok || d.law.tails.logCDF == nil || d.law.coordinate.start == nil || slices.ContainsFunc(d.params, func(p Expr) bool { return p.m != nil }) {
		return ir.Extent{Lo: math.Inf(-1), Hi: math.Inf(1)}
	}
	return ir.Extent{Lo: d.quantile(r.out), Hi: d.quantile(1 - r.out)}
}
