package mixture

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/vi/family"
)

// LogProb implements family.Q.
func (m *Mixture) LogProb(z []float64) float64 {
	var at place
	at.put(m.boxes, z, 1, 0)
	log, _ := m.logRest(&at, z, 0, math.NaN())
	if m.completion != nil && !math.IsInf(log, -1) {
		log += m.completion.LogProb(z)
	}
	return log
}

// LogProbs is log q at many points.
func LogProbs(q family.Q, points [][]float64) []float64 {
	m, mixed := q.(*Mixture)
	if !mixed {
		logs := make([]float64, len(points))
		for k, z := range points {
			logs[k] = q.LogProb(z)
		}
		return logs
	}
	given, complete := make([]float64, pointsAtOnce), Completer(nil)
	if m.completion != nil {
		complete = m.completion.Completer(pointsAtOnce)
	}
	return inBlocks(q.Dim(), points, func(dst, z []float64) {
		m.logRests(dst, nil, z, nil, nil)
		if complete != nil {
			complete.LogProb(given, z)
			vec.Add(dst, dst, given)
		}
	})
}

// inBlocks is what f says of points in blocks of pointsAtOnce, latents × pointsAtOnce, the last of which has some twice.
func inBlocks(dim int, points [][]float64, f func(dst, z []float64)) []float64 {
	const n = pointsAtOnce
	logs, z, dst := make([]float64, len(points)), make([]float64, n*dim), make([]float64, n)
	for first := 0; first < len(points); first += n {
		for k := range n {
			for i, x := range points[min(first+k, len(points)-1)] {
				z[i*n+k] = x
			}
		}
		f(dst, z)
		copy(logs[first:], dst)
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
	rest, room := make([]float64, pointsAtOnce), make([]float64, (q.Dim()+1)*pointsAtOnce)
	logs := inBlocks(q.Dim(), points, func(dst, z []float64) {
		a.LogRests(dst, z, room)
		b.LogRests(rest, z, room)
		vec.AddScaled(dst, -1, rest)
	})
	floats.Add(logs, logP)
	return logs
}
