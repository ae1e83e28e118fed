// Values and slopes of a curve at many points: forward through its steps, and back.

package regions

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// A CurveBatch evaluates a curve at n points. In holds the points' coordinates, a row for each of Latents; they must stay as they are
// from Values to what refers to its points. It is for one goroutine, and allocates nothing after it is made.
type CurveBatch struct {
	In [][]float64

	c      *Curve
	n      int
	most   int         // that n can be
	v      [][]float64 // values of the steps; those of coordinates are rows of In
	adj    [][]float64 // adjoints of the steps; made when they are wanted
	out    [][]float64 // of these, those of the coordinates
	spare  [][]float64 // values of the steps at one point, elsewhere; made when they are wanted
	one    [][]float64 // of these, and of v where they are the same
	move   move        // that changes them
	beside [][]float64 // values of the steps where one latent differs; made when they are wanted
	mixed  [][]float64 // of these, and of v where they are the same
	roots  []float64
	near   []near // of the steps at one point; made when they are wanted
}

// Bind returns a batch of n points.
func (c *Curve) Bind(n int) *CurveBatch {
	b := &CurveBatch{In: make([][]float64, len(c.latents)), c: c, n: n, most: n}
	b.v = rows(len(c.steps), n)
	return b
}

// batch is Bind of one that may have been used before; release it after use.
func (c *Curve) batch(n int) *CurveBatch {
	b, ok := c.pool.Get().(*CurveBatch)
	if !ok || b.most < n {
		return c.Bind(n)
	}
	b.n = n
	for _, m := range [][][]float64{b.v, b.adj} {
		for s := range m {
			if m[s] != nil {
				m[s] = m[s][:n]
			}
		}
	}
	return b
}

func (c *Curve) release(b *CurveBatch) {
	for k, s := range c.leaf {
		b.In[k], b.v[s] = nil, nil
	}
	c.pool.Put(b)
}

func rows(k, n int) [][]float64 {
	all, list := make([]float64, k*n), make([][]float64, k)
	for i := range list {
		list[i] = all[i*n:][:n]
	}
	return list
}

// Values are Φ at the points: a view, valid until the next call.
func (b *CurveBatch) Values() []float64 {
	for k, s := range b.c.leaf {
		b.v[s] = b.In[k][:b.n]
	}
	for s := range b.c.steps {
		b.run(b.v, s)
	}
	return b.v[len(b.v)-1]
}

// sumOf stores a number and the terms of steps with values v.
func sumOf(out []float64, terms []Term, v [][]float64, number float64) {
	if len(out) == 1 { // no loops
		for _, t := range terms {
			number += t.Coef * v[t.Of][0]
		}
		out[0] = number
		return
	}
	vec.Affine(out, v[terms[0].Of], terms[0].Coef, number)
	for _, t := range terms[1:] {
		vec.AddScaled(out, t.Coef, v[t.Of])
	}
}

// sum stores the last Values with another number in place of the constant, of a curve that an arrangement made.
func (b *CurveBatch) sum(out []float64, number float64) {
	sumOf(out, b.c.steps[len(b.c.steps)-1].Terms, b.v, number)
}

// valuesAt are Values at z, dimensions × n.
func (b *CurveBatch) valuesAt(z []float64) []float64 {
	for k, i := range b.c.latents {
		b.In[k] = z[i*b.n:][:b.n]
	}
	return b.Values()
}

// run computes one step that is not a coordinate.
func (b *CurveBatch) run(v [][]float64, s int) {
	x, out := &b.c.steps[s], v[s]
	switch x.Kind {
	case Affine:
		if len(x.Terms) == 0 {
			for i := range out {
				out[i] = x.Const
			}
			return
		}
		sumOf(out, x.Terms, v, x.Const)
	case Apply:
		if f, ok := x.F.(rowFunction); ok && len(out) > 1 {
			f.Values(out, v[x.A])
			return
		}
		for i, y := range v[x.A] {
			out[i] = x.F.Value(y)
		}
	case Times:
		vec.Mul(out, v[x.A], v[x.B])
	case Over:
		for i, y := range v[x.A] {
			out[i] = y / v[x.B][i]
		}
	case Power:
		for i, y := range v[x.A] {
			out[i] = math.Pow(y, v[x.B][i])
		}
	case Call:
		var room [3]float64
		for i := range out {
			if i > 0 && x.same(v, i) {
				out[i] = out[i-1]
			} else {
				out[i] = x.Call.ValueOf(x.numbers(room[:], v, i))
			}
		}
	}
}

