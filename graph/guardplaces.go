package graph

import (
	"slices"
	"strings"
)

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
