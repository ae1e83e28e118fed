package lower

import (
	"gorgonia.org/gorgonia"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// forwardRows are the rows of the operand of a forward sum.
func (b *batch) forwardRows(id ir.ID) []ir.Output {
	n := b.st.At(id)
	l := b.st.Layout(n)
	rows := make([]ir.Output, len(l.Rows))
	for r, i := range l.Rows {
		rows[r].C, rows[r].Terms = b.st.Parts(n.Terms[i].Atom)
	}
	return rows
}

// forward makes a form of forward sums.
func (e *Graph) forward(f *form) *gorgonia.Node {
	var rows []ir.Output
	for _, id := range f.Rows {
		rows = append(rows, e.b.forwardRows(id)...)
	}
	k := e.b.st.Layout(e.b.st.At(f.Rows[0])).Forward
	all := e.apply(k, gorgonia.Nodes{e.outputs(rows)}, f.onLatents)
	return e.apply(kernel.Gather{Idx: kernel.RowRange(0, len(f.Rows))}, gorgonia.Nodes{all}, f.onLatents)
}
