package graph

// Thresholds are the parameters that log r uses in guards alone, ascending: log r depends only on which side of other numbers
// they are.
func (d *Density) Thresholds() (list []int) {
	d.made()
	if d.m.params == 0 {
		return nil
	}
	var terms []nodeID
	for _, t := range d.m.terms {
		terms = append(terms, t.id)
	}
	used, compared := make([]bool, d.m.params), make([]bool, d.m.params)
	for id, is := range needed(&d.nodes, terms) {
		if is && d.nodes.like(nodeID(id)).kind == kLatent {
			if i := int(d.nodes.head(nodeID(id)).a); i < len(used) {
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
