package mixture

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/vi/family"
)

// mostRowed is up to how many normals of a mixture are evaluated row by row: a row for each is kept.
const mostRowed = 32

// normalRows evaluate a mixture of a few normals at batches of n points, latents × n: they find log q, and the ratio of the density of its
// base to q, as logRest does. The mixture may move.
type normalRows struct {
	n          int
	logs       []float64 // of q's normals and their weights, × n
	room       []float64 // scratch of LogProbs
	sum        []float64 // scratch
	log, ratio []float64 // the results
}

// newNormalRows returns nil for mixtures of other parts, or of many.
func newNormalRows(m *Mixture, n int) *normalRows {
	parts := 0
	if !m.eachNormal(func(*family.Normal, float64, int) { parts++ }) || parts > mostRowed {
		return nil
	}
	return &normalRows{
		n: n, logs: make([]float64, n*parts), room: make([]float64, n*(m.Dim()+1)),
		log: make([]float64, n), sum: make([]float64, n), ratio: make([]float64, n),
	}
}

// LogProbs stores log q at n points z, latents × n, in dst of length n.
func (m *Mixture) LogProbs(dst, z []float64) {
	if r := newNormalRows(m, len(dst)); r != nil {
		r.evaluate(m, z)
		copy(dst, r.log)
		return
	}
	x := make([]float64, m.Dim())
	for k := range dst {
		for i := range x {
			x[i] = z[i*len(dst)+k]
		}
		dst[k] = m.LogProb(x)
	}
}

// eachNormal visits the normals that m and its parts are mixtures of, with the logs of their weights, and the numbers of the parts of m that they
// are of. It reports whether there is nothing else.
func (m *Mixture) eachNormal(visit func(q *family.Normal, logWeight float64, part int)) bool {
	if m.completion != nil {
		return false
	}
	for k, q := range m.parts {
		switch q := q.(type) {
		case *family.Normal:
			visit(q, m.log[k], k)
		case *Mixture:
			if !q.eachNormal(func(q *family.Normal, logWeight float64, _ int) { visit(q, m.log[k]+logWeight, k) }) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// evaluate finds them at z.
func (r *normalRows) evaluate(m *Mixture, z []float64) {
	row := func(x []float64, i int) []float64 { return x[i*r.n:][:r.n] }
	parts := 0
	m.eachNormal(func(q *family.Normal, logWeight float64, _ int) {
		q.LogProbs(row(r.logs, parts), z, logWeight, r.room)
		parts++
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
	m.eachNormal(func(_ *family.Normal, _ float64, part int) {
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
