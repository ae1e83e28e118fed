package calibration

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
)

// A scale says in which coordinate a latent is integrated.
type scale int

const (
	linearScale   scale = iota
	positiveScale       // x = exp(u − e⁻ᵘ), which reaches 0 faster than any exponential
)

// at is the value at coordinate u and the log of its derivative.
func (s scale) at(u float64) (x, logSlope float64) {
	if s == positiveScale {
		log := u - math.Exp(-u)
		return math.Exp(log), log + math.Log1p(math.Exp(-u))
	}
	return u, 0
}

// positive is a global above 0 with hardly any mass above hi.
func positive(name string, prior law, hi float64) global {
	return global{name, prior, positiveScale, -3.5, math.Log(hi)}
}

// A global is a latent that is integrated by quadrature, first looked for in the
// coordinates from lo to hi.
type global struct {
	name   string
	prior  law
	scale  scale
	lo, hi float64
}

// A split is a latent Normal(mu, sd) of its own observation, with a guard: is it
// above the limit? The observation's log likelihood is above or below. If read is
// not nil, the observation above is also a reading of the latent, with this
// value and error.
type split struct {
	mu, sd, limit func(x []float64) float64
	above, below  func(x []float64) float64
	read          *reading
}

type reading struct{ y, error float64 }

// A mixed model has globals, given which its splits are independent. Its other
// observations have the log likelihood rest.
type mixed struct {
	model   *graph.Model
	globals []global
	names   []string // of the splits' latents
	splits  []split
	guard   string // name of the splits' guards
	rest    func(x []float64) float64
	steps   int // in each global
	// If places is not nil, the globals are a location and a spread, and the
	// density changes over a spread around each of these places: narrow spreads
	// need narrow steps there.
	places   []float64
	location coefficient
	spread   noise
}

// parts is a split's evidence with globals x, P(above), and moments of its latent.
func (s split) parts(x []float64) (log, p, mean, square float64) {
	mu, sd, limit := s.mu(x), s.sd(x), s.limit(x)
	low, mean1, square1 := normalWithin(mu, sd, math.Inf(-1), limit)
	low += s.below(x)
	high := s.above(x)
	if s.read != nil { // product of the latent's and the reading's normals
		v, e := sd*sd, s.read.error*s.read.error
		high += normalLog(s.read.y, mu, math.Sqrt(v+e))
		mu, sd = (mu*e+s.read.y*v)/(v+e), math.Sqrt(v*e/(v+e))
	}
	mass, mean2, square2 := normalWithin(mu, sd, limit, math.Inf(1))
	high += mass
	log = logAdd(low, high)
	if math.IsInf(high, -1) {
		return low, 0, mean1, square1
	}
	p = math.Exp(high - log)
	return log, p, (1-p)*mean1 + p*mean2, (1-p)*square1 + p*square2
}

// log is the evidence that parts computes, alone.
func (s split) log(x []float64) float64 {
	mu, sd, limit := s.mu(x), s.sd(x), s.limit(x)
	low, high := s.below(x), s.above(x)
	under, over := cumulative((limit-mu)/sd), 0.0
	if s.read != nil {
		v, e := sd*sd, s.read.error*s.read.error
		high += normalLog(s.read.y, mu, math.Sqrt(v+e))
		mu, sd = (mu*e+s.read.y*v)/(v+e), math.Sqrt(v*e/(v+e))
	}
	over = cumulative((mu - limit) / sd)
	if low > high {
		return low + math.Log(under+over*math.Exp(high-low))
	}
	return high + math.Log(over+under*math.Exp(low-high))
}

func (m mixed) joint(v []float64) (prior, likelihood float64) {
	x, units := v[:len(m.globals)], v[len(m.globals):]
	for i, g := range m.globals {
		prior += g.prior.logProb(x[i])
	}
	if m.rest != nil {
		likelihood += m.rest(x)
	}
	for i, s := range m.splits {
		prior += normalLog(units[i], s.mu(x), s.sd(x))
		if units[i] <= s.limit(x) {
			likelihood += s.below(x)
			continue
		}
		likelihood += s.above(x)
		if s.read != nil {
			likelihood += normalLog(s.read.y, units[i], s.read.error)
		}
	}
	return prior, likelihood
}

// log is the log density of the globals with all else integrated out.
func (m mixed) log(x []float64) (sum float64) {
	for i, g := range m.globals {
		sum += g.prior.logProb(x[i])
	}
	if m.rest != nil {
		sum += m.rest(x)
	}
	for _, s := range m.splits {
		sum += s.log(x)
	}
	return sum
}

func (m mixed) problem() problem {
	var latents []string
	for _, g := range m.globals {
		latents = append(latents, g.name)
	}
	latents = slices.Concat(latents, m.names)
	return problem{model: m.model, latents: latents, joint: m.joint, solve: func(fine int) Exact { return m.sum(latents, fine) }}
}

