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

// LogProbs is log q at many points.
func LogProbs(q family.Q, points [][]float64) []float64 {
	const n = 64
	logs := make([]float64, len(points))
	var evaluate func(dst, batch []float64)
	if m, ok := q.(*Mixture); ok {
		evaluate = m.evaluator(n)
	}
	if evaluate == nil {
		for k, z := range points {
			logs[k] = q.LogProb(z)
		}
		return logs
	}
	batch := make([]float64, n*q.Dim())
	for first := 0; first < len(points); first += n {
		for k := range n {
			for i, x := range points[min(first+k, len(points)-1)] {
				batch[i*n+k] = x
			}
		}
		evaluate(logs[first:min(first+n, len(points))], batch)
	}
	return logs
}

// evaluator returns what computes log q at the first len(dst) points of a batch of n, latents × n; nil if that takes less time point by point.
func (m *Mixture) evaluator(n int) func(dst, batch []float64) {
	if rows := newNormalRows(m, n); rows != nil {
		return func(dst, batch []float64) {
			rows.evaluate(m, batch)
			copy(dst, rows.log)
		}
	}
	if m.completion == nil {
		return nil
	}
	c, given, z := m.completion.Completer(n), make([]float64, n), make([]float64, m.Dim())
	return func(dst, batch []float64) {
		c.LogProb(given, batch)
		for k := range dst {
			for i := range z {
				z[i] = batch[i*n+k]
			}
			log, _ := m.logRest(z, 0, math.NaN())
			dst[k] = log + given[k]
		}
	}
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
