package derive

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// A Noncentred is a latent z whose distance from a place,
//
//	z − Σ_j coef_j·z_j − constant,    of latents j before it,
//
// log r has in products with powers of exponentials s of other latents: its prior has it divided by its scale, data may know of s·z where the place is 0, and
// an observation of z alone has a noise. Its spread goes with powers of these scales, or less.
type Noncentred struct {
	Latent   int
	Place    []ir.Term // latents by their numbers
	Constant float64
	Scales   []Exponent
}

// An Exponent is a latent whose exponential is a scale, to a power.
type Exponent struct {
	By    int
	Power float64
}

// Noncentred lists latents that have scales, which are no scales themselves, in ascending order.
func (d Density) Noncentred() []Noncentred {
	type key struct{}
	list, _ := Cached(d, key{}, func() ([]Noncentred, error) {
		all, scales := make([]Noncentred, d.Dim), map[int]bool{}
		w := newWalk(d.Nodes.Len())
		for _, t := range d.List {
			if t.Of >= 0 {
				all[t.Of] = d.noncentred(&w, t)
			}
		}
		for s, list := range d.monomials() {
			for _, x := range list {
				i, own := d.alone(x.n)
				if i < 0 || x.power < 0 && (!own || len(all[i].Place) > 0 || all[i].Constant != 0) { // a multiple s·z has its place at 0
					continue
				}
				e := Exponent{s, x.power}
				if !slices.ContainsFunc(all[i].Scales, func(y Exponent) bool { return y.By == s && (y.Power > 0) == (e.Power > 0) }) {
					all[i].Scales = append(all[i].Scales, e)
				}
			}
		}
		var list []Noncentred
		for i, x := range all {
			x.Latent = i
			all[i].Scales = slices.DeleteFunc(x.Scales, func(e Exponent) bool { return e.By == i })
			for _, e := range all[i].Scales {
				scales[e.By] = true
			}
		}
		for i, x := range all {
			if x.Latent = i; len(x.Scales) > 0 && !scales[i] {
				list = append(list, x)
			}
		}
		return list, nil
	})
	return list
}

// noncentred is what a prior's term says of its latent.
func (d Density) noncentred(w *walk, t LogTerm) (x Noncentred) {
	f, found := factors{}, ir.ID(-1)
	w.from(t.ID, func(id ir.ID) {
		w.stack = d.Nodes.AppendOperands(w.stack, id)
		n := d.Nodes.At(id)
		if n.Kind != ir.Binary || n.Fn != kernel.Mul && n.Fn != kernel.Div {
			return
		}
		f = factors{f.positive[:0], f.real[:0], f.sums[:0]}
		f.of(d.Nodes, id, 1)
		distance := append(f.real, f.sums...)
		if len(distance) != 1 || len(f.positive) == 0 || found == distance[0].id {
			return
		}
		place, constant, ok := d.place(distance[0].id, t.Of)
		if !ok {
			return
		}
		if found >= 0 { // of two it is not known which
			x.Scales = nil
			return
		}
		found, x.Place, x.Constant = distance[0].id, place, constant
		for _, s := range f.positive {
			x.Scales = append(x.Scales, Exponent{int(s.id), -s.power / distance[0].power})
		}
	})
	return x
}

// place is where a distance that is affine in latents, and in others before it, is 0 for latent i.
func (d Density) place(distance ir.ID, i int) (place []ir.Term, constant float64, ok bool) {
	n := d.Nodes.At(distance)
	if n.Kind == ir.Latent {
		return nil, 0, int(n.A) == i
	}
	own := 0.0
	for _, t := range n.Terms {
		switch l := d.Nodes.At(t.Atom); {
		case l.Kind != ir.Latent || int(l.A) > i:
			return nil, 0, false
		case int(l.A) == i:
			own = t.Coef
		default:
			place = append(place, ir.Term{Atom: ir.ID(l.A), Coef: t.Coef})
		}
	}
	if n.Kind != ir.Sum || own == 0 {
		return nil, 0, false
	}
	for k := range place {
		place[k].Coef /= -own
	}
	return place, -n.V / own, true
}

// alone is the only latent that an affine node depends on, or −1, and whether the node is that latent.
func (d Density) alone(id ir.ID) (latent int, own bool) {
	n := d.Nodes.At(id)
	if n.Kind == ir.Latent {
		return int(n.A), true
	}
	latent = -1
	for _, t := range n.Terms {
		l := d.Nodes.At(t.Atom)
		if l.Kind == ir.Data {
			continue
		}
		if l.Kind != ir.Latent || latent >= 0 {
			return -1, false
		}
		latent = int(l.A)
	}
	return latent, false
}
