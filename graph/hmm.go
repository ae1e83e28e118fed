package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// An HMM is a hidden Markov model of a series: at each step it is in one of K states, which
// nobody sees, and what is observed there has the distribution of that state. With Lags it is a
// switching autoregression as Hamilton's, whose observations depend on the states of previous steps
// too.
type HMM struct {
	// Initial are the probabilities of the K states at the first step; with Lags, so many
	// steps earlier.
	Initial []Expr
	// Transition[i][j] is the probability of going from state i to state j.
	Transition [][]Expr
	// TransitionAt, if not nil, is in place of Transition, for each step t: from t−1 to t. With
	// Lags the first of them is 1 − Lags.
	TransitionAt func(t int) [][]Expr
	// Lags is how many states before the present one an observation depends on. The cost is
	// that of K^(1+Lags) states, with K transitions from each.
	Lags int
	// Emission is the distribution of observation t, from 0 on, given the states: s[0] at t, and
	// s[l] of l steps before, l = 1 … Lags.
	Emission func(t int, s []int) Dist
}

// maxProduct is the largest number of states, with Lags of tuples of states.
const maxProduct = 256

// ObserveHMM conditions on the series ys having been drawn from h, with the states summed out:
// the forward sum of [ForwardSum] is one term of log r. ys are observations of that name, one for
// each step; Replicate draws states, and data given them. The distributions may depend on earlier
// observations as on any number: they are then those of the series that was observed, also in
// Replicate. Probabilities may be any expressions between 0 and 1, branches too; a plain 0 is a
// transition that cannot be. The probabilities of Initial, and those of each row of a
// transition, must add up to 1, which is checked where they are plain numbers.
func (m *Model) ObserveHMM(name string, h HMM, ys []float64) *Hidden {
	c := &Hidden{m: m, name: name, first: len(m.obs), steps: len(ys), now: len(h.Initial), states: 1, where: m.within}
	if m.open != nil {
		m.fail("ObserveHMM is called in the body of a plate; a chain in each row takes a loop in place of the plate")
	}
	if m.err != nil || !m.noConditions("ObserveHMM", "sample instead") || !m.takeName(anObservation, name) || !c.sized(h) {
		return c
	}
	what := observationOf(name)
	initial, moves := c.probabilities(h)
	if m.err != nil {
		return c
	}
	c.x = initial
	for _, set := range moves {
		c.x = append(c.x, set...)
	}
	for t, y := range ys {
		data := m.expr(m.st.Leaf(ir.Data, len(m.obs)))
		o := observation{observed: &observed{name: name, where: m.within, place: m.here(), hidden: c, step: t}, value: y}
		m.obs = append(m.obs, o)
		dists := make([]lang.Dist, c.states)
		for tuple := range dists {
			dists[tuple] = h.Emission(t, c.tuple(tuple, h.Lags)).of
			if !m.checkDist(dists[tuple], what, m.within) {
				return c
			}
		}
		c.emission = append(c.emission, dists)
		if err := o.check(y); err != nil {
			m.fail("observation %q: %v", name, err)
			return c
		}
		if one, other, mixed := mixedKinds(dists); mixed {
			m.fail("observation %q: step %d has the distributions %s and %s: a density and probabilities cannot be compared; take numbers that are all whole, or all not, "+
				"and the same bounds of Censored", name, t, one, other)
			return c
		}
		for _, d := range dists {
			c.x = append(c.x, m.logProb(what, d, data))
		}
		if m.err != nil {
			return c
		}
	}
	m.addTerm(what, forwardSum(c.states, c.steps, c.x), m.here())
	return c
}

// mixedKinds are two of ds, by one of which a value has a probability and by the other a density, if there are such.
func mixedKinds(ds []lang.Dist) (one, other string, are bool) {
	kind := func(d lang.Dist) (k struct {
		whole, censored bool
		lo, hi          float64
	}) {
		if s := d.Support(); s.Whole() {
			k.whole = true
		} else if d.Outermost() {
			k.censored = true
			k.lo, k.hi = s.Bounds()
		}
		return k
	}
	for _, d := range ds[1:] {
		if kind(d) != kind(ds[0]) {
			return ds[0].Name(), d.Name(), true
		}
	}
	return "", "", false
}

