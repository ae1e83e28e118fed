package vi

import (
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// planeGuards lists for each hyperplane the comparisons of the program that are
// merged into it.
func planeGuards(d *graph.Density) [][]graph.GuardInfo {
	planes := make([][]graph.GuardInfo, d.Arrangement().Len())
	for _, g := range d.Guards() {
		planes[g.Side.Plane] = append(planes[g.Side.Plane], g)
	}
	return planes
}

// sideText is a side of the hyperplane of guards as the program compares there:
// "theta3 < 18".
func sideText(guards []graph.GuardInfo, side regions.Side) string {
	g := guards[0]
	if g.Side.Positive == side.Positive {
		return g.String()
	}
	return strings.NewReplacer(" > ", " < ", " < ", " > ").Replace(g.String())
}

// planeText is the hyperplane itself: "theta3 = 18".
func planeText(guards []graph.GuardInfo) string {
	return strings.NewReplacer(" > ", " = ", " < ", " = ").Replace(guards[0].String())
}

// placesOf lists the names and places of guards, each once.
func placesOf(guards []graph.GuardInfo) string {
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