// same reports whether the operands of a Call are at point i what they are at the one before: parameters are at all.
func (x *Step) same(v [][]float64, i int) bool {
	for _, o := range x.Args {
		if v[o][i] != v[o][i-1] {
			return false
		}
	}
	return true
}

// numbers are those of the operands of a Call at point i.
func (x *Step) numbers(room []float64, v [][]float64, i int) []float64 {
	for k, o := range x.Args {
		room[k] = v[o][i]
	}
	return room[:len(x.Args)]
}

// Slopes are the derivatives of Φ at the points of the last Values, a row for each of Latents: views, valid until the next call.
func (b *CurveBatch) Slopes() [][]float64 { return b.slopes(b.v) }

// SlopesBeside are Slopes at the points that differ from those of the last Values in latent k of Latents, which is x.
func (b *CurveBatch) SlopesBeside(k int, x []float64) [][]float64 {
	if b.beside == nil {
		b.beside, b.mixed = rows(len(b.c.steps), b.most), make([][]float64, len(b.c.steps))
	}
	for s, moves := range b.c.uses[k] {
		switch {
		case !moves:
			b.mixed[s] = b.v[s]
		case s == b.c.leaf[k]:
			b.mixed[s] = x[:b.n]
		case b.c.back.reads[s]:
			b.mixed[s] = b.beside[s][:b.n]
			b.run(b.mixed, s)
		}
	}
	return b.slopes(b.mixed)
}

func (b *CurveBatch) slopes(v [][]float64) [][]float64 {
	back := &b.c.back
	if b.adj == nil {
		b.adj, b.out = rows(len(b.c.steps), b.most), make([][]float64, len(b.c.latents))
		for s := range b.adj {
			vec.Fill(b.adj[s], back.constant[s])
			b.adj[s] = b.adj[s][:b.n]
		}
	}
	for _, s := range back.varying {
		vec.Fill(b.adj[s], back.constant[s])
	}
	for _, s := range back.pulls {
		b.pull(b.adj, v, s)
	}
	for k, s := range b.c.leaf {
		b.out[k] = b.adj[s]
	}
	return b.out
}

// pull adds the adjoint of a step to those of its operands.
func (b *CurveBatch) pull(adj, v [][]float64, s int) {
	x, g := &b.c.steps[s], adj[s]
	switch x.Kind {
	case Affine:
		for _, t := range x.Terms {
			vec.AddScaled(adj[t.Of], t.Coef, g)
		}
	case Apply:
		if f, ok := x.F.(rowFunction); ok {
			f.AddSlopes(adj[x.A], g, v[x.A], v[s])
			return
		}
		for i, y := range g {
			adj[x.A][i] += float64(y * x.F.Slope(v[x.A][i], v[s][i]))
		}
	case Times:
		vec.AddMul(adj[x.A], g, v[x.B])
		vec.AddMul(adj[x.B], g, v[x.A])
	case Over:
		for i, y := range g {
			by := v[x.B][i]
			adj[x.A][i] += y / by
			adj[x.B][i] -= float64(y * v[s][i] / by)
		}
	case Power:
		for i, y := range g {
			base, p := v[x.A][i], v[x.B][i]
			adj[x.A][i] += float64(y * p * math.Pow(base, p-1))
			if b.c.steps[x.B].Kind != Affine || len(b.c.steps[x.B].Terms) > 0 {
				adj[x.B][i] += float64(y * v[s][i] * math.Log(base))
			}
		}
	case Call:
		var room, slopes [3]float64
		for i, y := range g {
			known := i > 0 && x.same(v, i)
			numbers := x.numbers(room[:], v, i)
			for k, o := range x.Args {
				if isNumber(b.c.steps[o]) {
					continue
				}
				if !known {
					slopes[k] = x.Call.SlopeOf(k, numbers, v[s][i])
				}
				adj[o][i] += float64(y * slopes[k])
			}
		}
	}
}
