package cells

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
	"github.com/facetvi/facet/vi/weighted"
)

// How cells are searched for.
const (
	quick      = 128 // draws of a cell that was found,
	thorough   = 512 // and of one of which they say little
	round      = 16  // cells that are looked at side by side
	cautious   = 100 // a cell counts from this part of what may be left out on,
	settling   = 10  // and from so many times that on when there is little news
	scanned    = 10  // cells whose lines are scanned
	scanKeep   = 6   // intervals of a line that are looked at
	mostFailed = 4   // times that a cell is looked at without a mode
	hopeless   = 8   // leads without a mode in any cell, with switches summed out, after which there is none
)

// MostLatents is the number of latents beyond which there is no search: second
// derivatives would cost more than the answer is worth.
const MostLatents = modeLatents

// Settings say how far a search goes.
type Settings struct {
	// Points are where it starts.
	Points [][]float64
	// Draws are from where else to climb in a cell: it may have several modes.
	Draws [][]float64
	// Most is the number of cells that it looks at. Over, if not nil, is asked by several
	// goroutines whether to end, once it has found one; what it finds then depends on the machine.
	Most int
	Over func() bool
	// Lost is how much of the posterior may be left out, below 1; 0.001 if 0. A cell that
	// may have a hundredth of it is measured, and the search ends when it has looked at the
	// neighbours of all these cells; or of those with a tenth of it, if less than a hundredth
	// was in the last quarter of the cells that it looked at.
	Lost float64
	Seed uint64
	// Switches are summed out: guards on them bound no cells.
	Switches []graph.SwitchLatent
	Progress func(tried, found int)
}

// A Search is what was found.
type Search struct {
	Cells   []*Cell // by evidence, falling
	Tried   int     // cells that were looked at
	Leads   int     // regions that promised something, and were not looked at
	d       *graph.Density
	lines   *lines
	s       Settings
	least   float64 // the part of the whole from which on a cell counts
	finders []*finder
	seen    map[string]bool
	asked   map[regions.Signs]bool
	failed  map[string]int // how often no mode of a cell was found
}

// A lead is a region that may be worth a look, and a point from where to look.
type lead struct {
	z     []float64
	s     regions.Signs
	drawn bool // the point is one of Settings.Points
}

// Find looks for the cells of a density that hold its mass. When ctx is done, its error is beside what was found.
func Find(ctx context.Context, d *graph.Density, s Settings) (*Search, error) {
	s.Lost = cmp.Or(s.Lost, 1e-3)
	f := &Search{d: d, s: s, least: s.Lost / cautious, lines: newLines(d.Arrangement()), seen: map[string]bool{}, asked: map[regions.Signs]bool{}, failed: map[string]int{}}
	f.finders = make([]*finder, parallel.Processors(round))
	for k := range f.finders {
		var err error
		if f.finders[k], err = newFinder(d, f.lines, s.Switches); err != nil {
			return nil, err
		}
		f.finders[k].draws = s.Draws
	}
	signs := make([]regions.Signs, len(s.Draws))
	for k, z := range s.Draws {
		signs[k] = d.Arrangement().Signs(z)
	}
	for _, x := range f.finders {
		x.signs = signs
	}
	for _, w := range s.Switches {
		f.lines.free(w.Planes)
	}
	var leads []lead
	for _, z := range s.Points {
		leads = f.add(leads, lead{z: z, s: d.Arrangement().Signs(z), drawn: true})
	}
	for len(leads) > 0 && f.Tried < s.Most && ctx.Err() == nil && !(f.over() && len(f.Cells) > 0) {
		if len(s.Switches) > 0 && f.Tried >= hopeless && len(f.Cells) == 0 {
			break
		}
		n := min(round, len(leads))
		if len(s.Switches) > 0 {
			n = 1 // of many leads to the same cell the first one that has a mode counts
		}
		if err := f.look(ctx, leads[:n]); err != nil {
			f.Leads = len(leads)
			return f, err
		}
		leads = leads[n:]
		if len(leads) < round {
			leads = append(leads, f.expand(ctx, round)...)
		}
	}
	f.Leads = len(leads)
	return f, ctx.Err()
}

