package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/regions"
)

// GuardInfo says where a comparison was written, what it says, and which side
// of which plane or curve it is.
type GuardInfo struct {
	Side regions.Side

	m       *Model
	greater regions.Hyperplane // the comparison is greater > 0, as it was written
	name    string
	place   *place
}

// Place is the guard's file and line in the user's program.
func (g GuardInfo) Place() string { return g.place.String() }

// Name is the name that Model.Name gave to this comparison, or "". It has an
// index if several guards have the name: on[3].
func (g GuardInfo) Name() string { return g.name }

// String writes the comparison with the names of its latents, on their own scale:
// rate > 2, or x - 0.5·y > 0.2, or log(a) - log(b) > 0. After six latents it writes ….
func (g GuardInfo) String() string { return g.Condition(g.Side.Positive) }

// Condition writes one side of the comparison's surface as String does: the
// comparison itself, or its opposite, rate < 2 for rate > 2.
func (g GuardInfo) Condition(positive bool) string {
	if positive == g.Side.Positive {
		return g.write(">")
	}
	return g.write("<")
}

// condition writes a side of plane l as the first comparison with it does.
func (m *Model) condition(l int, positive bool) string {
	k := slices.IndexFunc(m.guards, func(g GuardInfo) bool { return g.Side.Plane == l })
	if k < 0 { // of a discrete latent that is being made
		return GuardInfo{m: m, greater: m.arr.Plane(l)}.write(map[bool]string{true: ">", false: "<"}[positive])
	}
	return m.guards[k].Condition(positive)
}

// Equation writes the comparison's surface as String does: rate = 2.
func (g GuardInfo) Equation() string { return g.write("=") }

// turned is a relation after a change of sign.
var turned = map[string]string{">": "<", "<": ">", "=": "="}

// write writes how greater relates to 0.
func (g GuardInfo) write(relation string) string {
	h, sign := g.greater, 1.0
	if !slices.ContainsFunc(h.Coef[:min(6, len(h.Coef))], func(c float64) bool { return c > 0 }) {
		sign, relation = -1, turned[relation]
	}
	if name, _, at, up := g.m.componentOf(h); name != "" {
		if up != (sign > 0) {
			relation = turned[relation]
		}
		return fmt.Sprintf("%s %s %.6g", name, relation, at)
	}
	if len(h.Index) == 1 && h.Index[0] < anyDim { // transforms are increasing
		l := g.m.latents[h.Index[0]]
		if l.discrete != nil {
			return l.name + " " + l.discrete.write(l.discrete.at(0-h.Const/h.Coef[0]), relation)
		}
		return fmt.Sprintf("%s %s %.6g", l.name, relation, l.constrain(0-h.Const/h.Coef[0])) // 0 − 0 is not −0
	}
	positive, negative, constant := "", "", h.Const
	for k, c := range h.Coef {
		c, name, shift := g.m.valued(c, h.Index[k])
		constant += shift
		switch {
		case k == 6:
			negative += " …"
		case k > 6:
		case sign*c > 0:
			positive += " + " + multiple(sign*c, name)
		default:
			negative += " - " + multiple(-sign*c, name)
		}
	}
	return fmt.Sprintf("%s%s %s %.6g", strings.TrimPrefix(positive, " + "), negative, relation, -sign*constant+0)
}

// Component is the component of a vector that the comparison compares with a number, by its place in Density.Components; ok is false if it
// compares something else.
func (g GuardInfo) Component() (k int, number float64, ok bool) {
	name, k, number, _ := g.m.componentOf(g.greater)
	return k, number, name != ""
}

// componentOf is component number k of a vector, which the sign of h compares with a number, and whether h rises with it; "" if there is none.
func (m *Model) componentOf(h regions.Hyperplane) (name string, k int, at float64, up bool) {
	k = -1
	for name, x := range m.components() {
		k++
		if x.u.m == nil { // it was recorded after an error
			continue
		}
		u := m.st.Combination(x.u.id)
		if ratio, is := (ir.Algebra{Store: m.st, Features: m.features}).Ratio(h, u); is {
			return name, k, x.support.value(x.support, u.V.V-ratio*h.Const), ratio > 0
		}
	}
	return "", 0, 0, false
}

// multiple writes coef times what has a name.
func multiple(coef float64, name string) string {
	if coef == 1 {
		return name
	}
	return fmt.Sprintf("%.6g·%s", coef, name)
}

// valued is coef times coordinate i, or feature, as c times what has a name plus shift: of
// the sigmoid of a latent in an interval the latent itself.
func (m *Model) valued(coef float64, i int) (c float64, name string, shift float64) {
	if i >= anyDim {
		for _, l := range m.latents {
			v := m.st.Combination(l.value)
			if len(v.Terms) == 1 && v.Terms[0].Atom == m.featureNodes[i-anyDim] {
				c = coef / v.Terms[0].Coef
				return c, l.name, -c * v.V.V
			}
		}
	}
	return coef, m.coordinate(i), 0
}

// coordinate writes the unconstrained coordinate of latent i, or a feature. Of
// transformed latents positive ones get into a comparison of several by their Log.
func (m *Model) coordinate(i int) string {
	if i >= anyDim {
		return m.format(m.featureNodes[i-anyDim], 4)
	}
	l := m.latents[i]
	if l.support.fn == kernel.Exp {
		return "log(" + l.name + ")"
	}
	return l.name
}

// GuardsByPlane lists for each plane or curve of the Arrangement the comparisons of
// the program that are merged into it.
func (d *Density) GuardsByPlane() [][]GuardInfo {
	planes := make([][]GuardInfo, d.Arrangement().Len())
	for _, g := range d.Guards() {
		planes[g.Side.Plane] = append(planes[g.Side.Plane], g)
	}
	return planes
}

// Places writes the names and places of the first three guards, each once.
func Places(guards []GuardInfo) string {
	var list []string
	for _, g := range guards {
		s := g.Place()
		if g.Name() != "" {
			s = g.Name() + " " + s
		}
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	if len(list) > 3 {
		list = append(list[:3], "…")
	}
	return strings.Join(list, ", ")
}