// sized reports whether h has what it needs, and finds the number of tuples.
func (c *Hidden) sized(h HMM) bool {
	m := c.m
	switch {
	case c.steps == 0:
		m.fail("observation %q: there are no data", c.name)
	case c.now == 0:
		m.fail("observation %q: an HMM needs the probabilities of its states: Initial is empty", c.name)
	case h.Emission == nil:
		m.fail("observation %q: an HMM needs the distributions of what it emits: Emission is nil", c.name)
	case h.Lags < 0:
		m.fail("observation %q: an HMM of %d lags", c.name, h.Lags)
	default:
		for range 1 + h.Lags {
			if c.states *= c.now; c.states > maxProduct {
				m.fail("observation %q: %d states with %d lags are more than %d tuples of states", c.name, c.now, h.Lags, maxProduct)
				return false
			}
		}
		return true
	}
	return false
}

// tuple are the states of a tuple: now, and of each lag.
func (c *Hidden) tuple(number, lags int) []int {
	s := make([]int, 1+lags)
	for l := range s {
		s[l] = number % c.now
		number /= c.now
	}
	return s
}

// probabilities are the logarithms of those of the tuples at the first step, and of the moves
// between tuples: of all steps, or of each but the first.
func (c *Hidden) probabilities(h HMM) (initial []Expr, moves [][]Expr) {
	logInitial := c.logs("Initial", h.Initial)
	at := func(t int) [][]Expr { return c.transition(fmt.Sprintf("TransitionAt(%d)", t), h.TransitionAt(t)) }
	if h.TransitionAt == nil {
		fixed := c.transition("Transition", h.Transition)
		at = func(int) [][]Expr { return fixed }
	}
	before := make([][][]Expr, h.Lags) // of the steps before the first; by lag
	for l := h.Lags - 1; l >= 0; l-- {
		before[l] = at(-l)
	}
	if c.m.err != nil {
		return nil, nil
	}
	for tuple := range c.states {
		s := c.tuple(tuple, h.Lags)
		p := logInitial[s[h.Lags]]
		for l := h.Lags - 1; l >= 0; l-- {
			p = addLogs(p, before[l][s[l+1]][s[l]])
		}
		initial = append(initial, p)
	}
	steps := 1
	if h.TransitionAt != nil {
		steps = c.steps - 1
	}
	for t := range steps {
		matrix := at(t + 1)
		if c.m.err != nil {
			return nil, nil
		}
		var set []Expr
		for from := range c.states {
			for to := range c.states {
				p := lang.Number(math.Inf(-1))
				if to/c.now == from%(c.states/c.now) {
					p = matrix[from%c.now][to%c.now]
				}
				set = append(set, p)
			}
		}
		moves = append(moves, set)
	}
	return initial, moves
}

// addLogs is x + y, where numbers may be −∞.
func addLogs(x, y Expr) Expr {
	for _, v := range []Expr{x, y} {
		if p, known := v.IsConst(); known && math.IsInf(p, -1) {
			return lang.Number(p)
		}
	}
	return Add(x, y)
}

// transition are the logarithms of a matrix of probabilities.
func (c *Hidden) transition(what string, matrix [][]Expr) [][]Expr {
	if len(matrix) != c.now {
		c.m.fail("observation %q: %s has %d rows for %d states", c.name, what, len(matrix), c.now)
		return nil
	}
	out := make([][]Expr, c.now)
	for i, row := range matrix {
		out[i] = c.logs(fmt.Sprintf("%s[%d]", what, i), row)
	}
	return out
}

// logs are the logarithms of probabilities that add up to 1.
func (c *Hidden) logs(what string, row []Expr) []Expr {
	m := c.m
	if len(row) != c.now {
		m.fail("observation %q: %s has %d probabilities for %d states", c.name, what, len(row), c.now)
		return row
	}
	out, sum, allKnown := make([]Expr, len(row)), 0.0, true
	for k, p := range row {
		v, known := p.IsConst()
		switch {
		case lang.Of(p) != nil && modelOf(p) != m:
			m.fail("observation %q: %s: %s", c.name, what, lang.Foreign(p))
		case known && !(v >= 0 && v <= 1):
			m.fail("observation %q: %s: %v is not a probability", c.name, what, v)
		case known:
			sum += v
			out[k] = lang.Number(math.Log(v))
		default:
			if leaf, found := m.violating(lang.ID(p), lang.Probability, m.within); found {
				m.fail("observation %q: %s = %v %v, and nothing keeps %s in", c.name, what, p, lang.Probability, m.guards.Format(leaf, 4))
			}
			out[k], allKnown = Log(p), false
		}
	}
	if allKnown && math.Abs(sum-1) > 1e-9 && m.err == nil {
		m.fail("observation %q: the probabilities of %s add up to %v", c.name, what, sum)
	}
	return out
}

