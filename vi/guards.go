package vi

import (
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
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
