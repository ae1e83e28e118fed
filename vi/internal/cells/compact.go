package cells

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/residuals"
	"github.com/facetvi/facet/internal/truncnorm"
)

// How a density of much data is made small.
const (
	manyPlanes  = 300  // of a switch, from which on its intervals are grouped
	firstGroups = 256  // groups at first
	pieces      = 32   // that a group is split into
	mostGroups  = 1000 // in the end
	farBelow    = 25   // nats below the whole, of a group that is not split,
	nearBelow   = 9    // and of one of at most
	fewInside   = 64   // intervals,
	nothing     = 35   // and of groups that are joined: all of them together are not split
)

// Compact is a density of the same posterior that costs less where there is much data: made of the
// sums over them (see derive.Sums), and with no more than some hundred intervals of a
// switch with many. It is d itself if it has no sums.
//
// Which intervals matter is seen by branch and bound. Log r is climbed with the switch in each of a few
// groups of neighbouring intervals; there its partial sums say what it is in each
// interval of the group. Groups that are far below the whole stay as they are, like the
// interval in them that has their mean, and others are split, until what is left in
// groups is less than exp(−below) of the whole each.
//
// A density with other guards too is climbed from several points, those that find finds.
func Compact(ctx context.Context, d *graph.Density, find func(*graph.Density) ([][]float64, error)) (*graph.Density, error) {
	sums := d.Engine().Sums(nil)
	if sums == nil {
		return d, nil
	}
	start, _ := d.PriorStart()
	return regroup(ctx, d, sums, groupsOf(d.Engine().Switches(), sums), [][]float64{start}, find)
}

// groupsOf are the switches with many intervals, in groups.
func groupsOf(switches []derive.SwitchLatent, sums *derive.Sums) (list []*grouped) {
	for _, w := range switches {
		if len(w.Planes) >= manyPlanes && sums.Splits(w) {
			list = append(list, newGrouped(sums, w))
		}
	}
	return list
}

// regroup is the density of sums of d with the groups that list has in the end. It climbs from starts, or where there
// are other guards from what find finds, if that is not nil.
func regroup(ctx context.Context, d *graph.Density, sums *derive.Sums, list []*grouped, starts [][]float64, find func(*graph.Density) ([][]float64, error)) (*graph.Density, error) {
	for level := 0; ; level++ {
		var groups []derive.Groups
		for _, g := range list {
			groups = append(groups, g.groups())
		}
		e, err := d.Grouped(sums, groups...)
		if err != nil {
			return nil, err
		}
		starts, split := starts, false
		for _, g := range list {
			if level == 0 && find != nil && e.Arrangement().Len() > len(g.first)-1 {
				if starts, err = find(e); err != nil {
					return nil, err
				}
			}
			mode, err := NewModeFinder(e, nil)
			if err != nil {
				return nil, err
			}
			if err := g.evaluate(ctx, e, mode, starts); err != nil {
				return nil, err
			}
			split = g.split() || split
		}
		if !split {
			return e, nil
		}
	}
}

// A grouped is a switch whose intervals are in groups.
type grouped struct {
	sums  *derive.Sums
	w     derive.SwitchLatent
	cut   []float64
	first []int       // of each group
	due   []bool      // groups that are to be evaluated,
	known [][]float64 // and where they were climbed to before
	mass  []float64   // log of the prior probability of each interval,
	value []float64   // and log r there, of the normal that is like it in the other latents
	at    []float64   // where the best interval was climbed to; nil before
}

func newGrouped(sums *derive.Sums, w derive.SwitchLatent) *grouped {
	n := len(w.Planes) + 1
	g := &grouped{sums: sums, w: w, mass: make([]float64, n), value: make([]float64, n)}
	for k := range min(n, firstGroups) {
		g.add(k*n/min(n, firstGroups), true, nil)
	}
	return g
}

func (g *grouped) add(first int, due bool, at []float64) {
	g.first, g.due, g.known = append(g.first, first), append(g.due, due), append(g.known, at)
}

// end is where group k ends.
func (g *grouped) end(k int) int {
	if k+1 < len(g.first) {
		return g.first[k+1]
	}
	return len(g.value)
}

// mean is the log of the mean of r in group k, by prior probability, and the interval that is nearest to it.
func (g *grouped) mean(k int) (log float64, at int) {
	a, b := g.first[k], g.end(k)
	log = g.total(a, b) - floats.LogSumExp(g.mass[a:b])
	if math.IsNaN(log) { // without prior probability
		return g.value[a], a
	}
	at = a
	for j := a; j < b; j++ {
		if math.Abs(g.value[j]-log) < math.Abs(g.value[at]-log) {
			at = j
		}
	}
	return log, at
}

// total is the log of the mass of intervals a to b−1.
func (g *grouped) total(a, b int) float64 {
	return floats.LogSumExp(floats.AddTo(make([]float64, b-a), g.value[a:b], g.mass[a:b]))
}