// over reports whether the time for the search is.
func (f *Search) over() bool { return f.s.Over != nil && f.s.Over() }

// Unfinished is how much of the mass that was found is in cells that were found last,
// if the search ended before it had seen all cells that promised something: about as much
// may be in others.
func (f *Search) Unfinished() (part float64) {
	if f.Leads == 0 {
		return 0
	}
	return f.late()
}

// late is the part of the mass in the cells of the last quarter.
func (f *Search) late() (part float64) {
	total := f.total()
	for _, c := range f.Cells {
		if c.order >= f.Tried*3/4 {
			part += math.Exp(c.LogEvidence.Value - total)
		}
	}
	return part
}

func (f *Search) add(list []lead, l lead) []lead {
	if f.asked[l.s] {
		return list
	}
	f.asked[l.s] = true
	return append(list, l)
}

// look tries leads side by side.
func (f *Search) look(ctx context.Context, leads []lead) error {
	found := make([]*Cell, len(leads))
	err := parallel.Do(len(f.finders), len(leads), func(w, k int) (err error) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		found[k], err = f.finders[w].span(leads[k])
		return err
	})
	if err != nil {
		return err
	}
	least := f.total() + math.Log(f.least)
	var todo []*Cell
	for _, c := range found {
		if id := key(c.span); !f.seen[id] {
			f.seen[id] = true
			c.order = f.Tried + len(todo)
			todo = append(todo, c)
		}
	}
	first := f.Tried
	f.Tried += len(todo)
	err = parallel.Do(len(f.finders), len(todo), func(w, k int) (err error) {
		return f.finders[w].evaluate(ctx, todo[k], least, parallel.NewRand(parallel.Mix(f.s.Seed, uint64(first+k))))
	})
	for _, c := range todo {
		if id := key(c.span); c.modeless && (len(f.s.Switches) > 0 || f.failed[id] < mostFailed) {
			f.failed[id]++
			delete(f.seen, id) // from another point there may be a mode
			delete(f.asked, c.region)
		}
		if c.Q != nil && finite(c.LogEvidence.Value) {
			at, _ := slices.BinarySearchFunc(f.Cells, c, func(a, b *Cell) int { return cmp.Compare(b.LogEvidence.Value, a.LogEvidence.Value) })
			f.Cells = slices.Insert(f.Cells, at, c)
		}
	}
	if f.s.Progress != nil {
		f.s.Progress(f.Tried, len(f.Cells))
	}
	return err
}

// expand returns leads from the best cells that were not expanded, of at least
// f.least of the whole, or settling times that when there is little news.
func (f *Search) expand(ctx context.Context, n int) (leads []lead) {
	least := f.total() + math.Log(f.least)
	if f.Tried >= 4*round && f.late() < f.least {
		least += math.Log(settling)
	}
	for k, c := range f.Cells {
		if len(leads) >= n || c.LogEvidence.Value < least {
			break
		}
		if c.expanded {
			continue
		}
		c.expanded = true
		for _, l := range f.finders[0].neighbours(ctx, c) {
			leads = f.add(leads, l)
		}
		if k < scanned {
			for _, l := range f.finders[0].scan(ctx, c) {
				leads = f.add(leads, l)
			}
		}
	}
	return leads
}

func (f *Search) total() float64 {
	if len(f.Cells) == 0 {
		return math.Inf(-1)
	}
	v := make([]float64, len(f.Cells))
	for k, c := range f.Cells {
		v[k] = c.LogEvidence.Value
	}
	return floats.LogSumExp(v)
}

// A finder makes cells. It is for one goroutine.
type finder struct {
	d        *graph.Density
	lines    *lines
	walker   *prober
	prober   *prober // of scans; nil before the first
	mode     *ModeFinder
	x        *graph.Executor
	switches []graph.SwitchLatent // that are summed out
	draws    [][]float64          // Settings.Draws
	signs    []regions.Signs      // of each
	discrete []bool               // latents
}

