package graph

import "github.com/facetvi/facet/internal/ir"

// Kinked reports whether some branch of the program is continuous on plane l by algebra.
func Kinked(d *Density, l int) bool {
	for id := range d.nodes.Len() {
		if n := d.nodes.At(ir.ID(id)); n.Kind == ir.Select && d.planes().Smooth(n, l) {
			return true
		}
	}
	return false
}

// Blocks is how many blocks of p's rows have begun.
func Blocks(p *Plate) int { return len(p.blocks) }

// Expressions is how many m has.
func Expressions(m *Model) int { return m.st.Len() }

// ProgramOf is what runs d.
func ProgramOf(d *Density) *Program { return d.prog }
