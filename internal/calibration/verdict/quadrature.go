package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Posteriors by nested adaptive quadrature. The innermost integral is cut where comparisons
// change sides, to rounding; outer ones where those that do not depend on inner latents do. It
// is computed twice, with latents in opposite orders, other panels and other ends: where the
// two differ a number is not known.

// A posterior is what is known of a program's posterior, with numbers in the order of the
// program's latents and named guards.
type posterior struct {
	logEvidence float64
	mean, sd    []float64
	masses      [][]float64 // of discrete latents
	probs       []float64
}

// Limits of the quadrature.
const (
	pilotDraws  = 10_000
	mostNodes   = 4_000_000
	mostPanels  = 300
	negligible  = -80. // log of the density of outer latents, beside that of the best draw, where inner ones are not looked at
	sameMean    = 1e-3 // of a standard deviation, largest difference of the two quadratures
	sameSD      = 2e-3
	sameProb    = 2e-4
	sameLog     = 1e-3
	rareMost    = 1e-9 // mass that may be left out of counts
	leastWeight = 30.  // effective draws of the prior that tell where the posterior is
)

// The 15 points of Kronrod and their weights, and the weights of Gauss at every other one.
var (
	kronrod = [8]float64{0.991455371120812639206854697526329, 0.949107912342758524526189684047851, 0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
		0.586087235467691130294144691693390, 0.405845151377397166906606412076961, 0.207784955007898467600689403773245, 0}
	kronrodWeights = [8]float64{0.022935322010529224963732008058970, 0.063092092629978553290700663189204, 0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
		0.169004726639267902826583426598550, 0.190350578064785409913256402421014, 0.204432940075298892414161999234649, 0.209482141084727828012999174891714}
	gaussWeights = [8]float64{0, 0.129484966168869693270611432679082, 0, 0.279705391489276667901467771423780, 0, 0.381830050505118944950369775488975, 0, 0.417959183673469387755102040816327}
)

const nodes = 15

// point is node i on (−1, 1), and its weights.
func point(i int) (x, weight, gauss float64) {
	if i < 8 {
		return -kronrod[i], kronrodWeights[i], gaussWeights[i]
	}
	return kronrod[14-i], kronrodWeights[14-i], gaussWeights[14-i]
}

// A coordinate is what a latent is integrated over: u, of which the latent is a function whose
// tails of powers become those of exponentials.
type coordinate struct {
	space          space
	center, scale  float64 // of the latent, on its own scale
	lo, hi, middle float64
	knots          []float64
}

// value is the latent at u, and its slope.
func (c *coordinate) value(u float64) (x, slope float64) {
	switch c.space {
	case line:
		grow := 0.5 * c.scale * math.Exp(u)
		shrink := 0.25 * c.scale * c.scale / grow
		return c.center + grow - shrink, grow + shrink
	case half:
		x = math.Exp(c.middle + u)
		return x, x
	case unit:
		x, rest := sigmoid(u), sigmoid(-u)
		return x, x * rest
	}
	return u, 1
}

// of is the coordinate of a value.
func (c *coordinate) of(x float64) float64 {
	switch c.space {
	case line:
		return math.Asinh((x - c.center) / c.scale)
	case half:
		return math.Log(x) - c.middle
	case unit:
		return math.Log(x / (1 - x))
	}
	return x
}

// A pilot are draws from the prior with their weights.
type pilot struct {
	x       [][]float64 // by latent
	weights []float64
	log     []float64 // of the weights
	top     float64
	ess     float64
}

func (p *program) pilot(rng *rand.Rand) (w pilot) {
	r := p.registers()
	w.x = make([][]float64, len(p.latents))
	var params []float64
	for range pilotDraws {
		log := p.draw(r, rng, params)
		if math.IsNaN(log) {
			log = math.Inf(-1)
		}
		w.log = append(w.log, log)
		for i, l := range p.latents {
			w.x[i] = append(w.x[i], r[l.reg])
		}
	}
	w.top = slices.Max(w.log)
	sum, square := 0.0, 0.0
	for _, log := range w.log {
		v := math.Exp(log - w.top)
		w.weights = append(w.weights, v)
		sum += v
		square += v * v
	}
	w.ess = sum * sum / square
	return w
}

// logEvidence is that of the draws, and its standard error.
func (w *pilot) logEvidence() (log, se float64) {
	n := float64(len(w.weights))
	sum := 0.0
	for _, v := range w.weights {
		sum += v
	}
	return w.top + math.Log(sum/n), math.Sqrt(max(0, 1/w.ess-1/n))
}

