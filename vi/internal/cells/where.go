package cells

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
)

// mostSides is how many sides a cell is described by.
const mostSides = 4

// Where describes cells of the search, no two alike: by intervals of latents, "change in
// (1889, 1890)", where there are few, or else by which guards of a name hold. These are
// counted as the program counts latents, if each of them compares another one, "on: noise4–9,
// noise16–19", and else from 0, "on: [3–8]" for on[3] to on[8].
func (f *Search) Where(cells []*Cell) []string {
	w := newDescriber(f)
	list := make([]string, len(cells))
	for k, c := range cells {
		list[k] = w.short(c)
	}
	for _, describe := range []func(c *Cell, k int) string{
		func(c *Cell, _ int) string { return w.named(c, true) },
		func(c *Cell, _ int) string { return strings.Join(w.parts(c, nil), ", ") },
		func(_ *Cell, k int) string { return fmt.Sprintf("%s (cell %d)", list[k], k+1) }, // by numbers that are cut
	} {
		count := map[string]int{}
		for _, s := range list {
			count[s]++
		}
		next := slices.Clone(list)
		for k, c := range cells {
			if count[list[k]] == 1 {
				continue
			}
			if s := describe(c, k); s != "" {
				next[k] = s
			}
		}
		list = next
	}
	return list
}

// Regions describes regions, no two alike, and lists the planes that bound each.
func Regions(d *graph.Density, all []regions.Signs) (names []string, sides [][]family.Side) {
	f := &Search{d: d, lines: newLines(d.Arrangement())}
	var list []*Cell
	for _, s := range all {
		c := &Cell{area: area{region: s}}
		for k := range f.lines.group {
			i := f.lines.interval(k, c.region)
			c.span = append(c.span, span{i, i})
		}
		list, sides = append(list, c), append(sides, f.lines.boundsOf(c.span).half)
	}
	return f.Where(list), sides
}

// A describer describes cells.
type describer struct {
	*Search
	infos      [][]graph.GuardInfo
	components []string
	names      []string
	label      map[string][]string // of the guards of a name
	known      map[int]bool        // planes of the guards that have names
}

func newDescriber(f *Search) *describer {
	w := &describer{Search: f, infos: f.d.GuardsByPlane(), components: f.d.Components(), names: f.d.GuardNames(), label: map[string][]string{}, known: map[int]bool{}}
	for _, name := range w.names {
		guards := f.d.Named(name)
		w.label[name] = w.labels(guards)
		for _, g := range guards {
			for _, l := range g.Planes() {
				w.known[l] = true
			}
		}
	}
	return w
}

// short describes a cell by its sides, or by names where these are many.
func (w *describer) short(c *Cell) string {
	parts := w.parts(c, nil)
	switch {
	case len(parts) == 0:
		return "everywhere"
	case len(parts) <= mostSides:
		return strings.Join(parts, ", ")
	}
	if named := w.named(c, false); named != "" {
		return named
	}
	return fmt.Sprintf("%s and %d more", strings.Join(parts[:mostSides-1], ", "), len(parts)-mostSides+1)
}