func (g *grouped) groups() derive.Groups {
	out := derive.Groups{Switch: g.w, First: g.first}
	for k := range g.first {
		log, at := g.mean(k)
		add := log - g.value[at]
		if g.end(k) == g.first[k]+1 || !finite(add) {
			add = 0
		}
		out.At, out.Add = append(out.At, at), append(out.Add, add)
	}
	return out
}

// evaluate finds the values of the intervals in groups that are due, by climbs in e.
func (g *grouped) evaluate(ctx context.Context, e *graph.Density, mode *ModeFinder, starts [][]float64) error {
	prior, err := e.Residuals(1)
	if err != nil {
		return err
	}
	if g.cut == nil {
		g.cut = make([]float64, len(g.w.Planes))
		g.w.Thresholds(1).Fill(g.cut, make([]float64, e.Dim()))
	}
	groups := g.w // the switch, in e
	groups.Planes = nil
	for _, w := range e.Engine().Switches() {
		if w.Latent == g.w.Latent {
			groups.Planes = w.Planes
		}
	}
	now := g.groups()
	best := slices.Repeat([]float64{math.Inf(-1)}, len(g.first))
	along := make([]float64, len(g.value))
	err = g.sweep(starts, func(k int, z []float64) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		precision, top, err := mode.extend(ctx, z, inInterval(e.Arrangement().Signs(z), groups, k))
		if err != nil || precision == nil || !(top > best[k]) {
			return err
		}
		best[k] = top
		g.known[k] = slices.Clone(z)
		copy(prior.Z, z)
		prior.Invert()
		a, b := g.first[k], g.end(k)
		g.sums.Along(along[:b-a], g.w, z, a)
		at := along[now.At[k]-a] + now.Add[k]
		for j := a; j < b; j++ {
			g.value[j] = top + along[j-a] - at
			lo, hi := truncnorm.Between(g.cut, j)
			g.mass[j] = prior.LogMass(g.w.Latent, 0, lo, hi)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for k, due := range g.due {
		if a, b := g.first[k], g.end(k); due && math.IsInf(best[k], -1) { // no climb had an end
			for j := a; j < b; j++ {
				g.value[j], g.mass[j] = math.Inf(-1), 0
			}
		}
	}
	clear(g.due)
	g.choose(prior)
	return nil
}

// sweep climbs in the groups that are due, forwards and backwards from each start: in one whose mode was known from there, and in
// others from where the climb before it ended, to which climb moves z.
func (g *grouped) sweep(starts [][]float64, climb func(k int, z []float64) error) error {
	was := slices.Clone(g.known)
	for _, start := range starts {
		for _, back := range []bool{false, true} {
			z := slices.Clone(start)
			for k := range g.first {
				if back {
					k = len(g.first) - 1 - k
				}
				if !g.due[k] || back && was[k] != nil {
					continue
				}
				if was[k] != nil {
					z = slices.Clone(was[k])
				}
				if err := climb(k, z); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// choose makes at the mode of the interval with most mass, with the switch in it.
func (g *grouped) choose(prior *residuals.Batch) {
	best, at := math.Inf(-1), 0
	for k, first := range g.first {
		for j := first; j < g.end(k); j++ {
			if x := g.value[j] + g.mass[j]; x > best && g.known[k] != nil {
				best, at = x, j
				g.at = g.known[k]
			}
		}
	}
	if g.at == nil {
		return
	}
	lo, hi := truncnorm.Between(g.cut, at)
	copy(prior.Z, g.at)
	prior.Invert()
	g.at = slices.Clone(g.at)
	g.at[g.w.Latent] = prior.Within(g.w.Latent, 0, 0.5, lo, hi)
}

// split splits groups that have too much of the whole, and joins neighbours that have next to
// nothing. It reports whether any is left to be evaluated.
func (g *grouped) split() (any bool) {
	whole := g.total(0, len(g.value))
	type part struct {
		first, size int
		share       float64
		at          []float64
	}
	var parts []part
	for k, first := range g.first {
		size := g.end(k) - first
		share := g.total(first, first+size) - whole
		if n := len(parts); n > 0 && share < -nothing && parts[n-1].share < -nothing {
			parts[n-1].size += size
			continue
		}
		parts = append(parts, part{first, size, share, g.known[k]})
	}
	order := make([]int, len(parts))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(parts[b].share, parts[a].share) })
	into, n := make([]int, len(parts)), len(parts)
	for _, k := range order {
		p := parts[k]
		least := -float64(nearBelow)
		if p.size > fewInside {
			least = -farBelow
		}
		m := pieces
		if p.size <= fewInside {
			m = p.size
		}
		into[k] = 1
		if p.size > 1 && p.share > least && n+m-1 <= mostGroups {
			into[k], any = m, true
			n += m - 1
		}
	}
	g.first, g.due, g.known = nil, nil, nil
	for k, p := range parts {
		for i := range into[k] {
			g.add(p.first+i*p.size/into[k], into[k] > 1, p.at)
		}
	}
	return any
}
