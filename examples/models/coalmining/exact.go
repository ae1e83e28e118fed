package coalmining

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/examples/models/exact"
)

// An Answer is the exact posterior.
type Answer struct {
	exact.Posterior
	// LastYear are the probabilities of each year but the last to be the last one of the old rate.
	LastYear []float64
}

// Exact is the posterior of Model(Disasters), by going through the last years of the old rate. A rate with prior Gamma(1, ½)
// is integrated out of its years in closed form, and within a year the change is uniform.
func Exact() Answer { return enumerate(Disasters) }

func enumerate(counts []float64) Answer {
	n := len(counts)
	logs := make([]float64, n-1)
	for i := range logs {
		logs[i] = newSegment(counts[:i+1]).evidence() + newSegment(counts[i+1:]).evidence() - math.Log(float64(n-1))
	}
	a := Answer{Posterior: exact.Posterior{LogEvidence: floats.LogSumExp(logs), Guards: make([]float64, n)}}
	moments := make([]exact.Mixture, 3)
	for i, l := range logs {
		p := math.Exp(l - a.LogEvidence)
		a.LastYear = append(a.LastYear, p)
		floats.AddConst(p, a.Guards[:i+1])
		moments[0].Add(p, FirstYear+float64(i)+0.5, 1.0/12)
		newSegment(counts[:i+1]).addRate(&moments[1], p)
		newSegment(counts[i+1:]).addRate(&moments[2], p)
	}
	a.Latents = exact.All(moments)
	return a
}

// A segment is a stretch of years of one rate, whose posterior is Gamma(shape, rate).
type segment struct{ shape, rate, logFactorials float64 }

func newSegment(counts []float64) segment {
	s := segment{shape: 1 + floats.Sum(counts), rate: 0.5 + float64(len(counts))}
	for _, n := range counts {
		s.logFactorials += lgamma(n + 1)
	}
	return s
}

// evidence is the log probability of the counts.
func (s segment) evidence() float64 {
	return math.Log(0.5) - s.logFactorials + lgamma(s.shape) - s.shape*math.Log(s.rate)
}

func (s segment) addRate(m *exact.Mixture, weight float64) {
	m.Add(weight, s.shape/s.rate, s.shape/(s.rate*s.rate))
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
