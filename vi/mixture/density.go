package mixture

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/vi/family"
)

// LogProb implements family.Q.
func (m *Mixture) LogProb(z []float64) float64 {
	log, _ := m.logRest(z, 0, math.NaN())
	if m.completion != nil && !math.IsInf(log, -1) {
		log += m.completion.LogProb(z)
	}
	return log
}

// logRest is LogProb without the completion, if there is one; and the density of the base, if there is one, divided by m's. given is the log density
// of one part there, or NaN if that is not known.
func (m *Mixture) logRest(z []float64, part int, given float64) (log, ratio float64) {
	top, sum := math.Inf(-1), 0.0
	m.boxes.each(z, func(k int) {
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

// An evaluator computes log q at n points at a time, latents × n: row by row, by a completer, or else point by point.
type evaluator struct {
	q        *Mixture
	n        int
	rows     *normalRows // or nil
	complete Completer   // or nil
	given    []float64   // the log density by it
	point    []float64   // scratch
}

func newEvaluator(q *Mixture, n int) evaluator {
	e := evaluator{q: q, n: n, given: make([]float64, n), point: make([]float64, q.Dim())}
	if q.completion != nil {
		e.complete = q.completion.Completer(n)
	} else {
		e.rows = newNormalRows(q, n)
	}
	return e
}

// at is log q at point k, where given is known, and the ratio of logRest. own is the log density of a part there, or NaN.
func (e *evaluator) at(z []float64, k, part int, own float64) (log, ratio float64) {
	for i := range e.point {
		e.point[i] = z[i*e.n+k]
	}
	log, ratio = e.q.logRest(e.point, part, own)
	return log + e.given[k], ratio
}

// LogProbs is log q at many points.
func LogProbs(q family.Q, points [][]float64) []float64 {
	const n = 64
	logs := make([]float64, len(points))
	var e evaluator
	if m, ok := q.(*Mixture); ok {
		e = newEvaluator(m, n)
	}
	if e.rows == nil && e.complete == nil {
		for k, z := range points {
			logs[k] = q.LogProb(z)
		}
		return logs
	}
	z := make([]float64, n*q.Dim())
	for first := 0; first < len(points); first += n {
		for k := range n {
			for i, x := range points[min(first+k, len(points)-1)] {
				z[i*n+k] = x
			}
		}
		dst := logs[first:min(first+n, len(points))]
		if e.rows != nil {
			e.rows.evaluate(e.q, z)
			copy(dst, e.rows.log)
			continue
		}
		e.complete.LogProb(e.given, z)
		for k := range dst {
			dst[k], _ = e.at(z, k, 0, math.NaN())
		}
	}
	return logs
}

// LogProbsBeside is log q at many points where log p is known: what the two have in common is not computed again.
func LogProbsBeside(q family.Q, points [][]float64, p family.Q, logP []float64) []float64 {
	a, ok1 := q.(Completed)
	b, ok2 := p.(Completed)
	if !ok1 || !ok2 || !a.Completion().Equal(b.Completion()) {
		return LogProbs(q, points)
	}
	logs := slices.Clone(logP)
	for k, z := range points {
		logs[k] += a.LogRest(z) - b.LogRest(z)
	}
	return logs
}
