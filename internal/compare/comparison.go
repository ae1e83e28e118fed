package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/regions"
)

// Plane is the hyperplane of which the comparison says that it is positive.
func (c Comparison) Plane() regions.Hyperplane { return c.greater }

// Condition writes one side of the comparison's surface, with the names of its latents on their own scale.
func (c Comparison) Condition(positive bool) string {
	if positive == c.Side.Positive {
		return c.Write(">")
	}
	return c.Write("<")
}

// condition writes a side of plane l as the first comparison with it does.
func (m *Maker) condition(l int, positive bool) string {
	k := slices.IndexFunc(m.Made, func(g Comparison) bool { return g.Side.Plane == l })
	if k < 0 { // of a discrete latent that is being made
		return m.surface(l).Write(map[bool]string{true: ">", false: "<"}[positive])
	}
	return m.Made[k].Condition(positive)
}

// surface is a comparison of plane l, whatever was written.
func (m *Maker) surface(l int) Comparison { return Comparison{in: m, greater: m.Arr.Plane(l)} }

// turned is a relation after a change of sign.
var turned = map[string]string{">": "<", "<": ">", "=": "="}

// Write writes how the comparison's two sides are related: ">", "<" or "=".
func (c Comparison) Write(relation string) string {
	m, h, sign := c.in, c.greater, 1.0
	if !slices.ContainsFunc(h.Coef[:min(6, len(h.Coef))], func(c float64) bool { return c > 0 }) {
		sign, relation = -1, turned[relation]
	}
	if name, _, at, up := m.componentOf(h); name != "" {
		if up != (sign > 0) {
			relation = turned[relation]
		}
		return fmt.Sprintf("%s %s %.6g", name, relation, at)
	}
	if len(h.Index) == 1 && h.Index[0] < AnyDim { // transforms are increasing
		l, at := m.program.Latent(h.Index[0]), 0-h.Const/h.Coef[0] // 0 − 0 is not −0
		if steps := l.Steps(); steps != nil {
			return l.Name() + " " + steps.write(steps.At(at), relation)
		}
		return fmt.Sprintf("%s %s %.6g", l.Name(), relation, l.Constrain(at))
	}
	positive, negative, constant := "", "", h.Const
	for k, coef := range h.Coef {
		coef, name, shift := m.valued(coef, h.Index[k])
		constant += shift
		switch {
		case k == 6:
			negative += " …"
		case k > 6:
		case sign*coef > 0:
			positive += " + " + multiple(sign*coef, name)
		default:
			negative += " - " + multiple(-sign*coef, name)
		}
	}
	return fmt.Sprintf("%s%s %s %.6g", strings.TrimPrefix(positive, " + "), negative, relation, -sign*constant+0)
}

// Component is the component of a vector that the comparison compares with a number, by its place among the program's; ok is false if it
// compares something else.
func (c Comparison) Component() (k int, number float64, ok bool) {
	name, k, number, _ := c.in.componentOf(c.greater)
	return k, number, name != ""
}

// componentOf is component number k of a vector, which the sign of h compares with a number, and whether h rises with it; "" if there is none.
func (m *Maker) componentOf(h regions.Hyperplane) (name string, k int, at float64, up bool) {
	k = -1
	for x := range m.program.Components() {
		k++
		if x.U < 0 {
			continue
		}
		u := m.st.Combination(x.U)
		if ratio, is := m.Algebra(nil, 0).Ratio(h, u); is {
			return x.Name, k, x.Value(u.V.V - ratio*h.Const), ratio > 0
		}
	}
	return "", 0, 0, false
}

// valued is coef times coordinate i, or feature, as c times what has a name plus shift: of
// the sigmoid of a latent in an interval the latent itself.
func (m *Maker) valued(coef float64, i int) (c float64, name string, shift float64) {
	if i >= AnyDim {
		for k := range m.program.Dim() {
			l := m.program.Latent(k)
			v := m.st.Combination(l.Value())
			if len(v.Terms) == 1 && v.Terms[0].Atom == m.featureNodes[i-AnyDim] {
				c = coef / v.Terms[0].Coef
				return c, l.Name(), -c * v.V.V
			}
		}
	}
	return coef, m.coordinate(i), 0
}

// coordinate writes the unconstrained coordinate of latent i, or a feature. Of
// transformed latents positive ones get into a comparison of several by their Log.
func (m *Maker) coordinate(i int) string {
	if i >= AnyDim {
		return m.Format(m.featureNodes[i-AnyDim], 4)
	}
	l := m.program.Latent(i)
	if l.Transform() == kernel.Exp {
		return "log(" + l.Name() + ")"
	}
	return l.Name()
}
