package graph

// Thresholds are the parameters that log r uses in guards alone, ascending: it knows no more of
// one than on which side of what it is compared with.
func (d *Density) Thresholds() (list []int) {
	d.made()
	used := make([]bool, d.m.params)
	stamp := make([]bool, d.nodes.len())
	var visit func(id nodeID)
	visit = func(id nodeID) {
		if stamp[id] {
			return
		}
		stamp[id] = true
		if n := d.nodes.at(id); n.kind == kLatent && int(n.a) < len(used) {
			used[n.a] = true
		}
		d.nodes.operands(id, visit)
	}
	if len(used) > 0 {
		for _, t := range d.m.terms {
			visit(t.id)
		}
	}
	compared := make([]bool, len(used))
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
