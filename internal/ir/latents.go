package ir

import "slices"

// Latents lists the latents on which the nodes of each list depend, ascending, in a program of so many latents; those that only decide which value
// a select has do not count.
func (x *Nodes) Latents(lists [][]ID, latents int) [][]int {
	s := &latentSets{x, make([][]int, x.Len()), slices.Repeat([]int{-1}, x.Len()), slices.Repeat([]int{-1}, latents)}
	for id, needed := range Needed(x, slices.Concat(lists...)) {
		if needed {
			s.sets[id] = s.small(ID(id))
		}
	}
	out := make([][]int, len(lists))
	for i, ids := range lists {
		out[i] = s.of(ids, i)
	}
	return out
}

// latentSets answers on which latents expressions depend. An expression that
// depends on few keeps its set, so that a long recurrence in a few latents is
// followed once. An expression that depends on more is followed anew by each
// question; the answer is then long itself.
type latentSets struct {
	nodes *Nodes
	sets  [][]int // by node; nil for more than maxFew latents
	node  []int   // the last question that came to the node
	seen  []int   // the last question that had the latent in its answer
}

const maxFew = 32

// small is the set of a node whose operands have theirs, or nil.
func (s *latentSets) small(id ID) []int {
	n := s.nodes.At(id)
	switch n.Kind {
	case Latent:
		return []int{int(n.A)}
	case Sign:
		return []int{}
	}
	set := []int{}
	n.Operands(func(o ID) {
		switch {
		case set == nil:
		case s.sets[o] == nil:
			set = nil
		default:
			set = few(union(set, s.sets[o]))
		}
	})
	return set
}

// few is set, or nil if it is no small one.
func few(set []int) []int {
	if len(set) > maxFew {
		return nil
	}
	return set
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

// of is the answer to a question: the latents on which ids depend, ascending.
func (s *latentSets) of(ids []ID, question int) []int {
	var set []int
	add := func(latents []int) {
		for _, i := range latents {
			if s.seen[i] != question {
				s.seen[i] = question
				set = append(set, i)
			}
		}
	}
	for len(ids) > 0 {
		id := ids[len(ids)-1]
		ids = ids[:len(ids)-1]
		if s.node[id] == question {
			continue
		}
		s.node[id] = question
		switch n := s.nodes.At(id); {
		case s.sets[id] != nil:
			add(s.sets[id])
		case n.Kind == Sign:
		default:
			n.Operands(func(o ID) { ids = append(ids, o) })
		}
	}
	slices.Sort(set)
	return set
}