func newFinder(d *graph.Density, g *lines, switches []graph.SwitchLatent) (*finder, error) {
	f := &finder{d: d, lines: g, switches: switches, discrete: make([]bool, d.Dim())}
	for i := range f.discrete {
		values, _ := d.Values(i)
		f.discrete[i] = values != nil
	}
	var err error
	if f.walker, err = newWalker(d, g); err != nil {
		return nil, err
	}
	if f.mode, err = NewModeFinder(d, switches); err != nil {
		return nil, err
	}
	f.x, err = d.Executor(quick, graph.Compute{Out: true})
	return f, err
}

// span is the cell of a lead, without more than its extent.
func (f *finder) span(l lead) (*Cell, error) {
	spans, err := f.spans(l.z, l.s)
	return &Cell{region: l.s, span: spans, point: slices.Clone(l.z), drawn: l.drawn}, err
}

// beside is the log of a normal's mass in a cell below which its mode is so far outside that log r at the edge is another matter.
const beside = -1.5

// evaluate finds what a cell is worth, if it may be worth least: by the mode of what log r is there, which may be outside, and
// where that is far by the edge of the cell as well.
func (f *finder) evaluate(ctx context.Context, c *Cell, least float64, rng *rand.Rand) error {
	drawn := slices.Clone(c.point)
	precision, bound, err := f.mode.extend(ctx, c.point, c.region)
	c.modeless = precision == nil
	if err != nil {
		return err
	}
	sides, _, _ := f.lines.affine(f.lines.sides(c.span))
	inside := math.Inf(-1)
	if precision != nil {
		inside = f.most(c.point, precision, sides)
	}
	if bound+inside > least {
		if err := f.propose(ctx, c, c.point, precision, bound, rng); err != nil {
			return err
		}
	}
	if !c.drawn || len(f.switches) > 0 || inside > beside || len(sides) == 0 {
		return nil
	}
	mean, precision, bound, err := f.mode.edge(ctx, drawn, c.region)
	if err != nil || mean == nil || !(bound+f.most(mean, precision, sides) > least) {
		return err
	}
	edge := *c
	edge.Q, edge.point, edge.modeless = nil, drawn, false
	if err := f.propose(ctx, &edge, mean, precision, bound, rng); err != nil {
		return err
	}
	if edge.Q != nil && (c.Q == nil || edge.ELBO.Value > c.ELBO.Value) {
		*c = edge
	}
	return nil
}

// propose gives a cell the normal with a mean and a precision, and those at its other modes, confined to the cell, and weighs it.
// bound is the log of the normal's integral.
func (f *finder) propose(ctx context.Context, c *Cell, mean []float64, precision *mat.SymDense, bound float64, rng *rand.Rand) error {
	all := f.lines.sides(c.span)
	sides, of, curved := f.lines.affine(all)
	logs, normals, err := f.modes(ctx, c, mean, precision, bound, all)
	if err != nil {
		return err
	}
	c.open = curved
	parts := make([]family.Q, len(normals))
	for k, normal := range normals {
		if parts[k] = normal; len(sides) == 0 {
			continue
		}
		confined, open, err := normal.Confine(sides)
		if err != nil {
			return nil // the region is empty
		}
		parts[k] = confined
		for _, j := range open {
			if !slices.Contains(c.open, of[j]) {
				c.open = append(c.open, of[j])
			}
		}
	}
	if c.Q = parts[0]; len(parts) > 1 {
		c.Q = family.NewMixture(logs, parts)
	}
	if len(f.switches) > 0 {
		c.Q = newSummed(f.d, c.Q, f.switches)
	}
	return f.weigh(ctx, c, rng)
}

func (f *finder) normal(mean []float64, precision *mat.SymDense) *family.Normal {
	return family.FromPrecision(mean, sparse(precision)).Points(f.d.Params())
}

// When another mode counts.
const (
	modeApart = 4  // standard deviations in some latent, from all others
	modeBelow = 12 // nats of its integral below the first one's
	mostModes = 8
	lostWays  = 16   // climbs that end where another one did, or nowhere: then there are no more
	fewDraws  = 2000 // are asked whether they are in a cell that is not everything
)

