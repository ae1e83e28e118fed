package cells

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// A summedMode finds the mode of log r with switches summed out, from values alone:
// its differences are a part of a standard deviation wide, which smooths what is left
// of jumps.
type summedMode struct {
	sum   *summer
	rest  []int     // the other latents, but for parameters
	scale []float64 // of the prior
	width []float64 // of the differences
}

// differenceWidth is the width of differences, in standard deviations.
const differenceWidth = 0.2

func newSummedMode(d *graph.Density, switches []graph.SwitchLatent) (*summedMode, error) {
	n := d.Dim() - d.Params() - len(switches)
	sum, err := newSummer(d, switches, min(quick, 1+n+n*n))
	if err != nil {
		return nil, err
	}
	m := &summedMode{sum: sum}
	_, m.scale = d.PriorStart()
	for i := d.Params(); i < d.Dim(); i++ {
		if !slices.ContainsFunc(switches, func(w graph.SwitchLatent) bool { return w.Latent == i }) {
			m.rest = append(m.rest, i)
		}
	}
	return m, nil
}

// values are log r at points that differ from z in the rest, signs forced.
func (m *summedMode) values(z []float64, points [][]float64, s regions.Signs) ([]float64, error) {
	n := m.sum.n
	var all []float64
	for first := 0; first < len(points); first += n {
		batch := points[first:min(first+n, len(points))]
		m.sum.x.Spread(z)
		for k, p := range batch {
			for j, i := range m.rest {
				m.sum.x.Z[i*n+k] = p[j]
			}
		}
		if err := m.sum.run(&s); err != nil {
			return nil, err
		}
		all = append(all, m.sum.out[:len(batch)]...)
	}
	return all, nil
}

// extend is ModeFinder.extend for the rest, by Newton's method, damped as that of Levenberg and
// Marquardt. The switches are left in z as they are, and have the prior's scale in the precision matrix.
func (m *summedMode) extend(ctx context.Context, z []float64, s regions.Signs) (precision *mat.SymDense, top float64, err error) {
	n := len(m.rest)
	if n == 0 {
		v, err := m.values(z, [][]float64{nil}, s)
		if err != nil || !finite(v[0]) {
			return nil, 0, err
		}
		return m.whole(nil), v[0], nil
	}
	m.width = make([]float64, n)
	for j, i := range m.rest {
		m.width[j] = 0.1 * m.scale[i]
	}
	now, err := m.expand(z, s)
	if err != nil || !finite(now.value) {
		return nil, 0, err
	}
	damping := modeDamping
	for step := 0; step < 2*modeSteps && damping < 1e12; step++ {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		move, gain := m.move(now, damping)
		if move == nil {
			damping *= 10
			continue
		}
		was := slices.Clone(z)
		for j, i := range m.rest {
			z[i] += move[j]
		}
		next, err := m.expand(z, s)
		if err != nil {
			return nil, 0, err
		}
		if !(next.value > now.value) {
			copy(z, was)
			if gain < modeGain {
				break
			}
			damping *= 10
			continue
		}
		rise := next.value - now.value
		now, damping = next, damping/10
		for j := range n {
			if p := now.h.At(j, j); p > 0 {
				m.width[j] = differenceWidth / math.Sqrt(p)
			}
		}
		if rise < modeGain && step > 2 {
			break
		}
	}
	if now, err = m.expand(z, s); err != nil { // with the last widths
		return nil, 0, err
	}
	var c mat.Cholesky
	if !c.Factorize(now.h) {
		return nil, 0, nil
	}
	return m.whole(now.h), now.value + 0.5*(float64(n)*math.Log(2*math.Pi)-c.LogDet()), nil
}

// An expansion of log r by the rest: its value, gradient, and minus its Hessian.
type expansion struct {
	value float64
	g     []float64
	h     *mat.SymDense
}

// expand finds the expansion at z, by differences of a width in each latent.
func (m *summedMode) expand(z []float64, s regions.Signs) (e expansion, err error) {
	n := len(m.rest)
	u := make([]float64, n)
	for j, i := range m.rest {
		u[j] = z[i]
	}
	points := [][]float64{u}
	shift := func(by float64, latents ...int) { // by so many widths
		p := slices.Clone(u)
		for _, j := range latents {
			p[j] += by * m.width[j]
		}
		points = append(points, p)
	}
	for j := range n {
		shift(1, j)
		shift(-1, j)
	}
	for j := range n {
		for k := range j {
			shift(1, j, k)
			shift(-1, j, k)
		}
	}
	v, err := m.values(z, points, s)
	if err != nil {
		return e, err
	}
	e = expansion{v[0], make([]float64, n), mat.NewSymDense(n, nil)}
	c := 1 + 2*n // of the pairs
	for j := range n {
		up, down, w := v[1+2*j], v[2+2*j], m.width[j]
		e.g[j] = (up - down) / (2 * w)
		e.h.SetSym(j, j, (2*e.value-up-down)/(w*w))
		for k := range j {
			both := v[c] + v[c+1] - up - down - v[1+2*k] - v[2+2*k] + 2*e.value
			e.h.SetSym(j, k, -both/(2*w*m.width[k]))
			c += 2
		}
	}
	return e, nil
}

// move is a damped Newton step from an expansion, and what it should gain; nil where the damping does
// not make the Hessian definite.
func (m *summedMode) move(e expansion, damping float64) (move []float64, gain float64) {
	n := len(m.rest)
	damped := mat.NewSymDense(n, nil)
	damped.CopySym(e.h)
	for j := range n {
		damped.SetSym(j, j, e.h.At(j, j)+damping*max(math.Abs(e.h.At(j, j)), 1/(m.scale[m.rest[j]]*m.scale[m.rest[j]])))
	}
	var c mat.Cholesky
	var v mat.VecDense
	if !c.Factorize(damped) || c.SolveVecTo(&v, mat.NewVecDense(n, e.g)) != nil {
		return nil, 0
	}
	for j := range n {
		gain += v.AtVec(j) * e.g[j] / 2
	}
	return v.RawVector().Data, gain
}

// whole is the precision matrix of all latents, given that of the rest.
func (m *summedMode) whole(rest *mat.SymDense) *mat.SymDense {
	p := mat.NewSymDense(len(m.scale), nil)
	for i, s := range m.scale {
		p.SetSym(i, i, 1/(s*s))
	}
	for j, i := range m.rest {
		for k, l := range m.rest[:j+1] {
			p.SetSym(i, l, rest.At(j, k))
		}
	}
	return p
}
