package mixture

import (
	"math"
	"slices"
	"sync"

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

// logRest is LogProb at z, whose place is given, without the completion, if there is one; and the density of the base, if there is one, divided by m's.
// given is the log density of one part there, or NaN if that is not known.
func (m *Mixture) logRest(at *place, z []float64, part int, given float64) (log, ratio float64) {
	top, sum := math.Inf(-1), 0.0
	m.boxes.each(at, func(k int) {
		x := m.log[k]
		switch {
		case k == part && !math.IsNaN(given):
			x += given
		case m.completion != nil:
			x += m.parts[k].(Completed).LogRest(z)
		default:
			x += m.parts[k].LogProb(z)
		}
		by := 1.0
		switch {
		case x > top:
			less := vec.ExpOf(top - x)
			top, sum, ratio = x, sum*less, ratio*less
		case math.IsInf(x, -1):
			return
		default:
			by = vec.ExpOf(x - top)
		}
		if sum += by; m.base != nil {
			ratio += by * m.base[k]
		}
	})
	return top + vec.LogOf(sum), ratio / sum
}

// logRests is logRest at points z, latents × len(log); ratio may be nil. At point j the log density of part[j] is given[j], or not known if that is
// NaN; part may be nil.
func (m *Mixture) logRests(log, ratio, z []float64, part []int, given []float64) {
	n, r := len(log), idle.Get().(*rows)
	defer idle.Put(r)
	r.m, r.part = m, nil
	if ratio == nil {
		r.spare = sized(r.spare, n)
		ratio = r.spare
	}
	r.point = sized(r.point, m.Dim())
	var at place
	point, no := r.point, math.NaN()
	for first, end := 0, 0; first < n; first = end {
		at.put(m.boxes, z, n, first)
		for end = first + 1; end < n && at.same(m.boxes, z, n, end); end++ {
		}
		if end-first > fewPoints {
			r.log, r.ratio = log[first:end], ratio[first:end]
			r.z = r.z[:0]
			for row := range slices.Chunk(z, n) {
				r.z = append(r.z, row[first:end]...)
			}
			if part != nil {
				r.part, r.given = part[first:end], given[first:end]
			}
			r.run(&at)
			continue
		}
		for k := first; k < end; k++ {
			for i := range point {
				point[i] = z[i*n+k]
			}
			if part == nil {
				log[k], ratio[k] = m.logRest(&at, point, 0, no)
			} else {
				log[k], ratio[k] = m.logRest(&at, point, part[k], given[k])
			}
		}
	}
}

// rows evaluate a mixture at points that the same parts can reach, row by row: a row of log densities for each part.
type rows struct {
	m             *Mixture
	z, log, ratio []float64
	part          []int // see logRests
	given         []float64
	waiting       []int     // parts whose rows are not added up yet
	logs          []float64 // and their rows
	sum, room     []float64 // scratch
	spare, point  []float64
}

// idle are rows that are used again: to make them takes longer than to use them for few points.
var idle = sync.Pool{New: func() any { return new(rows) }}

// sized is x, or another slice if that is too short, with n numbers.
func sized(x []float64, n int) []float64 { return slices.Grow(x[:0], n)[:n] }

// run evaluates points at a place.
func (r *rows) run(at *place) {
	n := len(r.log)
	r.logs, r.room, r.sum = sized(r.logs, partsAtOnce*n), sized(r.room, (r.m.Dim()+1)*n), sized(r.sum, n)
	vec.Fill(r.log, -math.MaxFloat64) // far from all parts
	clear(r.ratio)
	sum := r.sum
	clear(sum)
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
