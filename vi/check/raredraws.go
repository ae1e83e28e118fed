package check

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// tails draws from q on rare sides.
type tails struct {
	d     *graph.Density
	q     family.Q
	sides []RareSide
}

// plain returns log r − log q at the draws of a meter, and for each draw the number
// of rare sides that it is on.
func (t *tails) plain(m *Meter) (logs []float64, on []int, err error) {
	on = make([]int, m.cut.N)
	seen := make([]atomic.Int64, len(t.sides))
	err = m.draw(t.q, func(first int, x *graph.Executor, _ *rand.Rand) {
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
		err = checkLogs(t.d, t.q, m.logR)
	}
	for i := range t.sides {
		t.sides[i].Seen = int(seen[i].Load())
	}
	return m.ratio, on, err
}

// count adds to each sample's number in on the rare sides that it is on.
func (t *tails) count(on []int, x *graph.Executor) {
	for _, s := range t.sides {
		for k, v := range x.Signs[s.Side.Plane*x.N:][:x.N] {
			if v == 1 == s.Side.Positive {
				on[k]++
			}
		}
	}
}

// conditional fills the Gap and Missed of all sides from draws on them. Given Φ,
// the rest of q is what it was: a draw moves along the regression on Φ, and its
// log q changes by that of Φ.
func (t *tails) conditional(each int, seed uint64, common mc.Estimate) error {
	n := each * len(t.sides)
	on, logQ := make([]int, n), make([]float64, n)
	m, err := newMeter(t.d, t.q, n, seed, allProcessors)
	if err != nil {
		return err
	}
	laws := make([]law, len(t.sides))
	for i, s := range t.sides {
		h := t.d.Arrangement().Plane(s.Side.Plane)
		laws[i].plane, laws[i].along = h, t.q.Regression(h)
		laws[i].mean, laws[i].sd = t.q.Law(h)
	}
	err = m.draw(t.q, func(first int, x *graph.Executor, rng *rand.Rand) {
		for k := range x.N {
			i := (first + k) / each
			logQ[first+k] = laws[i].push(t.sides[i], x, k, rng)
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
	logs := m.ratio
	if err != nil {
		return err
	}
	if k := badLog(logs); k >= 0 {
		s := t.sides[k/each]
		return fmt.Errorf("check: log r is %v on the rare side %s (%s)", logs[k], s.Condition, graph.Places(s.Guards))
	}
	floats.Sub(logs, logQ)
	for i := range t.sides {
		s, logs, on := &t.sides[i], logs[i*each:(i+1)*each], on[i*each:(i+1)*each]
		for k := range logs {
			logs[k] -= common.Mean
		}
		s.Gap = mc.Mean(logs).Plus(mc.Estimate{SE: common.SE})
		for k := range logs {
			logs[k] *= s.Prob / float64(on[k])
		}
		s.Missed = mc.Mean(logs).Plus(mc.Estimate{SE: s.Prob * common.SE})
	}
	return nil
}

// A law is that of Φ under q.
type law struct {
	plane    regions.Hyperplane
	along    []float64 // the regression of the latents on Φ
	mean, sd float64
}

// push moves sample k to where q is, given that it is on a side, and returns by
// how much log q changes.
func (l *law) push(s RareSide, x *graph.Executor, k int, rng *rand.Rand) (logQ float64) {
	phi := l.plane.Const
	for j, i := range l.plane.Index {
		phi += l.plane.Coef[j] * x.Z[i*x.N+k]
	}
	// The upper tail of probability p is where a normal variable exceeds
	// −quantile(p).
	u := 1 - rng.Float64()
	depth := -distuv.UnitNormal.Quantile(s.Prob * u)
	if !s.Side.Positive {
		depth = -depth
	}
	for i, v := range l.along {
		x.Z[i*x.N+k] += (l.mean + depth*l.sd - phi) * v
	}
	was := (phi - l.mean) / l.sd
	return 0.5 * (was*was - depth*depth)
}