func (m mixed) sum(latents []string, fine int) Exact {
	n := len(m.splits)
	t := newTally(len(latents), n)
	mean, square, guard := make([]float64, n), make([]float64, n), make([]float64, n)
	m.integrate(fine, func(x []float64, log float64) {
		for i, s := range m.splits {
			_, guard[i], mean[i], square[i] = s.parts(x)
		}
		squares := make([]float64, len(x))
		for i, v := range x {
			squares[i] = v * v
		}
		t.add(log, [2][]float64{x, mean}, [2][]float64{squares, square}, guard)
	})
	return t.exact(latents, []guardList{{m.guard, n}})
}

// integrate gives visit the nodes of the globals, and their log weights with the
// density.
func (m mixed) integrate(fine int, visit func(x []float64, log float64)) {
	if m.places == nil {
		integrate(m.globals, m.steps, fine, m.log, visit)
		return
	}
	spreads, spreadLogs := m.spread.nodes(fine)
	top := math.Inf(-1)
	for j, s := range spreads {
		nodes, logs := around(m.location, m.places, s, fine)
		for k, x := range nodes {
			log := m.log([]float64{x, s}) + spreadLogs[j] + logs[k]
			if log > top-30 {
				top = max(top, log)
				visit([]float64{x, s}, log)
			}
		}
	}
}

// around is Gauss's rule for a function of the location c that changes over a
// spread around each of some places, and over c's own size elsewhere.
func around(c coefficient, places []float64, spread float64, fine int) (nodes, logs []float64) {
	lo, hi := c.mu-7.5*c.size, c.mu+7.5*c.size
	all := []float64{lo, hi}
	for x := lo; x < hi; x += 0.7 * c.size {
		all = append(all, x)
	}
	for _, p := range places {
		for k := -8.0; k <= 8; k++ {
			if x := p + k*spread; x > lo && x < hi {
				all = append(all, x)
			}
		}
	}
	slices.Sort(all)
	edges := []float64{lo}
	for _, x := range all[1:] {
		if x-edges[len(edges)-1] > 0.75*min(spread, c.size) {
			edges = append(edges, x)
		}
	}
	if edges[len(edges)-1] < hi {
		edges = append(edges, hi)
	}
	return legendre(refined(edges, 100*c.size, fine), 10)
}

// integrate gives visit the nodes of a product trapezoidal rule and their log
// weights times e^f. The range is first narrowed on a coarse grid to where f
// counts.
func integrate(globals []global, steps, fine int, f func(x []float64) float64, visit func(x []float64, log float64)) {
	lo, hi := make([]float64, len(globals)), make([]float64, len(globals))
	for i, g := range globals {
		lo[i], hi[i] = g.lo, g.hi
	}
	for range 3 {
		narrow(globals, lo, hi, f)
	}
	axes, volume := make([][]float64, len(globals)), 0.0
	for i := range globals {
		var h float64
		axes[i], h = trapezoid(lo[i], hi[i], (hi[i]-lo[i])/float64(steps), fine)
		volume += math.Log(h)
	}
	top := math.Inf(-1)
	grid(globals, axes, f, func(_, x []float64, log float64) {
		if log > top-32 {
			top = max(top, log)
			visit(x, log+volume)
		}
	})
}

// grid calls visit at all nodes of a product, with coordinates, values and the
// log density of the coordinates.
func grid(globals []global, axes [][]float64, f func(x []float64) float64, visit func(u, x []float64, log float64)) {
	u, x := make([]float64, len(axes)), make([]float64, len(axes))
	var along func(i int, slope float64)
	along = func(i int, slope float64) {
		if i == len(axes) {
			visit(u, x, f(x)+slope)
			return
		}
		for _, u[i] = range axes[i] {
			var more float64
			x[i], more = globals[i].scale.at(u[i])
			along(i+1, slope+more)
		}
	}
	along(0, 0)
}

// narrow narrows ranges to where the density is within e⁻³⁴ of its top, and a
// step of a coarse grid more.
func narrow(globals []global, lo, hi []float64, f func(x []float64) float64) {
	const coarse = 16
	axes, step := make([][]float64, len(lo)), make([]float64, len(lo))
	for i := range lo {
		step[i] = (hi[i] - lo[i]) / coarse
		for k := range coarse + 1 {
			axes[i] = append(axes[i], lo[i]+step[i]*float64(k))
		}
	}
	type node struct {
		u   []float64
		log float64
	}
	var nodes []node
	top := math.Inf(-1)
	grid(globals, axes, f, func(u, _ []float64, log float64) {
		nodes = append(nodes, node{slices.Clone(u), log})
		top = max(top, log)
	})
	from, to := slices.Clone(hi), slices.Clone(lo)
	for _, n := range nodes {
		if n.log < top-34 {
			continue
		}
		for i, u := range n.u {
			from[i], to[i] = min(from[i], u-step[i]), max(to[i], u+step[i])
		}
	}
	for i := range lo {
		lo[i], hi[i] = max(from[i], lo[i]), min(to[i], hi[i])
	}
}
