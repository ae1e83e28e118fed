package family

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Completed is a Q of which some latents have a law of their own given the others, the
// rest: log q(z) = log q(rest) + log p(z | rest). A mixture whose parts have that law in common
// needs it once for each draw, and for many draws at a time.
type Completed interface {
	Q
	// LogRest is log q(rest).
	LogRest(z []float64) float64
	// RandRest draws the rest of z.
	RandRest(z []float64, rng *rand.Rand)
	// Completion is the law of the others.
	Completion() Completion
}

// A Completion is the law of some latents given the rest.
type Completion interface {
	// Equal reports whether another one is the same law.
	Equal(Completion) bool
	// LogProb is log p(z | rest).
	LogProb(z []float64) float64
	// Completer returns what works on batches of n points.
	Completer(n int) Completer
}

// A Completer works on batches of points, latents × n. It is for one goroutine.
type Completer interface {
	// Uniforms is how many uniform numbers the draw of a point takes.
	Uniforms() int
	// Draw draws what is not the rest of z, given Uniforms numbers for each point, one
	// point after another, and stores log p(z | rest) in log.
	Draw(log, z, u []float64)
	// LogProb stores log p(z | rest) in log.
	LogProb(log, z []float64)
}

// completion is what all parts have in common; nil if they have not.
func completion(parts []Q) (common Completion) {
	for _, q := range parts {
		c, ok := q.(Completed)
		switch {
		case !ok:
			return nil
		case common == nil:
			common = c.Completion()
		case !common.Equal(c.Completion()):
			return nil
		}
	}
	return common
}

// LogProbs is log q at many points.
func LogProbs(q Q, points [][]float64) []float64 {
	const n = 64
	logs := make([]float64, len(points))
	var evaluate func(dst, batch []float64)
	if m, ok := q.(*mixture); ok {
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
func (m *mixture) evaluator(n int) func(dst, batch []float64) {
	if rows := newMixtureRows(m, n); rows != nil {
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
func LogProbsBeside(q Q, points [][]float64, p Q, logP []float64) []float64 {
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
