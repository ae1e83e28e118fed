package vi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/events"
)

// A GuardSummary is the posterior probability that a guard holds.
type GuardSummary struct {
	// Name is the guard's name, or its file and line if the program gives it
	// none. Guards that share a name have numbers: on[0], on[1], ….
	Name string
	// Condition is the comparison as the program makes it: "change > 0.5". It is
	// empty for And and Or.
	Condition string
	Prob      Estimate
}

// guardsOf are the probabilities of the guards that a summary lists; of more than so many guards those at equal distances
// in the list.
func guardsOf(e events.Events, d *graph.Density, most int) []GuardSummary {
	rows, ask := listedGuards(d)
	if n := len(rows); n > most {
		for k := range most {
			rows[k], ask[k] = rows[k*n/most], ask[k*n/most]
		}
		rows, ask = rows[:most], ask[:most]
	}
	for k := range rows {
		rows[k].Prob = ask[k](e)
	}
	return rows
}

// listedGuards are the named guards, then the comparisons without a name, and how to ask for the probability of each. Comparisons
// on the surface of a named one are left out, and those of a discrete latent, whose masses say as much.
func listedGuards(d *graph.Density) (rows []GuardSummary, ask []func(events.Events) Estimate) {
	planes, named := d.GuardsByPlane(), map[int]bool{} // surfaces
	for _, name := range d.GuardNames() {
		guards := d.Named(name)
		for i, g := range guards {
			row := GuardSummary{Name: name}
			if len(guards) > 1 {
				row.Name = fmt.Sprintf("%s[%d]", name, i)
			}
			if side, ok := g.Side(); ok {
				row.Condition = planes[side.Plane][0].Condition(side.Positive)
				named[side.Plane] = true
			}
			rows = append(rows, row)
			ask = append(ask, func(e events.Events) Estimate {
				p, _ := e.Prob(g) // it is the density's own
				return p
			})
		}
	}
	seen := map[GuardSummary]bool{}
	for _, g := range alongLatents(d) {
		row := GuardSummary{Name: g.Place(), Condition: g.String()}
		if named[g.Side.Plane] || seen[row] {
			continue
		}
		if of := d.Arrangement().Latents(g.Side.Plane); len(of) == 1 {
			if values, _ := d.Values(of[0]); values != nil {
				continue
			}
		}
		seen[row] = true
		rows, ask = append(rows, row), append(ask, func(e events.Events) Estimate { return e.Side(g.Side) })
	}
	return rows, ask
}

// alongLatents are the comparisons in the order of the program, but for those with
// parallel hyperplanes, such as comparisons of one latent with numbers, which follow
// the first of them from the lowest threshold to the highest.
func alongLatents(d *graph.Density) []graph.GuardInfo {
	guards, first := d.Guards(), map[string]int{}
	group, threshold := make([]int, len(guards)), make([]float64, len(guards))
	order := make([]int, len(guards))
	for i, g := range guards {
		h := d.Arrangement().Plane(g.Side.Plane)
		direction := fmt.Sprint(h.Index, h.Coef)
		if _, ok := first[direction]; !ok {
			first[direction] = i
		}
		order[i], group[i], threshold[i] = i, first[direction], -h.Const
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(group[i], group[j]), cmp.Compare(threshold[i], threshold[j]))
	})
	sorted := make([]graph.GuardInfo, len(guards))
	for k, i := range order {
		sorted[k] = guards[i]
	}
	return sorted
}
