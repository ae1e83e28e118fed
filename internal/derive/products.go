package derive

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// A Multiplied is a positive latent, in whose coordinate it is the logarithm, and real latents, ascending, that log r has in products with it. Such a product
// stays what it is where the one is multiplied by what the others are divided by.
type Multiplied struct {
	By      int
	Latents []int
}

// Multiplied lists them, by the positive latents.
func (d Density) Multiplied() (list []Multiplied) {
	ids := make([]ir.ID, len(d.List))
	for k, t := range d.List {
		ids[k] = t.ID
	}
	all := make([][]int, d.Dim) // by positive latent
	for id, needed := range ir.Needed(d.Nodes, ids) {
		if !needed || !isProduct(d.Nodes.Like(ir.ID(id))) {
			continue
		}
		if positive, real := d.factors(ir.ID(id)); len(real) == 1 {
			for _, i := range positive {
				all[i] = append(all[i], real[0])
			}
		}
	}
	for i, latents := range all {
		if slices.Sort(latents); len(latents) > 0 {
			list = append(list, Multiplied{i, slices.Compact(latents)})
		}
	}
	return list
}

func isProduct(n *ir.Node) bool { return n.Kind == ir.Binary && n.Fn == kernel.Mul }

// factors lists the factors of a product that are latents, positive and real ones.
func (d Density) factors(id ir.ID) (positive, real []int) {
	switch n := d.Nodes.At(id); {
	case isProduct(&n):
		p, r := d.factors(n.A)
		positive, real = d.factors(n.B)
		return slices.Concat(p, positive), slices.Concat(r, real)
	case n.Kind == ir.Latent:
		return nil, []int{int(n.A)}
	case n.Kind == ir.Unary && n.Fn == kernel.Exp:
		if x := d.Nodes.At(n.A); x.Kind == ir.Latent {
			return []int{int(x.A)}, nil
		}
	}
	return nil, nil
}