// parts describes each line of which a cell has a part, but for those that leave out all
// planes of which without says so.
func (w *describer) parts(c *Cell, but map[int]bool) (parts []string) {
	for k, s := range c.span {
		if part := w.interval(w.lines.group[k], s, but); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// interval describes what is left of the line of parallel planes; "" if all of it is, or
// if without has the planes that bound it.
func (w *describer) interval(planes []int, s span, but map[int]bool) string {
	low, high := s.first > 0 && !but[planes[s.first-1]], s.last < len(planes) && !but[planes[s.last]]
	if low && high {
		i, from, above := w.infos[planes[s.first-1]][0].Component()
		if k, to, below := w.infos[planes[s.last]][0].Component(); above && below && i == k {
			return fmt.Sprintf("%s in (%.6g, %.6g)", w.components[i], min(from, to), max(from, to))
		}
	}
	h := w.lines.arr.Plane(planes[0])
	if len(h.Index) == 1 && h.Index[0] < w.d.Dim() && h.Coef[0] == 1 && low && high {
		if values, _ := w.d.Values(h.Index[0]); values != nil {
			if s.last == s.first {
				return fmt.Sprintf("%s = %v", w.d.Latents()[h.Index[0]], values[s.first])
			}
			return fmt.Sprintf("%s from %v to %v", w.d.Latents()[h.Index[0]], values[s.first], values[s.last])
		}
		at := func(l int) float64 { return w.d.Coordinate(h.Index[0]).Value(-w.lines.arr.Plane(l).Const) }
		return fmt.Sprintf("%s in (%.6g, %.6g)", w.d.Latents()[h.Index[0]], at(planes[s.first-1]), at(planes[s.last]))
	}
	var parts []string
	if low {
		parts = append(parts, w.side(planes[s.first-1], true))
	}
	if high {
		parts = append(parts, w.side(planes[s.last], false))
	}
	return strings.Join(parts, ", ")
}

// fewWritten is how many latents a comparison has at most that is written out, if it is not of a component of a vector.
const fewWritten = 2

// side describes a side of a plane: by its comparison, or, of many latents, by the name or
// the place of the guard.
func (w *describer) side(l int, positive bool) string {
	g := w.infos[l][0]
	if _, _, ok := g.Component(); ok || len(w.lines.arr.Latents(l)) <= fewWritten {
		return g.Condition(positive)
	}
	name := g.Name()
	if name == "" {
		name = "the guard at " + g.Place()
	}
	if positive != g.Side.Positive {
		return "not " + name
	}
	return name
}

// named lists for each name of several guards which of them hold, if the cell decides any of
// them; and if all, also the sides that no name knows.
func (w *describer) named(c *Cell, all bool) string {
	var parts []string
	for _, name := range w.names {
		guards := w.d.Named(name)
		decided := slices.ContainsFunc(guards, func(guard graph.Guard) bool {
			return slices.ContainsFunc(guard.Planes(), func(l int) bool {
				s := c.span[w.lines.of[l]]
				return w.lines.at[l] < s.first || w.lines.at[l] >= s.last
			})
		})
		if decided {
			parts = append(parts, name+": "+ranges(w.label[name], graph.Holding(nil, guards, c.region)))
		}
	}
	if parts != nil && all {
		parts = append(parts, w.parts(c, w.known)...)
	}
	return strings.Join(parts, "; ")
}

var number = regexp.MustCompile(`[0-9]+`)

// labels are how the program counts guards of a name: by the latents that they compare, if each
// compares one and their names differ in a number that rises, as noise1, noise2, …; else
// [0], [1], ….
func (w *describer) labels(guards []graph.Guard) []string {
	list, form, last := make([]string, len(guards)), "", -1
	for i, g := range guards {
		var name string
		if side, ok := g.Side(); ok {
			if h := w.lines.arr.Plane(side.Plane); len(h.Index) == 1 && h.Index[0] < w.d.Dim() {
				name = w.d.Latents()[h.Index[0]]
			}
		}
		at := number.FindAllStringIndex(name, -1)
		if len(at) != 1 {
			return indices(len(guards))
		}
		from, to := at[0][0], at[0][1]
		n, err := strconv.Atoi(name[from:to])
		if pattern := name[:from] + "\x00" + name[to:]; err != nil || n <= last || i > 0 && pattern != form {
			return indices(len(guards))
		} else {
			list[i], form, last = name, pattern, n
		}
	}
	return list
}

func indices(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("[%d]", i))
	}
	return list
}

// ranges writes where holds is true, "noise4–9, noise16–19", or "never".
func ranges(label []string, holds []bool) string {
	var parts []string
	for i := 0; i < len(holds); i++ {
		if !holds[i] {
			continue
		}
		first := i
		for i+1 < len(holds) && holds[i+1] {
			i++
		}
		part := label[first]
		if i > first {
			at := number.FindStringIndex(part)
			part = part[:at[1]] + "–" + number.FindString(label[i]) + part[at[1]:]
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "never"
	}
	return strings.Join(parts, ", ")
}
