package compare

import (
	"fmt"
	"strings"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// Format writes a node, to the given depth of nesting.
func (m *Maker) Format(id ir.ID, depth int) string {
	if i, ok := m.discrete[id]; ok {
		return m.program.Latent(i).Name()
	}
	n := m.st.At(id)
	if depth == 0 && n.Kind != ir.Const && n.Kind != ir.Latent && n.Kind != ir.Data {
		return "…"
	}
	arg := func(id ir.ID) string { return m.Format(id, depth-1) }
	switch n.Kind {
	case ir.Const:
		return fmt.Sprintf("%.6g", n.V)
	case ir.Latent:
		return m.program.Latent(int(n.A)).Name()
	case ir.Data:
		return "observed " + m.program.Name(int(n.A))
	case ir.Sign:
		return m.condition(int(n.A), true)
	case ir.Sum:
		return m.formatSum(n, arg)
	case ir.Unary:
		for i := range m.program.Dim() {
			if l := m.program.Latent(i); l.Value() == id {
				return l.Name()
			}
		}
		return fmt.Sprintf("%v(%s)", n.Fn, arg(n.A))
	case ir.Binary:
		if n.Fn == kernel.Mul || n.Fn == kernel.MulData {
			return m.formatFactor(n.A, depth-1) + "·" + m.formatFactor(n.B, depth-1)
		}
		return fmt.Sprintf("%v(%s, %s)", n.Fn, arg(n.A), arg(n.B))
	case ir.Ternary:
		return fmt.Sprintf("%v(%s, %s, %s)", n.Fn, arg(n.A), arg(n.B), arg(n.C))
	case ir.Not:
		if inner := m.st.At(n.A); inner.Kind == ir.Sign {
			return m.condition(int(inner.A), false)
		}
		return "not " + arg(n.A)
	case ir.And:
		return "(" + arg(n.A) + " and " + arg(n.B) + ")"
	case ir.Select:
		return fmt.Sprintf("if(%s, %s, %s)", arg(n.A), arg(n.B), arg(n.C))
	case ir.Forward:
		return fmt.Sprintf("forward sum of %d steps", n.B)
	}
	return fmt.Sprintf("input %d", n.A)
}

// formatFactor is Format of a factor, a sum in brackets.
func (m *Maker) formatFactor(id ir.ID, depth int) string {
	if _, inner := m.st.Coefficient(id); depth > 0 && m.st.At(id).Kind == ir.Sum && inner == id {
		return "(" + m.Format(id, depth) + ")"
	}
	return m.Format(id, depth)
}

func (m *Maker) formatSum(n ir.Node, arg func(ir.ID) string) string {
	var b strings.Builder
	for i, t := range n.Terms {
		if i == 6 {
			b.WriteString(" + …")
			return b.String()
		}
		sign, c := " + ", t.Coef
		if c < 0 {
			sign, c = " - ", -c
		}
		if i == 0 {
			sign = strings.Trim(sign, " +")
		}
		b.WriteString(sign + multiple(c, arg(t.Atom)))
	}
	switch {
	case n.V < 0:
		fmt.Fprintf(&b, " - %.6g", -n.V)
	case n.V != 0:
		fmt.Fprintf(&b, " + %.6g", n.V)
	}
	return b.String()
}

// multiple writes coef times what has a name.
func multiple(coef float64, name string) string {
	if coef == 1 {
		return name
	}
	return fmt.Sprintf("%.6g·%s", coef, name)
}
