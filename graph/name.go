package graph

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/facetvi/facet/internal/lang"
)

// checkName reports what is wrong with a name of what, wherever it may be used, or "".
func checkName(what nameable, name string) string {
	switch {
	case name == "":
		return fmt.Sprintf("%s needs a name", what)
	case !utf8.ValidString(name):
		return fmt.Sprintf("%s has a name that is not UTF-8: %q", what, name)
	}
	return ""
}

// wrongName is checkName in the model, where a name may be taken.
func (m *Model) wrongName(what nameable, name string) string {
	if by := m.names[name]; by != 0 && (by != what || what == aLatent) {
		return fmt.Sprintf("the name %q is already taken by %s", name, by)
	}
	return checkName(what, name)
}

// takeName gives a name to what, and reports whether the model has no fault so far.
func (m *Model) takeName(what nameable, name string) bool {
	if wrong := m.wrongName(what, name); wrong != "" {
		m.fail("%s", wrong)
	}
	m.names[name] = what
	return m.err == nil
}

// Name gives g a name, by which Density.Named and reports know it, and returns
// g. Guards that share a name form a vector, in the order of the calls: on[0],
// on[1], …. A guard may be any condition: one comparison, And, Or and Not of
// some, or simply true or false. Names of guards are apart from those of
// latents and observations. Naming changes nothing about the density. A guard that compares what is missing has no
// probability by latents, and no number among those of its name: record If(g, 1, 0) by Deterministic, and ask Predict.
func (m *Model) Name(name string, g Guard) Guard {
	switch wrong := checkName(aGuard, name); {
	case !m.outsidePlates("Name"):
		return g
	case wrong != "":
		m.fail("%s", wrong)
	case lang.Of(g.value) != nil && modelOf(g.value) != m:
		m.fail("guard %q: %s", name, lang.Foreign(g.value))
	case g.isNaN():
		m.fail("guard %q: %v", name, errNaN)
	case g.comparesMissing():
		m.undecided = append(m.undecided, name)
		return g
	case slices.Contains(m.undecided, name):
		m.fail("guard %q: one before it of that name compares what is missing, so that it has no number: give it another name", name)
	}
	m.named = append(m.named, namedGuard{name, g})
	return g
}

// labelGuards gives the model's comparisons their names.
func (m *contents) labelGuards() {
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
		if i := n.guard.made - 1; i >= 0 && m.guards.Made[i].Name == "" {
			m.guards.Made[i].Name = label
		}
	}
}

// GuardNames are the names that Model.Name gave, each once, in order of first
// use.
func (d *Density) GuardNames() []string {
	var names []string
	known := map[string]bool{}
	for _, n := range d.made().m.named {
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
	for _, n := range d.made().m.named {
		if n.name == name {
			guards = append(guards, n.guard)
		}
	}
	return guards
}
