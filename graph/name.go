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
// latent, logit(x) for one in (0, 1). After six latents it ends with ….
func (g GuardInfo) String() string {
	h := g.greater
	sign, relation := 1.0, ">"
	if !slices.ContainsFunc(h.Coef, func(c float64) bool { return c > 0 }) {
		sign, relation = -1, "<"
	}
	var b strings.Builder
	written := 0
	for _, pass := range []float64{1, -1} { // the positive terms first
		for k, c := range h.Coef {
			if c *= sign; c*pass <= 0 {
				continue
			}
			switch {
			case written == 6:
				b.WriteString(" + …")
			case written > 6:
			case written == 0:
				writeTerm(&b, c, g.m.coordinate(h.Index[k]))
			case c > 0:
				b.WriteString(" + ")
				writeTerm(&b, c, g.m.coordinate(h.Index[k]))
			default:
				b.WriteString(" - ")
				writeTerm(&b, -c, g.m.coordinate(h.Index[k]))
			}
			written++
		}
	}
	return fmt.Sprintf("%v %s %.6g", &b, relation, -sign*h.Const+0)
}

func writeTerm(b *strings.Builder, coef float64, x string) {
	if coef != 1 {
		fmt.Fprintf(b, "%.6g·", coef)
	}
	b.WriteString(x)
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
			x = fmt.Sprintf("(%s - %.6g)", x, lo)
		case lo < 0:
			x = fmt.Sprintf("(%s + %.6g)", x, -lo)
		}
		if hi-lo != 1 {
			x = fmt.Sprintf("%s/%.6g", x, hi-lo)
		}
		return "logit(" + x + ")"
	}
	return l.name
}

// A namedGuard is a guard under the name that the user gave it.
type namedGuard struct {
	name  string
	guard Guard
}

// Name gives g a name, by which Density.Named and reports know it, and returns
// g. Guards that share a name form a vector, in the order of the calls: on[0],
// on[1], …. A guard may be any condition: one comparison, And, Or and Not of
// some, or simply true or false. Names of guards are apart from those of
// latents and observations. Naming changes nothing about the density.
func (m *Model) Name(name string, g Guard) Guard {
	switch {
	case name == "":
		m.fail("a guard's name is empty")
	case g.m != nil && g.m != m:
		m.fail("guard %q: a guard of another model is used here", name)
	}
	m.named = append(m.named, namedGuard{name, g})
	return g
}

// labelGuards gives the model's comparisons their names.
func (m *Model) labelGuards() {
	count, next := map[string]int{}, map[string]int{}
	for _, n := range m.named {
		count[n.name]++
	}
	for _, n := range m.named {
		label := n.name
		if count[n.name] > 1 {
			label = fmt.Sprintf("%s[%d]", n.name, next[n.name])
			next[n.name]++
		}
		if i, ok := m.comparison(n.guard); ok && m.guards[i].name == "" {
			m.guards[i].name = label
		}
	}
}

// comparison is the number of the comparison that g is, if it is one, and not
// the negation of one.
func (m *Model) comparison(g Guard) (i int, ok bool) {
	c, positive := g.cond, true
	if c != nil && c.op == condNot {
		c, positive = c.kids[0], false
	}
	if c == nil || c.op != condSign {
		return 0, false
	}
	return c.guard, m.guards[c.guard].Side.Positive == positive
}

// GuardNames are the names that Model.Name gave, each once, in order of first
// use.
func (d *Density) GuardNames() []string {
	var names []string
	known := map[string]bool{}
	for _, n := range d.m.named {
		if !known[n.name] {
			names = append(names, n.name)
		}
		known[n.name] = true
	}
	return names
}

// Named are the guards of that name, in the order in which they were named;
// none if there is no such name. Guard.Holds says on which side a region is.
func (d *Density) Named(name string) []Guard {
	var guards []Guard
	for _, n := range d.m.named {
		if n.name == name {
			guards = append(guards, n.guard)
		}
	}
	return guards
}
