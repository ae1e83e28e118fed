package graph

import "slices"

// Kinked reports whether some branch of the program is continuous on plane l by algebra.
func Kinked(d *Density, l int) bool {
	return slices.ContainsFunc(d.nodes, func(n node) bool { return n.kind == kSelect && d.smooth(n, l) })
}