// modes are the normals at all modes of a cell that climbs from f.draws find, beside a first one, whose integral is bound, with the
// logs of their integrals in the cell. A mixture has as many when its components may change places.
func (f *finder) modes(ctx context.Context, c *Cell, mean []float64, precision *mat.SymDense, bound float64, sides []regions.Side) (
	logs []float64, normals []*family.Normal, err error,
) {
	half, _, _ := f.lines.affine(sides)
	logs, normals = []float64{bound + f.most(mean, precision, half)}, []*family.Normal{f.normal(mean, precision)}
	apart := make([]bool, f.d.Dim()) // latents whose place says nothing
	for i := range apart {
		apart[i] = i < f.d.Params() || slices.ContainsFunc(f.switches, func(w graph.SwitchLatent) bool { return w.Latent == i })
	}
	var at []float64
	type box struct{ mean, sd []float64 }
	around := func(q *family.Normal) (b box) {
		for i := range q.Dim() {
			b.mean, b.sd = append(b.mean, q.Mean(i)), append(b.sd, q.SD(i))
		}
		return b
	}
	boxes := []box{around(normals[0])}
	near := func(b box) bool {
		for i, x := range at {
			if !apart[i] && math.Abs(x-b.mean[i]) > modeApart*b.sd[i] {
				return false
			}
		}
		return true
	}
	stride := 1
	if len(sides) > 0 {
		stride = max(1, len(f.draws)/fewDraws)
	}
	lost := 0
	for k := 0; k < len(f.draws) && lost < lostWays && len(normals) < mostModes; k += stride {
		out := func(s regions.Side) bool { return f.signs[k].Positive(s.Plane) != s.Positive }
		if at = f.draws[k]; slices.ContainsFunc(sides, out) || slices.ContainsFunc(boxes, near) {
			continue // of another cell, or of a mode that is known
		}
		at = slices.Clone(at)
		lost++
		p, top, err := f.mode.extend(ctx, at, c.region)
		if err != nil {
			return nil, nil, err
		}
		if p == nil {
			continue
		}
		if len(f.switches) > 0 { // whose place in the normal says nothing
			for _, w := range f.switches {
				at[w.Latent] = c.point[w.Latent]
				p.SetSym(w.Latent, w.Latent, precision.At(w.Latent, w.Latent))
			}
		}
		if top += f.most(at, p, half); top > logs[0]-modeBelow && !slices.ContainsFunc(boxes, near) {
			lost--
			logs, normals = append(logs, top), append(normals, f.normal(at, p))
			boxes = append(boxes, around(normals[len(normals)-1]))
		}
	}
	return logs, normals, nil
}

// sparse leaves out what differences have left of correlations that are none.
func sparse(p *mat.SymDense) *mat.SymDense {
	n := p.SymmetricDim()
	for i := range n {
		for j := range i {
			if x := p.At(i, j); x*x < 1e-16*p.At(i, i)*p.At(j, j) {
				p.SetSym(i, j, 0)
			}
		}
	}
	return p
}

// most is a bound of the log probability of sides under a normal: that of the least
// probable one.
func (f *finder) most(mean []float64, precision *mat.SymDense, sides []family.Side) float64 {
	var chol mat.Cholesky
	cov := mat.NewSymDense(len(mean), nil)
	if !chol.Factorize(precision) || chol.InverseTo(cov) != nil {
		return 0
	}
	most := 0.0
	for _, h := range sides {
		v := 0.0
		for k, i := range h.Index {
			for l, j := range h.Index {
				if i < f.d.Params() || j < f.d.Params() {
					continue
				}
				v += h.Coef[k] * h.Coef[l] * cov.At(i, j)
			}
		}
		t := h.At(mean) / math.Sqrt(v)
		if !h.Positive {
			t = -t
		}
		most = min(most, truncnorm.LogMass(-t, math.Inf(1)))
	}
	return most
}

