package graph

import (
	"math"

	"github.com/facetvi/facet/regions"
)

// Holds evaluates the guard in region s of the density of its model.
func (g Guard) Holds(s regions.Signs) bool {
	if g.cond == nil {
		return false
	}
	return g.cond.holds(s)
}

func (c *cond) holds(s regions.Signs) bool {
	switch c.op {
	case condSign:
		return s.Positive(c.plane)
	case condNot:
		return !c.kids[0].holds(s)
	case condAnd:
		for _, k := range c.kids {
			if !k.holds(s) {
				return false
			}
		}
	case condOr:
		for _, k := range c.kids {
			if k.holds(s) {
				return true
			}
		}
		return false
	}
	return true
}

// Side returns the guard as a side of one hyperplane, if it is one comparison
// or the negation of one.
func (g Guard) Side() (regions.Side, bool) {
	switch {
	case g.cond == nil:
	case g.cond.op == condSign:
		return regions.Side{Plane: g.cond.plane, Positive: true}, true
	case g.cond.op == condNot && g.cond.kids[0].op == condSign:
		return regions.Side{Plane: g.cond.kids[0].plane}, true
	}
	return regions.Side{}, false
}

// Of reports whether the guard belongs to the model of d. Guards that are
// simply true or false belong to every model.
func (g Guard) Of(d *Density) bool { return g.m == nil || g.m == d.m }

// PriorStart follows the program once, giving each latent the centre of its
// prior there, and returns these centres and the priors' scales (about one
// standard deviation) in unconstrained coordinates: a start for a fit.
func (d *Density) PriorStart() (center, scale []float64) { return d.PriorStartAt(nil) }

// PriorStartAt is PriorStart with the coordinates in given kept where they are,
// so that latents sampled after them are at the centre of their prior there.
func (d *Density) PriorStartAt(given map[int]float64) (center, scale []float64) {
	d.st.mu.Lock()
	defer d.st.mu.Unlock()
	center, scale = make([]float64, d.Dim()), make([]float64, d.Dim())
	ev := &evaluator{d: d, z: center, memo: map[nodeID]float64{}}
	for i, l := range d.m.latents {
		p := make([]float64, len(l.prior.params))
		for k, x := range l.prior.params {
			p[k] = ev.value(x.in(d.m))
		}
		center[i], scale[i] = priorCenter(l.prior.fam, p)
		if math.IsNaN(center[i]) || math.IsInf(center[i], 0) {
			center[i] = 0
		}
		if u, ok := given[i]; ok {
			center[i] = u
		}
		if !(scale[i] > 0) || math.IsInf(scale[i], 0) {
			scale[i] = 1
		}
	}
	return center, scale
}

// priorCenter is a central value and a scale of a family, in the unconstrained
// coordinate of its transform.
func priorCenter(f *family, p []float64) (center, scale float64) {
	const logisticSD = math.Pi / 1.7320508075688772
	switch f {
	case normal, logNormal, studentsT:
		return p[0], p[1]
	case logistic:
		return p[0], p[1] * logisticSD
	case laplace:
		return p[0], p[1] * math.Sqrt2
	case halfNormal:
		return math.Log(0.6745 * p[0]), 1 // the median of |x|
	case exponential:
		return -math.Log(p[0]), 1
	case gamma:
		return math.Log(p[0] / p[1]), 1 / math.Sqrt(p[0])
	case chiSquared:
		return math.Log(p[0]), math.Sqrt(2 / p[0])
	case betaFamily:
		return math.Log(p[0] / p[1]), math.Sqrt(1/p[0] + 1/p[1])
	}
	return 0, logisticSD // uniform: a logistic coordinate
}

// An evaluator computes expressions one at a time, in their own region.
type evaluator struct {
	d    *Density
	z    []float64
	memo map[nodeID]float64
}

func (e *evaluator) value(id nodeID) float64 {
	if v, ok := e.memo[id]; ok {
		return v
	}
	v := e.compute(&e.d.st.nodes[id])
	e.memo[id] = v
	return v
}

func (e *evaluator) compute(n *node) float64 {
	switch n.kind {
	case kConst:
		return n.v
	case kLatent:
		return e.z[n.a]
	case kData:
		return e.d.data[n.a]
	case kSign:
		if e.d.arr.Plane(int(n.a)).At(e.z) > 0 {
			return 1
		}
		return 0
	case kLin:
		sum := n.v
		for _, t := range n.terms {
			sum += t.coef * e.value(t.atom)
		}
		return sum
	case kUnary:
		return unaryValue(n.fn, e.value(n.a))
	case kBinary:
		return binaryValue(n.fn, e.value(n.a), e.value(n.b))
	case kSelect:
		if e.value(n.a) != 0 {
			return e.value(n.b)
		}
		return e.value(n.c)
	}
	panic("graph: an input of a derived program in a model")
}
