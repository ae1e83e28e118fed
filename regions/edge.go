package regions

import (
	"math"
	"math/rand/v2"
	"slices"
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
		b.near = make([]expansion, len(b.c.steps))
	}
	for i := range dst {
		dst[i] = 0
		for _, along := range [2]float64{1, -1} {
			phi, inside := b.expand(i, k, along, edges)
			if inside && phi.n > 0 && phi.of[0].coef > 0 {
				dst[i] = 1
			}
			if inside {
				break
			}
		}
	}
}

// expand is Φ at point i of the last Values as latent k goes by t·along from there, and whether the steps of edges have values there.
func (b *CurveBatch) expand(i, k int, along float64, edges []Edge) (phi expansion, inside bool) {
	for s, x := range b.c.steps {
		near := &b.near[s]
		*near = numberOf(b.v[s][i])
		if !b.c.uses[k][s] {
			continue
		}
		switch x.Kind {
		case Coordinate:
			near.add(monomial{along, powers{0, -1, 0, 0}})
		case Affine:
			*near = numberOf(x.Const)
			for _, t := range x.Terms {
				*near = near.plus(t.Coef, b.near[t.Of])
			}
		case Apply:
			at := slices.IndexFunc(edges, func(e Edge) bool { return e.step == s })
			f, limited := x.F.(Limited)
			switch {
			case at >= 0:
				from := edges[at].from(b.near[x.A])
				if from.n == 0 || !(from.of[0].coef > 0) {
					return phi, false
				}
				*near = from.beyond(f, edges[at])
			case limited:
				*near = b.near[x.A].inside(f)
			default:
				*near = b.near[x.A].apply(x.F)
			}
		case Times:
			*near = b.near[x.A].times(b.near[x.B])
		case Over:
			*near = b.near[x.A].times(b.near[x.B].pow(-1))
		case Power:
			if p := b.near[x.B]; p.n == 0 || p.n == 1 && p.of[0].power == (powers{}) {
				*near = b.near[x.A].pow(p.limit())
			} else {
				*near = p.times(b.near[x.A].log()).exp()
			}
		}
	}
	return b.near[len(b.near)-1], true
}

// from is how far an operand is inside of the edge, where it is 0.
func (e Edge) from(operand expansion) (out expansion) {
	for _, m := range operand.of[:operand.n] {
		if compare(m.power, powers{}) != 0 {
			m.coef *= e.sign
			out.add(m)
		}
	}
	return out
}

// beyond is f, of a number that is x > 0 inside of the edge.
func (x expansion) beyond(f Limited, e Edge) expansion {
	switch f.String() {
	case "log", "log1p":
		return x.log()
	case "lgamma":
		return expansion{}.plus(-1, x.log())
	case "normalquantile":
		return expansion{}.plus(-e.sign, expansion{}.plus(-2, x.log()).pow(0.5))
	case "sqrt":
		return x.pow(0.5)
	}
	return x
}

// inside is f(x), of x within the domain.
func (x expansion) inside(f Limited) expansion {
	switch lo, _ := f.Domain(); {
	case x.n == 0 || f.String() == "lgamma" || f.String() == "normalquantile":
		return x.apply(f)
	default:
		return x.plus(-lo, numberOf(1)).beyond(f, Edge{})
	}
}
