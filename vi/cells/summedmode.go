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

// extend is ModeFinder.extend for the rest. The switches are left in z as they are, and
// have the prior's scale in the precision matrix.
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
	at := func() []float64 {
		u := make([]float64, n)
		for j, i := range m.rest {
			u[j] = z[i]
		}
		return u
	}
	var value float64
	g, h := make([]float64, n), mat.NewSymDense(n, nil)
	expand := func() error {
		u := at()
		points := [][]float64{u}
		shifted := func(moves ...float64) []float64 { // pairs of a latent and a number of widths
			p := slices.Clone(u)
			for k := 0; k < len(moves); k += 2 {
				p[int(moves[k])] += moves[k+1] * m.width[int(moves[k])]
			}
			return p
		}
		for j := range n {
			points = append(points, shifted(float64(j), 1), shifted(float64(j), -1))
		}
		for j := range n {
			for k := range j {
				points = append(points, shifted(float64(j), 1, float64(k), 1), shifted(float64(j), -1, float64(k), -1))
			}
		}
		v, err := m.values(z, points, s)
		if err != nil {
			return err
		}
		value = v[0]
		c := 1 + 2*n
		for j := range n {
			up, down, w := v[1+2*j], v[2+2*j], m.width[j]
			g[j] = (up - down) / (2 * w)
			h.SetSym(j, j, (2*value-up-down)/(w*w))
			for k := range j {
				both := v[c] + v[c+1] - up - down - v[1+2*k] - v[2+2*k] + 2*value
				h.SetSym(j, k, -both/(2*w*m.width[k]))
				c += 2
			}
		}
		return nil
	}
	if err := expand(); err != nil || !finite(value) {
		return nil, 0, err
	}
	damping := modeDamping
	for step := 0; step < 2*modeSteps && damping < 1e12; step++ {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		damped := mat.NewSymDense(n, nil)
		damped.CopySym(h)
		for j := range n {
			damped.SetSym(j, j, h.At(j, j)+damping*max(math.Abs(h.At(j, j)), 1/(m.scale[m.rest[j]]*m.scale[m.rest[j]])))
		}
		var c mat.Cholesky
		if !c.Factorize(damped) {
			damping *= 10
			continue
		}
		var move mat.VecDense
		if c.SolveVecTo(&move, mat.NewVecDense(n, g)) != nil {
			damping *= 10
			continue
		}
		was, before, gWas, hWas := slices.Clone(z), value, slices.Clone(g), mat.NewSymDense(n, nil)
		hWas.CopySym(h)
		gain := 0.0
		for j, i := range m.rest {
			z[i] += move.AtVec(j)
			gain += move.AtVec(j) * g[j] / 2
		}
		if err := expand(); err != nil {
			return nil, 0, err
		}
		if !(value > before) {
			copy(z, was)
			value = before
			copy(g, gWas)
			h.CopySym(hWas)
			if gain < modeGain {
				break
			}
			damping *= 10
			continue
		}
		damping /= 10
		for j := range n {
			if p := h.At(j, j); p > 0 {
				m.width[j] = differenceWidth / math.Sqrt(p)
			}
		}
		if value-before < modeGain && step > 2 {
			break
		}
	}
	if err := expand(); err != nil {
		return nil, 0, err
	}
	var c mat.Cholesky
	if !c.Factorize(h) {
		return nil, 0, nil
	}
	return m.whole(h), value + 0.5*(float64(n)*math.Log(2*math.Pi)-c.LogDet()), nil
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