// weigh estimates the evidence of a cell.
func (f *finder) weigh(ctx context.Context, c *Cell, rng *rand.Rand) error {
	err := f.weighBy(ctx, c, quick, rng)
	if err == nil && !(c.LogEvidence.SE < judgedSE) {
		err = f.weighBy(ctx, c, thorough, rng)
	}
	return err
}

func (f *finder) weighBy(ctx context.Context, c *Cell, n int, rng *rand.Rand) error {
	w, err := ratios(ctx, f.d, f.x, c.Q, n, rng)
	if err != nil {
		return err
	}
	c.center, c.mean, c.sd = make([]float64, f.d.Dim()), make([]float64, f.d.Dim()), make([]float64, f.d.Dim())
	var inside []float64
	for k, z := range w.z {
		if f.lines.outside(c.open, z) {
			w.ratio[k] = math.Inf(-1)
			continue
		}
		inside = append(inside, w.ratio[k])
		floats.Add(c.center, z)
		for i, v := range z {
			if f.discrete[i] { // whose variance may be that of a rare one
				v = f.d.ConstrainOne(i, v)
			}
			c.mean[i] += v
			c.sd[i] += v * v
		}
	}
	if len(inside) == 0 {
		c.LogEvidence = mc.Estimate{Value: math.Inf(-1), SE: math.Inf(1)}
		return nil
	}
	floats.Scale(1/float64(len(inside)), c.center)
	floats.Scale(1/float64(len(inside)), c.mean)
	for i, m := range c.mean {
		c.sd[i] = math.Sqrt(max(0, c.sd[i]/float64(len(inside))-m*m))
	}
	if smoothed, err := weighted.ParetoSmooth(inside); err == nil {
		c.KHat = smoothed.K
	}
	c.ELBO = mc.Mean(inside)
	c.ELBO.Value += math.Log(float64(len(inside)) / float64(n))
	c.LogEvidence = mc.LogMean(w.ratio)
	return nil
}

// neighbours are the regions across the cell's sides.
func (f *finder) neighbours(ctx context.Context, c *Cell) (leads []lead) {
	for k, s := range c.span {
		if ctx.Err() != nil {
			return leads
		}
		if s.first > 0 {
			leads = append(leads, f.at(c, k, s.first-1)...)
		}
		if s.last < len(f.lines.group[k]) {
			leads = append(leads, f.at(c, k, s.last+1)...)
		}
	}
	return leads
}

// at are the regions where the line of group k is in interval to.
func (f *finder) at(c *Cell, k, to int) (leads []lead) {
	planes, i := f.lines.group[k], f.lines.interval(k, c.region)
	flip := planes[min(i, to):max(i, to)]
	for _, apart := range []float64{6, math.Inf(1)} {
		z := slices.Clone(c.center)
		leads = append(leads, lead{z: z, s: f.d.Across(z, c.region, flip, apart)})
	}
	return leads
}

// scan looks along the lines of groups of many planes for intervals where log r,
// the other latents staying where they are, is highest. It takes both ends too: beyond all
// planes there may be latents that no data bind, for which to stay is to be much too low.
func (f *finder) scan(ctx context.Context, c *Cell) (leads []lead) {
	if f.prober == nil {
		var err error
		if f.prober, err = newProber(f.d, probes); err != nil {
			return nil
		}
	}
	p := f.prober
	for k, planes := range f.lines.group {
		if len(planes) < 3 || f.lines.open[k] {
			continue
		}
		if ctx.Err() != nil {
			return leads
		}
		i := f.lines.interval(k, c.region)
		value := make([]float64, len(planes)+1)
		for first := 0; first <= len(planes); first += probes {
			n := min(probes, len(planes)+1-first)
			p.reset(c.center, c.region)
			for col := range n {
				p.move(col, planes, i, first+col)
			}
			if p.x.Run() != nil {
				return leads
			}
			copy(value[first:], p.x.Out[:n])
		}
		order := make([]int, len(value))
		for j := range order {
			order[j] = j
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
		for _, to := range append(order[:min(scanKeep, len(order))], 0, len(planes)) {
			if to != i {
				leads = append(leads, f.at(c, k, to)...)
			}
		}
	}
	return leads
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
