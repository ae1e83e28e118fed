package ir

import "slices"

// Latents lists the latents on which the nodes of each list depend, ascending; those that only decide which value a select has do not count.
func (x *Nodes) Latents(lists [][]ID) [][]int {
	sets := make([][]int, x.Len()) // by node
	all := func(ids []ID) (set []int) {
		for _, id := range ids {
			set = union(set, sets[id])
		}
		return set
	}
	for id, needed := range Needed(x, slices.Concat(lists...)) {
		if !needed {
			continue
		}
		switch n := x.At(ID(id)); n.Kind {
		case Latent:
			sets[id] = []int{int(n.A)}
		case Sign:
		default:
			sets[id] = all(n.AppendOperands(nil))
		}
	}
	out := make([][]int, len(lists))
	for i, ids := range lists {
		out[i] = all(ids)
	}
	return out
}

// union is the union of two ascending sets: one of them, if it holds the other.
func union(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	all = slices.Compact(all)
	switch len(all) {
	case len(a):
		return a
	case len(b):
		return b
	}
	return all
}
