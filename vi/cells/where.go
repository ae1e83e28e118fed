package cells

import (
	"fmt"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// mostSides is how many sides a cell is described by.
const mostSides = 4

// where describes the part of the latent space with the given sides: intervals of
// latents, "change in (1889, 1890)", where there are few, or else which guards of a
// name hold, "on: 5-11, 16-20".
func where(d *graph.Density, g *lines, spans []span, inside regions.Signs) string {
	var parts []string
	infos := d.GuardsByPlane()
	for k, s := range spans {
		if part := interval(d, g.group[k], s, infos); part != "" {
			parts = append(parts, part)
		}
	}
	switch {
	case len(parts) == 0:
		return "everywhere"
	case len(parts) <= mostSides:
		return strings.Join(parts, ", ")
	}
	if named := holding(d, g, spans, inside); named != "" {
		return named
	}
	return fmt.Sprintf("%s and %d more", strings.Join(parts[:mostSides-1], ", "), len(parts)-mostSides+1)
}

// interval describes what is left of the line of parallel planes; "" if all of it is.
func interval(d *graph.Density, planes []int, s span, infos [][]graph.GuardInfo) string {
	if s.first == 0 && s.last == len(planes) {
		return ""
	}
	h := d.Arrangement().Plane(planes[0])
	if len(h.Index) == 1 && h.Coef[0] == 1 && s.first > 0 && s.last < len(planes) {
		at := func(l int) float64 { return d.ConstrainOne(h.Index[0], -d.Arrangement().Plane(l).Const) }
		return fmt.Sprintf("%s in (%.6g, %.6g)", d.Latents()[h.Index[0]], at(planes[s.first-1]), at(planes[s.last]))
	}
	var parts []string
	if s.first > 0 {
		parts = append(parts, infos[planes[s.first-1]][0].Condition(true))
	}
	if s.last < len(planes) {
		parts = append(parts, infos[planes[s.last]][0].Condition(false))
	}
	return strings.Join(parts, ", ")
}

// holding lists for each name of several guards which of them hold, if the cell
// decides any of them.
func holding(d *graph.Density, g *lines, spans []span, inside regions.Signs) string {
	var parts []string
	for _, name := range d.GuardNames() {
		guards := d.Named(name)
		decided := false
		for _, guard := range guards {
			decided = decided || slices.ContainsFunc(guard.Planes(), func(l int) bool {
				s := spans[g.of[l]]
				return g.at[l] < s.first || g.at[l] >= s.last
			})
		}
		if decided {
			parts = append(parts, name+": "+ranges(graph.Holding(nil, guards, inside)))
		}
	}
	return strings.Join(parts, "; ")
}

// ranges writes where holds is true: "5-11, 16", or "never".
func ranges(holds []bool) string {
	var parts []string
	for i := 0; i < len(holds); i++ {
		if !holds[i] {
			continue
		}
		first := i
		for i+1 < len(holds) && holds[i+1] {
			i++
		}
		if part := fmt.Sprint(first); i > first {
			parts = append(parts, fmt.Sprintf("%s-%d", part, i))
		} else {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "never"
	}
	return strings.Join(parts, ", ")
}

// Where describes a cell of the search.
func (c *Cell) Where(f *Search) string { return where(f.d, f.lines, c.span, c.region) }
