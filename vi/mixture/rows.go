package mixture

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/vi/family"
)

// How many points are evaluated together.
const (
	pointsAtOnce = 64
	fewPoints    = 4  // in a row and in the same boxes are evaluated one by one
	partsAtOnce  = 16 // are evaluated before they are added up
)

// LogProbs stores log q at n points z, latents × n, in dst of length n.
func (m *Mixture) LogProbs(dst, z []float64) {
	m.logRests(dst, nil, z, nil, nil)
	if m.completion == nil {
		return
	}
	x := make([]float64, m.Dim())
	for k := range dst {
		for i := range x {
			x[i] = z[i*len(dst)+k]
		}
		dst[k] += m.completion.LogProb(x)
	}
}

// logRests is logRest at points z, latents × len(log); ratio may be nil. At point j the log density of part[j] is given[j], or not known if that is
// NaN; part may be nil.
func (m *Mixture) logRests(log, ratio, z []float64, part []int, given []float64) {
	n := len(log)
	if ratio == nil {
		ratio = make([]float64, n)
	}
	r := &rows{m: m}
	for first, end := 0, 0; first < n; first = end {
		at := m.boxes.place(z, n, first)
		for end = first + 1; end < n && m.boxes.place(z, n, end) == at; end++ {
		}
		r.log, r.ratio, r.z, r.part = log[first:end], ratio[first:end], z, nil
		if end-first < n {
			r.z = columns(z, n, first, end)
		}
		if part != nil {
			r.part, r.given = part[first:end], given[first:end]
		}
		if end-first <= fewPoints {
			r.each()
			continue
		}
		r.run(at)
	}
}

// columns are some columns of z, rows of n numbers.
func columns(z []float64, n, first, end int) (some []float64) {
	for row := range slices.Chunk(z, n) {
		some = append(some, row[first:end]...)
	}
	return some
}

// rows evaluate a mixture at points that the same parts can reach, row by row: a row of log densities for each part.
type rows struct {
	m             *Mixture
	z, log, ratio []float64
	part          []int // see logRests
	given         []float64
	waiting       []int     // parts whose rows are not added up yet
	logs          []float64 // and their rows
	room          []float64 // scratch
}

// each evaluates point by point.
func (r *rows) each() {
	n, point := len(r.log), make([]float64, r.m.Dim())
	for k := range n {
		for i := range point {
			point[i] = r.z[i*n+k]
		}
		part, given := 0, math.NaN()
		if r.part != nil {
			part, given = r.part[k], r.given[k]
		}
		r.log[k], r.ratio[k] = r.m.logRest(point, part, given)
	}
}

// run evaluates points at a place.
func (r *rows) run(at place) {
	n := len(r.log)
	r.logs, r.room = make([]float64, partsAtOnce*n), make([]float64, (r.m.Dim()+1)*n)
	vec.Fill(r.log, -math.MaxFloat64) // far from all parts
	clear(r.ratio)
	sum := make([]float64, n)
	r.m.boxes.each(at, func(k int) {
		row := r.logs[len(r.waiting)*n:][:n]
		r.waiting = append(r.waiting, k)
		r.evaluate(r.m.parts[k], row)
		for j, p := range r.part {
			if p == k && !math.IsNaN(r.given[j]) {
				row[j] = r.given[j]
			}
		}
		vec.Affine(row, row, 1, r.m.log[k])
		if len(r.waiting) == partsAtOnce {
			r.addUp(sum)
		}
	})
	r.addUp(sum)
	for k, s := range sum {
		r.ratio[k] /= s
	}
	vec.Log(sum, sum)
	vec.Add(r.log, r.log, sum)
}

// evaluate sets row to the log density of a part.
func (r *rows) evaluate(q family.Q, row []float64) {
	if c, ok := q.(Completed); ok && r.m.completion != nil {
		c.LogRests(row, r.z, r.room)
		return
	}
	LogsOf(q, row, r.z, r.room)
}

// addUp adds the densities that wait to sum and ratio, which are in units of exp(log), the largest so far.
func (r *rows) addUp(sum []float64) {
	n, less := len(r.log), r.room[:len(r.log)]
	copy(less, r.log)
	for i := range r.waiting {
		for j, x := range r.logs[i*n:][:n] {
			r.log[j] = max(r.log[j], x)
		}
	}
	vec.AddScaled(less, -1, r.log)
	vec.Exp(less, less)
	vec.Mul(sum, sum, less)
	vec.Mul(r.ratio, r.ratio, less)
	for i, k := range r.waiting {
		by := r.logs[i*n:][:n]
		vec.AddScaled(by, -1, r.log)
		vec.Exp(by, by)
		vec.Add(sum, sum, by)
		if r.m.base != nil {
			vec.AddScaled(r.ratio, r.m.base[k], by)
		}
	}
	r.waiting = r.waiting[:0]
}

// LogsOf sets logs to log q at points z, latents × len(logs). room is scratch of (Dim() + 1)·len(logs) numbers.
func LogsOf(q family.Q, logs, z, room []float64) {
	switch q := q.(type) {
	case *family.Normal:
		q.LogProbs(logs, z, 0, room)
		return
	case family.Truncated:
		q.LogProbs(logs, z, 0, room)
		return
	case *Mixture:
		if q.completion == nil {
			q.logRests(logs, nil, z, nil, nil)
			return
		}
	}
	n, point := len(logs), room[:q.Dim()]
	for k := range logs {
		for i := range point {
			point[i] = z[i*n+k]
		}
		logs[k] = q.LogProb(point)
	}
}
