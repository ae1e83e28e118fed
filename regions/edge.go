package regions

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/internal/vec"
)

// An Edge says that a step of a curve begins to have a value on a plane: its operand is at, an end of the domain of a Limited function.
// There Φ may be anything, as b·log b − a for b = 0, while its limit from the side where it has a value is −a.
type Edge struct {
	step int
	at   float64
	sign float64 // 1 if the domain is above at, and −1 below
}

// edges are all that Φ may have, of no plane yet.
func (c *Curve) edges() (list []Edge) {
	for s, x := range c.steps {
		if f, ok := x.F.(Limited); ok {
			lo, hi := f.Domain()
			for _, e := range [2]Edge{{s, lo, 1}, {s, hi, -1}} {
				if !math.IsInf(e.at, 0) {
					list = append(list, e)
				}
			}
		}
	}
	return list
}

const (
	edgePoints = 4
	edgeStep   = 1e-3
	edgeZero   = 1e-7 // what is 0 on a plane, relative to what it is by a step beside it
)

// Inside reports whether the steps have values at point i of the last Values.
func (b *CurveBatch) Inside(i int) bool {
	return !slices.ContainsFunc(b.c.steps, func(x Step) bool {
		f, limited := x.F.(Limited)
		if !limited {
			return false
		}
		lo, hi := f.Domain()
		v := b.v[x.A][i]
		return !(lo < v && v < hi)
	})
}

// Edges are those of the curve of plane l that plane p makes, as random points of p tell, and a latent of that curve, by position, that
// leads away from p.
func (a *Arrangement) Edges(p, l int) (latent int, edges []Edge) {
	c, of := a.curves[l], a.Latents(p)
	if c == nil || l == p {
		return 0, nil
	}
	for _, e := range c.edges() {
		operand, b, rng := c.steps[e.step].A, c.Bind(1), rand.New(rand.NewPCG(3, 0))
		k := slices.IndexFunc(c.leaf, func(leaf int) bool {
			return c.dependents(leaf)[operand] && slices.Contains(of, c.steps[leaf].A)
		})
		if k < 0 {
			continue
		}
		met := 0
		for range edgePoints {
			z, found := a.pointOn(p, rng)
			if !found {
				continue
			}
			var beside [3]float64 // of the operand, less the edge: at the point, and on both sides
			for s, h := range [3]float64{0, edgeStep, -edgeStep} {
				x := slices.Clone(z)
				x[c.latents[k]] += h * (1 + math.Abs(z[c.latents[k]]))
				b.valuesAt(x)
				beside[s] = math.Abs(b.v[operand][0] - e.at)
			}
			if beside[0] > edgeZero*max(beside[1], beside[2]) || max(beside[1], beside[2]) == 0 {
				met = 0
				break
			}
			met++
		}
		if met > 0 {
			latent, edges = k, append(edges, e)
		}
	}
	return latent, edges
}

// pointOn is a random point of plane p.
func (a *Arrangement) pointOn(p int, rng *rand.Rand) (z []float64, found bool) {
	z = make([]float64, a.dim)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	c := a.curves[p]
	if c == nil {
		h := a.planes[p]
		k := slices.IndexFunc(h.Coef, func(x float64) bool { return math.Abs(x) == 1 })
		z[h.Index[k]] -= h.At(z) / h.Coef[k]
		return z, true
	}
	b := c.Bind(1)
	b.valuesAt(z)
	for _, k := range c.Pivots() {
		for _, x := range b.Solve(k) {
			if !math.IsNaN(x) {
				z[c.latents[k]] = x
				return z, true
			}
		}
	}
	return z, false
}

