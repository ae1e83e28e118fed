package family

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// mostRowed is up to how many normals of a mixture are evaluated row by row: a row for each is kept.
const mostRowed = 32

// mixtureRows evaluate a mixture of a few normals at batches of n points, latents × n: they find log q, and the ratio of the density of its
// base to q, as logRest does. The mixture may move.
type mixtureRows struct {
	n          int
	logs       []float64 // of q's normals and their weights, × n
	centred    []float64 // scratch: z − μ, latents × n
	sum        []float64 // scratch
	log, ratio []float64 // the results
}

// newMixtureRows returns nil for mixtures of other parts, or of many.
func newMixtureRows(m *mixture, n int) *mixtureRows {
	parts := 0
	if !m.eachNormal(func(*Normal, float64, int) { parts++ }) || parts > mostRowed {
		return nil
	}
	return &mixtureRows{
		n: n, logs: make([]float64, n*parts), centred: make([]float64, n*m.Dim()),
		log: make([]float64, n), sum: make([]float64, n), ratio: make([]float64, n),
	}
}

// eachNormal visits the normals that m and its parts are mixtures of, with the logs of their weights, and the numbers of the parts of m that they
// are of. It reports whether there is nothing else.
func (m *mixture) eachNormal(visit func(q *Normal, logWeight float64, part int)) bool {
	if m.completion != nil {
		return false
	}
	for k, q := range m.parts {
		switch q := q.(type) {
		case *Normal:
			visit(q, m.log[k], k)
		case *mixture:
			if !q.eachNormal(func(q *Normal, logWeight float64, _ int) { visit(q, m.log[k]+logWeight, k) }) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// evaluate finds them at z.
func (r *mixtureRows) evaluate(m *mixture, z []float64) {
	row := func(x []float64, i int) []float64 { return x[i*r.n:][:r.n] }
	parts := 0
	m.eachNormal(func(q *Normal, logWeight float64, _ int) {
		log, sum := row(r.logs, parts), r.sum
		parts++
		clear(log)
		for i, mu := range q.mu {
			x := row(r.centred, i)
			if vec.Affine(x, row(z, i), 1, -mu); i < q.points {
				continue
			}
			copy(sum, x)
			for e := q.edges.from[i]; e < q.edges.from[i+1]; e++ {
				vec.AddScaled(sum, -q.b[e], row(r.centred, int(q.edges.parent[e])))
			}
			vec.Affine(sum, sum, 1/q.s[i], 0)
			vec.AddMul(log, sum, sum)
		}
		vec.Affine(log, log, -0.5, 0.5*float64(len(q.mu)-q.points)-q.Entropy()+logWeight)
	})
	vec.Fill(r.log, -math.MaxFloat64) // far from all parts
	for k := range parts {
		for j, x := range row(r.logs, k) {
			r.log[j] = max(r.log[j], x)
		}
	}
	clear(r.sum)
	clear(r.ratio)
	k := 0
	m.eachNormal(func(_ *Normal, _ float64, part int) {
		by := row(r.logs, k)
		k++
		vec.AddScaled(by, -1, r.log)
		vec.Exp(by, by)
		vec.Add(r.sum, r.sum, by)
		if m.base != nil {
			vec.AddScaled(r.ratio, m.base[part], by)
		}
	})
	for j, s := range r.sum {
		r.ratio[j] /= s
	}
	vec.Log(r.sum, r.sum)
	vec.Add(r.log, r.log, r.sum)
}
