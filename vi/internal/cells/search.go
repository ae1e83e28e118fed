package cells

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/regions"
)

// How cells are searched for.
const (
	atATime    = 16  // cells that are looked at side by side,
	fewer      = 8   // or with switches summed out
	patience   = 100 // cells in a row that do not count, after which no more are looked at
	scanned    = 10  // cells with the same values of discrete latents, the best ones, whose lines are scanned,
	scannedAll = 40  // and so many in all
	mostFailed = 4   // times that a cell is looked at without a mode
	hopeless   = 8   // leads without a mode in any cell, with switches summed out, after which there is none
)

// MostLatents is the number of latents beyond which there is no search: second
// derivatives would cost more than the answer is worth.
const MostLatents = modeLatents

// Find looks for the cells of a density that hold its mass. When ctx is done, its error is beside what was found.
func Find(ctx context.Context, d *graph.Density, s Settings) (*Search, error) {
	s.Lost = cmp.Or(s.Lost, 1e-4)
	f := &Search{d: d, s: s, lines: newLines(d.Arrangement()), seen: map[string]bool{}, failed: map[string]int{}, queue: queue{asked: map[regions.Signs]bool{}}}
	f.finders = make([]*finder, parallel.Processors(atATime))
	for k := range f.finders {
		var err error
		if f.finders[k], err = newFinder(d, f.lines, s.Switches); err != nil {
			return nil, err
		}
		f.finders[k].draws, f.finders[k].given, f.finders[k].over = s.Draws, f.finders[0].given, f.over
	}
	for _, w := range s.Switches {
		f.lines.free(w.Planes)
	}
	if err := f.start(); err != nil {
		return nil, err
	}
	defer func() { f.Leads = len(f.queue.todo) }()
	for quiet := 0; f.Tried < s.Most && ctx.Err() == nil && !(f.over() && len(f.Cells) > 0); {
		if len(s.Switches) > 0 && f.Tried >= hopeless && len(f.Cells) == 0 {
			break
		}
		known := f.together()
		if err := f.expand(ctx, known, atATime); err != nil {
			return f, err
		}
		n := atATime
		if len(s.Switches) > 0 {
			n = fewer // of many leads to the same cell the first one that has a mode counts
		}
		next := f.queue.next(n)
		if len(next) == 0 || quiet >= patience && !math.IsInf(next[0].log, 1) {
			break
		}
		tried, found := f.Tried, len(f.Cells)
		if err := f.look(ctx, known, next); err != nil {
			return f, err
		}
		if quiet += f.Tried - tried; len(f.Cells) > found {
			quiet = 0
		}
	}
	return f, ctx.Err()
}

// start makes the first leads.
func (f *Search) start() error {
	var points []lead
	for _, z := range f.s.Points {
		if l := (lead{z: z, s: f.d.Arrangement().Signs(z), drawn: true, log: math.Inf(1)}); f.queue.ask(l.s) {
			points = append(points, l)
		}
	}
	if len(f.queue.todo) > 0 { // which are better: the points are for what these do not lead to
		if err := f.finders[0].promise(points); err != nil {
			return err
		}
	}
	for _, l := range points {
		f.queue.push(l)
	}
	return nil
}

// look tries leads side by side.
func (f *Search) look(ctx context.Context, known totals, leads []lead) error {
	found := make([]*Cell, len(leads))
	err := parallel.Do(len(f.finders), len(leads), func(w, k int) (err error) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		found[k], err = f.finders[w].cellOf(leads[k])
		return err
	})
	if err != nil {
		return err
	}
	var todo []*Cell
	now := map[string]bool{}
	for k, c := range found {
		switch id := key(c.span); {
		case now[id] && len(f.s.Switches) > 0: // the first lead may come to no mode
			f.queue.push(leads[k])
		case !f.seen[id]:
			f.seen[id], now[id] = true, true
			c.order = f.Tried + len(todo)
			todo = append(todo, c)
		}
	}
	first := f.Tried
	f.Tried += len(todo)
	err = parallel.Do(len(f.finders), len(todo), func(w, k int) (err error) {
		if err := f.finders[w].higher(todo[k], f.beside(todo[k])); err != nil {
			return err
		}
		return f.finders[w].evaluate(ctx, todo[k], known, parallel.NewRand(parallel.Mix(f.s.Seed, uint64(first+k))))
	})
	for _, c := range todo {
		if id := key(c.span); c.modeless && (len(f.s.Switches) > 0 || f.failed[id] < mostFailed) {
			f.failed[id]++
			delete(f.seen, id) // from another point there may be a mode
			delete(f.queue.asked, c.region)
		}
		if c.Q != nil && finite(c.LogEvidence.Value) {
			at, _ := slices.BinarySearchFunc(f.Cells, c, byEvidence)
			f.Cells = slices.Insert(f.Cells, at, c)
		}
	}
	if f.s.Progress != nil {
		f.s.Progress(f.Tried, len(f.Cells))
	}
	return err
}

// expand adds leads from the best n cells that count and were not expanded.
func (f *Search) expand(ctx context.Context, known totals, n int) error {
	x := f.finders[0]
	var list []lead
	var now []*Cell
	rank := map[string]int{} // by values of discrete latents
	for k, c := range f.Cells {
		of := f.values(c)
		rank[of]++
		if n == 0 {
			break
		}
		if c.expanded || !known.counts(c.LogEvidence.Value, c.moments) {
			continue
		}
		c.expanded = true
		n--
		if rank[of] <= scanned && k < scannedAll {
			for _, l := range x.scan(ctx, c) {
				if l.log = math.Inf(1); f.queue.ask(l.s) { // where latents are that no data bind the point says nothing
					f.queue.push(l)
				}
			}
		}
		list = append(list, slices.DeleteFunc(x.neighbours(ctx, c), func(l lead) bool { return !f.queue.ask(l.s) })...)
		now = append(now, c)
	}
	if err := f.again(ctx, known, now); err != nil {
		return err
	}
	if err := x.promise(list); err != nil {
		return err
	}
	for _, l := range list {
		f.queue.push(l)
	}
	return nil
}

// Scattered is about the part of draws of a posterior whose cells have no other one of
// some hundred draws: what cells that are found by such draws leave out.
func Scattered(ctx context.Context, d *graph.Density, draws [][]float64) (float64, error) {
	const most = 400
	f, err := newFinder(d, newLines(d.Arrangement()), nil)
	if err != nil {
		return 0, err
	}
	count, n := map[string]int{}, 0
	cell := map[regions.Signs]string{}
	for k := 0; k < len(draws); k += max(1, len(draws)/most) {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		s := d.Arrangement().Signs(draws[k])
		if _, known := cell[s]; !known {
			spans, err := f.spans(draws[k], s)
			if err != nil {
				return 0, err
			}
			cell[s] = key(spans)
		}
		count[cell[s]]++
		n++
	}
	alone := 0
	for _, c := range count {
		if c == 1 {
			alone++
		}
	}
	return float64(alone) / float64(max(1, n)), nil
}

// Different are some of the points, each in another region: those of the regions with
// most points first.
func Different(d *graph.Density, points [][]float64, most int) (list [][]float64) {
	count, first := map[regions.Signs]int{}, map[regions.Signs]int{}
	var order []regions.Signs
	for k, z := range points {
		s := d.Arrangement().Signs(z)
		if count[s]++; count[s] == 1 {
			first[s] = k
			order = append(order, s)
		}
	}
	slices.SortStableFunc(order, func(a, b regions.Signs) int { return count[b] - count[a] })
	for _, s := range order[:min(most, len(order))] {
		list = append(list, points[first[s]])
	}
	return list
}
