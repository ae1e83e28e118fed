package graph

import "github.com/facetvi/facet/internal/ir"

// Thresholds are the parameters that log r uses in guards alone, ascending: log r depends only on which side of other numbers
// they are.
func (d *Density) Thresholds() (list []int) {
	d.made()
	if d.m.params == 0 {
		return nil
	}
	var terms []ir.ID
	for _, t := range d.m.terms {
		terms = append(terms, t.id)
	}
	used, compared := make([]bool, d.m.params), make([]bool, d.m.params)
	for id, is := range ir.Needed(&d.nodes, terms) {
		if is && d.nodes.Like(ir.ID(id)).Kind == ir.Latent {
			if i := int(d.nodes.Head(ir.ID(id)).A); i < len(used) {
				used[i] = true
			}
		}
	}
	for l := range d.arr.Len() {
		for _, i := range d.arr.Latents(l) {
			if i < len(compared) {
				compared[i] = true
			}
		}
	}
	for i := range used {
		if compared[i] && !used[i] {
			list = append(list, i)
		}
	}
	return list
}
