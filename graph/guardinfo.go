package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/regions"
)

// GuardInfo says where a comparison was written, what it says, and which side
// of which plane or curve it is.
type GuardInfo struct {
	Side regions.Side

	of *compare.Comparison
}

// Place is the guard's file and line in the user's program.
func (g GuardInfo) Place() string { return fmt.Sprint(g.of.Place) }

// Name is the name that Model.Name gave to this comparison, or "". It has an
// index if several guards have the name: on[3].
func (g GuardInfo) Name() string { return g.of.Name }

// String writes the comparison with the names of its latents, on their own scale:
// rate > 2, or x - 0.5·y > 0.2, or log(a) - log(b) > 0. After six latents it writes ….
func (g GuardInfo) String() string { return g.Condition(g.Side.Positive) }

// Condition writes one side of the comparison's surface as String does: the
// comparison itself, or its opposite, rate < 2 for rate > 2.
func (g GuardInfo) Condition(positive bool) string { return g.of.Condition(positive) }

// Equation writes the comparison's surface as String does: rate = 2.
func (g GuardInfo) Equation() string { return g.of.Write("=") }

// Component is the component of a vector that the comparison compares with a number, by its place in Density.Components; ok is false if it
// compares something else.
func (g GuardInfo) Component() (k int, number float64, ok bool) { return g.of.Component() }

// Guards lists the comparisons of the program in the order in which they were
// made, each as a side of a hyperplane of the Arrangement.
func (d *Density) Guards() []GuardInfo {
	made := d.made().m.guards.Made
	list := make([]GuardInfo, len(made))
	for i := range made {
		list[i] = GuardInfo{made[i].Side, &made[i]}
	}
	return list
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