// Deterministic records under name the probability of being in the given state at each step,
// given all data of the chain, and the latents: the smoothed probabilities. Their mean over
// posterior draws is the probability given the data alone. It is a deterministic expression as
// those of Model.Deterministic, but for reports alone.
func (c *Hidden) Deterministic(name string, state int) {
	if state < 0 || state >= c.now {
		c.m.fail("deterministic %q: state %d of %d", name, state, c.now)
	}
	if c.m.outsidePlates("Deterministic") && c.m.takeName(aDeterministic, name) {
		of := c.m.observationsIn(c.x[:len(c.x)-c.states*c.steps]...) // emissions are left out where they are missing
		for t := range c.steps {
			c.m.derived = append(c.m.derived, deterministic{name: name, where: c.where, hidden: c, step: t, state: state, of: of})
		}
	}
}

// values are those that the forward sum is of, without the emissions of missing steps; missing is by observation, or nil.
func (c *Hidden) values(ev evaluator, missing []bool) []float64 {
	x, emissions := make([]float64, len(c.x)), len(c.x)-c.states*c.steps
	for i := range x {
		if i < emissions || missing == nil || !missing[c.first+(i-emissions)/c.states] {
			x[i] = ev.expr(c.x[i])
		}
	}
	return x
}

// smoothed are the probabilities of the states at each step.
func (c *Hidden) smoothed(ev evaluator, missing []bool) [][]float64 {
	x := c.values(ev, missing)
	out := make([][]float64, c.steps)
	for t, tuples := range ir.Smoothed(c.states, c.steps, x) {
		out[t] = make([]float64, c.now)
		for tuple, p := range tuples {
			out[t][tuple%c.now] += p
		}
	}
	return out
}

// into is where in x the logarithms are of the probabilities of the tuples at a step, given that of the step before.
func (c *Hidden) into(step, tuple int) int {
	if step == 0 {
		return 0
	}
	square := c.states * c.states
	set := min(step, (len(c.x)-c.states*(1+c.steps))/square) - 1
	return c.states + set*square + tuple*c.states
}

// filter goes forward over the steps, with the values that the forward sum is of: the logarithms of the probabilities of the tuples
// given the observations up to each step, and of the density of its observation given those before.
func (c *Hidden) filter(x []float64) (tuples [][]float64, logs []float64) {
	k := c.states
	emission, row := x[len(x)-k*c.steps:], make([]float64, k)
	for t := range c.steps {
		now := slices.Clone(emission[t*k:][:k])
		for to := range now {
			if t == 0 {
				now[to] += x[to]
				continue
			}
			for from := range row {
				row[from] = tuples[t-1][from] + x[c.into(t, from)+to]
			}
			now[to] += floats.LogSumExp(row)
		}
		logs = append(logs, floats.LogSumExp(now))
		floats.AddConst(-logs[t], now)
		tuples = append(tuples, now)
	}
	return tuples, logs
}

// path draws the tuples of all steps given what was observed: forward filtering, backward sampling.
func (c *Hidden) path(ev evaluator, missing []bool, rng *rand.Rand) []int {
	x := c.values(ev, missing)
	tuples, _ := c.filter(x)
	path := make([]int, c.steps)
	for t := c.steps - 1; t >= 0; t-- {
		p := tuples[t]
		for from := range p {
			if t < c.steps-1 {
				p[from] += x[c.into(t+1, from)+path[t+1]]
			}
			p[from] = math.Exp(p[from])
		}
		path[t] = lang.Choice(p, rng)
	}
	return path
}

// next draws the tuple of a step, given that of the step before.
func (c *Hidden) next(ev evaluator, step, tuple int, rng *rand.Rand) int {
	row := c.x[c.into(step, tuple):][:c.states]
	p := make([]float64, c.states)
	for k := range p {
		p[k] = math.Exp(ev.expr(row[k]))
	}
	return lang.Choice(p, rng)
}

// check reports why x cannot have been observed.
func (o *observation) check(x float64) error {
	if o.hidden == nil {
		return o.as.Check(x)
	}
	for _, d := range o.hidden.emission[o.step] {
		if err := d.Check(x); err != nil {
			return err
		}
	}
	return nil
}

// dists are the distributions that o may have.
func (o *observation) dists() []lang.Dist {
	if o.hidden == nil {
		return []lang.Dist{o.dist()}
	}
	return o.hidden.emission[o.step]
}
