package vi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// tails draws from q on rare sides.
type tails struct {
	d     *graph.Density
	q     MeanField
	s     []float64
	sides []RareSide
}

// plain is log r at the draws of ELBO, and on how many rare sides each is.
func (t *tails) plain(samples int, seed uint64) (logs []float64, on []int, err error) {
	on = make([]int, samples)
	seen := make([]atomic.Int64, len(t.sides))
	logs, err = evaluate(t.d, samples, seed, func(first int, x *graph.Executor, rng *rand.Rand) {
		draw(t.d, x, make([]float64, t.d.Dim()*x.N), t.q.Mu, t.s, rng)
		t.count(on[first:], x)
		for i, s := range t.sides {
			for _, v := range x.Signs[s.Side.Plane*x.N:][:x.N] {
				if v == 1 == s.Side.Positive {
					seen[i].Add(1)
				}
			}
		}
	})
	if err == nil {
		err = checkLogs(t.d, t.q, logs)
	}
	for i := range t.sides {
		t.sides[i].Seen = int(seen[i].Load())
	}
	return logs, on, err
}

// count writes on how many rare sides each sample of the executor is.
func (t *tails) count(on []int, x *graph.Executor) {
	for _, s := range t.sides {
		for k, v := range x.Signs[s.Side.Plane*x.N:][:x.N] {
			if v == 1 == s.Side.Positive {
				on[k]++
			}
		}
	}
}

// conditional fills the Gap and Missed of all sides from draws on them.
func (t *tails) conditional(each int, seed uint64, common Estimate) error {
	on := make([]int, each*len(t.sides))
	logs, err := evaluate(t.d, len(on), seed, func(first int, x *graph.Executor, rng *rand.Rand) {
		eps := make([]float64, t.d.Dim()*x.N)
		draw(t.d, x, eps, t.q.Mu, t.s, rng)
		for k := range x.N {
			t.push(t.sides[(first+k)/each], x, eps, k, rng)
		}
		t.d.Arrangement().SignBatch(x.Signs, x.Z, x.N)
		for k := range x.N { // a point next to the guard may be rounded to its other side
			s := t.sides[(first+k)/each].Side
			x.Signs[s.Plane*x.N+k] = 0
			if s.Positive {
				x.Signs[s.Plane*x.N+k] = 1
			}
		}
		t.count(on[first:], x)
	})
	if err != nil {
		return err
	}
	if k := badLog(logs); k >= 0 {
		s := t.sides[k/each]
		return fmt.Errorf("vi: log r is %v on the rare side %s (%s)", logs[k], s.Condition, placesOf(s.Guards))
	}
	for i := range t.sides {
		s, logs, on := &t.sides[i], logs[i*each:(i+1)*each], on[i*each:(i+1)*each]
		for k := range logs {
			logs[k] -= common.Mean
		}
		s.Gap = sum(estimate(logs), Estimate{0, common.SE})
		for k := range logs {
			logs[k] *= s.Prob / float64(on[k])
		}
		s.Missed = sum(estimate(logs), Estimate{0, s.Prob * common.SE})
	}
	return nil
}

// push moves sample k along the normal of a side to where q is, given that it
// is on that side.
func (t *tails) push(s RareSide, x *graph.Executor, eps []float64, k int, rng *rand.Rand) {
	h := t.d.Arrangement().Plane(s.Side.Plane)
	at, norm2 := 0.0, 0.0 // ã·ε and ‖ã‖²
	for j, i := range h.Index {
		a := h.Coef[j] * t.s[i]
		at += a * eps[i*x.N+k]
		norm2 += a * a
	}
	// The upper tail of probability p is where a normal variable exceeds
	// −quantile(p).
	u := 1 - rng.Float64()
	depth := -distuv.UnitNormal.Quantile(s.Prob * u)
	if !s.Side.Positive {
		depth = -depth
	}
	norm := math.Sqrt(norm2)
	for j, i := range h.Index {
		x.Z[i*x.N+k] += t.s[i] * (depth - at/norm) * h.Coef[j] * t.s[i] / norm
	}
}