// SignsBeside writes the signs of Φ at points infinitely near to those of In, which are on edges: on that side of them along latent k of
// Latents where the steps have values. Where there is none the sign is −.
func (b *CurveBatch) SignsBeside(dst []float64, k int, edges []Edge) {
	b.Values()
	if b.near == nil {
		b.near = make([]near, len(b.c.steps))
	}
	for i := range dst {
		dst[i] = 0
		for _, along := range [2]float64{tiny, -tiny} {
			phi, inside := b.stepped(i, k, along, edges, true)
			if !inside {
				continue
			}
			if !(phi < 0 || phi > 0) { // 0·∞, or the like
				phi, _ = b.stepped(i, k, along, edges, false)
			}
			dst[i] = vec.Sign(phi)
			break
		}
	}
}

// A near is a number at a point, and what it has more by a tiny step from there.
type near struct{ at, more float64 }

const (
	tiny      = 1e-100 // whose square is a number, too
	huge      = 1e250  // in the place of numbers that are larger, as that of exp(1/x)
	cancelled = 1e-10  // what is left of a sum, relative to its summands, that is 0 but for rounding
)

// value is x after the step, or the limit of that as the step becomes 0.
func (x near) value(limit bool) float64 {
	if x.at == 0 && limit {
		return math.Copysign(0, x.more)
	}
	return x.at + x.more
}

// stepped is Φ by a step of latent k from point i of the last Values, or its limit, in the arithmetic of infinite numbers, and whether the
// steps of edges have values there.
func (b *CurveBatch) stepped(i, k int, along float64, edges []Edge, limit bool) (phi float64, inside bool) {
	for s, x := range b.c.steps {
		y := near{at: b.v[s][i]}
		if b.c.uses[k][s] {
			var u, v near
			switch x.Kind {
			case Apply, Times, Over, Power:
				u, v = b.near[x.A], b.near[x.B]
			}
			switch x.Kind {
			case Coordinate:
				y.more = along
			case Affine:
				y = x.sumNear(b.near)
			case Apply:
				if e := slices.IndexFunc(edges, func(e Edge) bool { return e.step == s }); e < 0 {
					y = u.apply(x.F, limit)
				} else if y, inside = edges[e].beyond(x.F, u.more, limit); !inside {
					return 0, false
				}
			case Times:
				y = near{u.at * v.at, u.at*v.more + u.more*v.at + u.more*v.more}
			case Over:
				if y = (near{at: u.value(limit) / v.value(limit)}); v.at != 0 {
					y.at = u.at / v.at
					y.more = (u.more - y.at*v.more) / v.at
				}
			case Power:
				if y = (near{at: math.Pow(u.value(limit), v.value(limit))}); u.at != 0 {
					y.more = y.at * v.at / u.at * u.more
				}
			}
			if !limit && math.Abs(y.more) > math.Sqrt(tiny) {
				y = near{at: y.at + y.more}
			}
		}
		b.near[s] = y
	}
	return b.near[len(b.near)-1].value(limit), true
}

// sumNear is an Affine of the numbers of steps.
func (x *Step) sumNear(of []near) near {
	y, size := near{at: x.Const}, math.Abs(x.Const)
	for _, t := range x.Terms {
		v := t.Coef * of[t.Of].at
		y.at, y.more, size = y.at+v, y.more+t.Coef*of[t.Of].more, max(size, math.Abs(v))
	}
	if math.Abs(y.at) < cancelled*size {
		y.at = 0
	}
	return y
}

// apply is f(x).
func (x near) apply(f Function, limit bool) near {
	y := f.Value(x.at)
	if more := f.Slope(x.at, y) * x.more; more-more == 0 && more != 0 && y-y == 0 {
		return near{y, more}
	}
	if y = f.Value(x.value(limit)); !limit {
		y = min(max(y, -huge), huge)
	}
	return near{at: y}
}

// beyond is f by a step of the operand from the edge, and whether it has a value there.
func (e Edge) beyond(f Function, step float64, limit bool) (y near, inside bool) {
	switch step *= e.sign; {
	case !(step > 0):
		return y, false
	case limit:
		y.at = f.Value(e.at)
	case e.at == 0:
		y.at = f.Value(step)
	case f.String() == "log1p":
		y.at = math.Log(step)
	default: // at 1, of an odd function about ½
		y.at = -f.Value(step)
	}
	return y, true
}
