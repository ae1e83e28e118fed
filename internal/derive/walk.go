package derive

import "github.com/facetvi/facet/internal/ir"

// A walk visits nodes, each once.
type walk struct {
	seen  []int // the run in which a node was visited last
	run   int
	stack []ir.ID
}

// newWalk is of nodes with IDs below n.
func newWalk(n int) walk { return walk{seen: make([]int, n)} }

// from visits a node, and then what visit puts on the stack, the last first.
func (w *walk) from(id ir.ID, visit func(id ir.ID)) {
	w.run++
	w.stack = append(w.stack[:0], id)
	for len(w.stack) > 0 {
		last := len(w.stack) - 1
		id, w.stack = w.stack[last], w.stack[:last]
		if w.seen[id] != w.run {
			w.seen[id] = w.run
			visit(id)
		}
	}
}
