package graph

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
)

// Parents lists for each latent, ascending, the earlier latents from which the parameters of its prior are
// computed. Latents that only decide which value an If chooses do not count. Nor do the parents of a parent, unless the
// prior's expressions have them too. A latent whose prior has only numbers as parameters has none.
func (d *Density) Parents() [][]int {
	s := d.made().newLatentSets()
	parents := make([][]int, d.Dim())
	for i := range parents {
		parents[i] = s.of(d.m.latents[i].prior.Nodes(), i)
	}
	return parents
}

// latentSets answers on which latents expressions depend. An expression that
// depends on few keeps its set, so that a long recurrence in a few latents is
// followed once. An expression that depends on more is followed anew by each
// question; the answer is then long itself.
type latentSets struct {
	c    *compiled
	sets [][]int // by node; nil for more than maxFew latents
	node []int   // the last question that came to the node
	seen []int   // the last question that had the latent in its answer
}

const maxFew = 32

// newLatentSets fills in the sets of what the latents' priors need.
func (c *compiled) newLatentSets() *latentSets {
	s := &latentSets{c, make([][]int, c.nodes.Len()), slices.Repeat([]int{-1}, c.nodes.Len()), slices.Repeat([]int{-1}, len(c.names))}
	var roots []ir.ID
	for i := range c.m.latents {
		roots = append(roots, c.m.latents[i].prior.Nodes()...)
	}
	for id, needed := range ir.Needed(&c.nodes, roots) {
		if needed {
			s.sets[id] = s.small(ir.ID(id))
		}
	}
	return s
}

// small is the set of a node whose operands have theirs, or nil.
func (s *latentSets) small(id ir.ID) []int {
	n := s.c.nodes.At(id)
	switch n.Kind {
	case ir.Latent:
		return []int{int(n.A)}
	case ir.Sign:
		return []int{}
	}
	set := []int{}
	n.Operands(func(o ir.ID) {
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
func (s *latentSets) of(ids []ir.ID, question int) []int {
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
		switch n := s.c.nodes.At(id); {
		case s.sets[id] != nil:
			add(s.sets[id])
		case n.Kind == ir.Sign:
		default:
			n.Operands(func(o ir.ID) { ids = append(ids, o) })
		}
	}
	slices.Sort(set)
	return set
}