// quantiles are those of latent i, by weights or without.
func (w *pilot) quantiles(i int, weighted bool, at ...float64) (list []float64) {
	index := make([]int, len(w.weights))
	total := 0.0
	for k := range index {
		index[k] = k
		total += w.weights[k]
	}
	slices.SortFunc(index, func(a, b int) int {
		switch x, y := w.x[i][a], w.x[i][b]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	sum, next := 0.0, 0
	for k, j := range index {
		if weighted {
			sum += w.weights[j] / total
		} else {
			sum = float64(k+1) / float64(len(index))
		}
		for next < len(at) && sum >= at[next] {
			list = append(list, w.x[i][j])
			next++
		}
	}
	return list
}

// coordinate is that of latent i. The second one has other ends and panels.
func (w *pilot) coordinate(l latent, i int, second bool) coordinate {
	useful := w.ess > leastWeight
	c := coordinate{space: l.space, lo: -24, hi: 24}
	away, at := 2.0, []float64{0.02, 0.5, 0.98}
	if second {
		c.lo, c.hi, away, at = -20, 20, 1.7, []float64{0.03, 0.4, 0.97}
	}
	q := w.quantiles(i, useful, 0.25, 0.5, 0.75)
	c.center, c.scale = q[1], max(q[2]-q[0], 1e-9*math.Abs(q[1]), 1e-30)
	switch l.space {
	case half:
		c.middle, c.lo = math.Log(q[1]), 2*c.lo
	case unit:
		c.lo, c.hi = 1.5*c.lo, 1.25*c.hi
	case interval:
		c.lo, c.hi = l.lo, l.hi
	}
	knots := w.quantiles(i, true, at...)
	if !useful {
		knots = append(knots, w.quantiles(i, false, 0.01, 0.5, 0.99)...)
	}
	for k := range knots {
		knots[k] = c.of(knots[k])
	}
	slices.Sort(knots)
	knots[0] -= away
	knots[len(knots)-1] += away
	c.knots = []float64{c.lo}
	for _, u := range append(knots, c.hi) {
		if last := c.knots[len(c.knots)-1]; u <= c.hi && u-last > 1e-3*min(1, c.hi-c.lo) {
			c.knots = append(c.knots, u)
		}
	}
	c.knots[len(c.knots)-1] = c.hi
	return c
}

// A workspace is that of the integrals over one latent.
type workspace struct {
	width  int
	panels []panel
	values []float64 // of panels: width of integrals, and of their errors
	free   []int
	scale  []float64 // the largest integrals of each kind
	node   []float64
	total  []float64
}

type panel struct {
	a, b float64
	at   int
}

// An integrator integrates a program's joint density over its latents in an order.
type integrator struct {
	p      *program
	order  []int
	levels []level
	coords []coordinate
	work   []workspace
	r      []float64
	top    float64
	nodes  int
	logs   [nodes]float64 // of the innermost latent at the nodes of a panel
	xs     [nodes]float64
	slopes [nodes]float64
	holds  [nodes]uint64 // guards
}

// tolerances are those of integrals over one latent, in programs of 1, 2 and 3, relative to
// the largest of their kind. Errors are estimated pessimistically, as in QUADPACK.
var tolerances = [...]float64{5e-5, 5e-5, 1e-3}

var errCostly = errors.New("quadrature takes too many points")

// integrate is the posterior, with continuous latents in this order.
func (p *program) integrate(w *pilot, order []int, second bool) (post posterior, err error) {
	q := &integrator{p: p, order: order, levels: p.levels(order), r: p.registers(), top: w.top}
	for k, i := range order {
		q.coords = append(q.coords, w.coordinate(p.latents[i], i, second))
		width := 1 + len(p.named) + 2*(len(order)-k)
		q.work = append(q.work, workspace{width: width, scale: make([]float64, width), node: make([]float64, width), total: make([]float64, width)})
	}
	defer func() {
		if e := recover(); e != nil {
			if e != errCostly {
				panic(e)
			}
			err = errCostly
		}
	}()
	return q.sum(w)
}

// sum adds up the values of the discrete latents.
func (q *integrator) sum(w *pilot) (post posterior, err error) {
	n := len(q.p.latents)
	post.mean, post.sd, post.masses = make([]float64, n), make([]float64, n), make([][]float64, n)
	square := make([]float64, n)
	total := make([]float64, q.work[0].width)
	for i, l := range q.p.latents {
		if l.discrete() {
			post.masses[i] = make([]float64, l.most+1)
		}
	}
	for _, values := range q.p.values(w) {
		for i, l := range q.p.latents {
			if l.discrete() {
				q.r[l.reg] = float64(values[i])
			}
		}
		part := q.line(0, q.levels[0].compute(q.r))
		for j, v := range part {
			total[j] += v
		}
		for i, l := range q.p.latents {
			if l.discrete() {
				post.masses[i][values[i]] += part[0]
				post.mean[i] += part[0] * float64(values[i])
				square[i] += part[0] * float64(values[i]*values[i])
			}
		}
	}
	z := total[0]
	if !(z > 0) || math.IsInf(z, 0) {
		return post, fmt.Errorf("the integral is %v", z)
	}
	post.logEvidence = q.top + math.Log(z)
	for g := range q.p.named {
		post.probs = append(post.probs, total[1+g]/z)
	}
	for k, i := range q.order {
		at := 1 + len(q.p.named) + 2*(len(q.order)-1-k)
		c := q.coords[k]
		m, s := total[at]/z, total[at+1]/z
		post.mean[i], post.sd[i] = c.center+c.scale*m, c.scale*math.Sqrt(max(0, s-m*m))
	}
	for i, l := range q.p.latents {
		if l.discrete() {
			post.mean[i] /= z
			post.sd[i] = math.Sqrt(max(0, square[i]/z-post.mean[i]*post.mean[i]))
			for k := range post.masses[i] {
				post.masses[i][k] /= z
			}
		}
	}
	return post, nil
}

// values are those of the discrete latents together, those of most weight first.
func (p *program) values(w *pilot) (all [][]int) {
	all = [][]int{make([]int, len(p.latents))}
	for i, l := range p.latents {
		if !l.discrete() {
			continue
		}
		var longer [][]int
		for _, v := range all {
			for k := range l.most + 1 {
				next := slices.Clone(v)
				next[i] = k
				longer = append(longer, next)
			}
		}
		all = longer
	}
	weight := map[string]float64{}
	key := func(value func(i int) int) string {
		s := ""
		for i, l := range p.latents {
			if l.discrete() {
				s += fmt.Sprint(value(i), " ")
			}
		}
		return s
	}
	if len(all) > 1 {
		for k, v := range w.weights {
			weight[key(func(i int) int { return int(w.x[i][k]) })] += v
		}
	}
	slices.SortStableFunc(all, func(a, b []int) int {
		x, y := weight[key(func(i int) int { return a[i] })], weight[key(func(i int) int { return b[i] })]
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return all
}

// line integrates over the latent of level k and all inner ones, given the outer ones, of
// which base is the log density. It returns integrals of 1, of guards, and of each latent and
// its square, from the innermost on.
func (q *integrator) line(k int, base float64) []float64 {
	w := &q.work[k]
	w.panels, w.values, w.free = w.panels[:0], w.values[:0], w.free[:0]
	knots := q.coords[k].knots
	for i := range len(knots) - 1 {
		q.cut(k, base, knots[i], knots[i+1], 0)
	}
	tol := tolerances[len(q.order)-1]
	for range k {
		tol /= 3
	}
	for {
		clear(w.total)
		for _, p := range w.panels {
			for j, v := range w.values[p.at : p.at+w.width] {
				w.total[j] += v
			}
		}
		for j, v := range w.total {
			w.scale[j] = max(w.scale[j], math.Abs(v))
		}
		sum, worst, most := 0.0, 0, -1.0
		for i, p := range w.panels {
			off := 0.0
			for j, e := range w.values[p.at+w.width : p.at+2*w.width] {
				if e > 0 {
					off = max(off, e/w.scale[j])
				}
			}
			if off > most {
				worst, most = i, off
			}
			sum += off
		}
		p := w.panels[worst]
		if sum <= tol || len(w.panels) >= mostPanels || p.b-p.a < 1e-10*(1+math.Abs(p.a)) {
			return w.total
		}
		last := len(w.panels) - 1
		w.panels[worst] = w.panels[last]
		w.panels = w.panels[:last]
		w.free = append(w.free, p.at)
		mid := 0.5 * (p.a + p.b)
		q.cut(k, base, p.a, mid, 0)
		q.cut(k, base, mid, p.b, 0)
	}
}

// set gives the latent of level k its value at u, and computes what follows. It returns the
// latent, its slope, and the log density of what follows.
func (q *integrator) set(k int, u float64) (x, slope, log float64) {
	x, slope = q.coords[k].value(u)
	q.r[q.p.latents[q.order[k]].reg] = x
	return x, slope, q.levels[k+1].compute(q.r)
}

// cut adds a panel, or several, between which comparisons change sides.
func (q *integrator) cut(k int, base, a, b float64, depth int) {
	inner, l := k == len(q.order)-1, &q.levels[k+1]
	if len(l.splits) > 0 || inner {
		const most = 12
		q.nodes += nodes
		if q.nodes > mostNodes {
			panic(errCostly)
		}
		mid, radius := 0.5*(a+b), 0.5*(b-a)
		from, before := 0.0, uint64(0)
		for i := -1; i <= nodes; i++ {
			u := a + 1e-8*radius
			if i == nodes {
				u = b - 1e-8*radius
			} else if i >= 0 {
				x, _, _ := point(i)
				u = mid + radius*x
			}
			if len(l.splits) == 0 && (i < 0 || i == nodes) {
				continue
			}
			x, slope, log := q.set(k, u)
			if len(l.splits) > 0 {
				sides := l.sides(q.r)
				if i >= 0 && sides != before && depth < most && b-a > 1e-9*(1+math.Abs(a)) {
					root := q.root(k, from, u, sides^before)
					q.cut(k, base, a, root, depth+1)
					q.cut(k, base, root, b, depth+1)
					return
				}
				from, before = u, sides
			}
			if inner && i >= 0 && i < nodes {
				q.logs[i], q.xs[i], q.slopes[i], q.holds[i] = base+log-q.top, x, slope, 0
				for g, c := range q.p.named {
					if q.r[c.reg] > 0 {
						q.holds[i] |= 1 << g
					}
				}
			}
		}
	}
	q.add(k, base, a, b)
}

// root is where the first of the comparisons in a set changes sides between two points.
func (q *integrator) root(k int, from, to float64, set uint64) float64 {
	var s split
	for i, x := range q.levels[k+1].splits {
		if set>>i&1 != 0 {
			s = x
			break
		}
	}
	gap := func(u float64) float64 {
		q.set(k, u)
		return q.r[s.a] - q.r[s.b]
	}
	f, g := gap(from), gap(to)
	positive := g > 0
	for i := 0; i < 80 && to-from > 1e-11*(1+math.Abs(from)); i++ {
		u := 0.5 * (from + to)
		if i%3 != 2 && f*g < 0 && !math.IsInf(f, 0) && !math.IsInf(g, 0) {
			u = from - (to-from)*f/(g-f)
			least := 1e-11 * (1 + math.Abs(u)) // so that both ends come near
			u = min(max(u, from+0.4*least), to-0.4*least)
		}
		if h := gap(u); h > 0 == positive {
			to, g = u, h
			f *= 0.5
		} else {
			from, f = u, h
			g *= 0.5
		}
	}
	return 0.5 * (from + to)
}

// add adds a panel.
func (q *integrator) add(k int, base, a, b float64) {
	w := &q.work[k]
	at := len(w.values)
	if n := len(w.free); n > 0 {
		at, w.free = w.free[n-1], w.free[:n-1]
	} else {
		w.values = append(w.values, make([]float64, 2*w.width)...)
	}
	var store [96]float64
	value, gauss, size := w.values[at:at+w.width], store[:w.width], store[48:48+w.width]
	clear(value)
	mid, radius := 0.5*(a+b), 0.5*(b-a)
	for i := range nodes {
		x, weight, other := point(i)
		v := w.node
		if k == len(q.order)-1 {
			f := math.Exp(q.logs[i]) * q.slopes[i]
			if f == 0 || math.IsNaN(f) {
				continue
			}
			q.inner(v, f, i)
		} else {
			x, slope, log := q.set(k, mid+radius*x)
			if !(base+log-q.top > negligible) {
				continue
			}
			inside := q.line(k+1, base+log)
			copy(v, inside)
			y := (x - q.coords[k].center) / q.coords[k].scale
			v[len(inside)], v[len(inside)+1] = y*inside[0], y*y*inside[0]
			weight, other = slope*weight, slope*other
		}
		for j, y := range v {
			value[j] += radius * weight * y
			gauss[j] += radius * other * y
			size[j] += radius * weight * math.Abs(y)
		}
	}
	errs := w.values[at+w.width : at+2*w.width]
	for j, v := range value {
		errs[j] = 0
		if size[j] > 0 { // as in QUADPACK
			errs[j] = size[j] * min(1, math.Pow(200*math.Abs(v-gauss[j])/size[j], 1.5))
		}
	}
	w.panels = append(w.panels, panel{a, b, at})
}

// inner are the integrands at node i of the innermost latent.
func (q *integrator) inner(v []float64, f float64, i int) {
	v[0] = f
	for g := range q.p.named {
		v[1+g] = f * float64(q.holds[i]>>g&1)
	}
	c := &q.coords[len(q.coords)-1]
	y := (q.xs[i] - c.center) / c.scale
	n := 1 + len(q.p.named)
	v[n], v[n+1] = f*y, f*y*y
}
