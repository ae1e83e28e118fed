package graph

import (
	"maps"
	"slices"
)

// Planes are the numbers of the hyperplanes whose signs say whether the guard
// holds, ascending: one for a comparison, several for And and Or, none for a
// guard that is simply true or false.
func (g Guard) Planes() []int {
	used := map[int]bool{}
	var visit func(*cond)
	visit = func(c *cond) {
		if c.op == condSign {
			used[c.plane] = true
		}
		for _, k := range c.kids {
			visit(k)
		}
	}
	if g.cond != nil {
		visit(g.cond)
	}
	return slices.Sorted(maps.Keys(used))
}
