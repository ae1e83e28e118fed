package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/facetvi/facet/regions"
)

// GuardInfo says where a comparison was written, what it says, and which side
// of which hyperplane it is.
type GuardInfo struct {
	Side regions.Side

	m       *Model
	greater regions.Hyperplane // the comparison is greater > 0, as it was written
	name    string
	place   place
}

// Place is the guard's file and line in the user's program.
func (g GuardInfo) Place() string { return g.place.String() }

// Name is the name that Model.Name gave to this comparison, or "". It has an
// index if several guards have the name: on[3].
func (g GuardInfo) Name() string { return g.name }

// String writes the comparison with the names of its latents, such as
// x - 0.5·y > 0.2, in unconstrained coordinates: log(x) > 1.1 for a positive
// latent, logit(x) for one in (0, 1). Of more than six latents it writes six, and ….
func (g GuardInfo) String() string {
	sign, relation := 1.0, ">"
	if !slices.ContainsFunc(g.greater.Coef[:min(6, len(g.greater.Coef))], func(c float64) bool { return c > 0 }) {
		sign, relation = -1, "<"
	}
	positive, negative := "", ""
	for k, c := range g.greater.Coef {
		switch {
		case k == 6:
			negative += " …"
		case k > 6:
		case sign*c > 0:
			positive += " + " + g.m.multiple(sign*c, g.greater.Index[k])
		default:
			negative += " - " + g.m.multiple(-sign*c, g.greater.Index[k])
		}
	}
	return fmt.Sprintf("%s%s %s %.6g", strings.TrimPrefix(positive, " + "), negative, relation, -sign*g.greater.Const+0)
}

// multiple writes coef times the coordinate of latent i.
func (m *Model) multiple(coef float64, i int) string {
	if coef == 1 {
		return m.coordinate(i)
	}
	return fmt.Sprintf("%.6g·%s", coef, m.coordinate(i))
}

// coordinate writes the unconstrained coordinate of latent i as a function of
// the latent.
func (m *Model) coordinate(i int) string {
	l := m.latents[i]
	switch l.prior.fam.support {
	case onPositive:
		return "log(" + l.name + ")"
	case onUnit:
		return "logit(" + l.name + ")"
	case onInterval:
		x, lo, hi := l.name, l.prior.params[0].constValue(), l.prior.params[1].constValue()
		switch {
		case lo > 0:
			x = fmt.Sprintf("%s - %.6g", x, lo)
		case lo < 0:
			x = fmt.Sprintf("%s + %.6g", x, -lo)
		}
		switch {
		case hi-lo != 1 && lo != 0:
			x = fmt.Sprintf("(%s)/%.6g", x, hi-lo)
		case hi-lo != 1:
			x = fmt.Sprintf("%s/%.6g", x, hi-lo)
		}
		return "logit(" + x + ")"
	}
	return l.name
}
