package check

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// A RareSide is a side of a guard that the fit hardly ever is on.
type RareSide struct {
	Side      regions.Side
	Condition string            // the side as the program compares: "theta3 < 18"
	Guards    []graph.GuardInfo // the comparisons on the hyperplane, with their names and places
	Prob      float64           // the exact probability under the fit
	Seen      int               // plain draws that were on the side
	// Gap is the mean of log r − log q on the side minus that on no rare side, in
	// nats.
	Gap mc.Estimate
	// Missed is what the side brings to the ELBO, Prob times Gap. What several
	// rare sides have in common is divided among them.
	Missed mc.Estimate
}

// tails draws from q on rare sides.
type tails struct {
	d     *graph.Density
	q     family.Q
	sides []RareSide
	move  []family.Mover // to each of sides
}

// newTails leaves out the sides on which q cannot be drawn, those of curves among
// them, and counts them.
func newTails(d *graph.Density, q family.Q, sides []RareSide) (t tails, skipped int) {
	t = tails{d: d, q: q}
	for _, s := range sides {
		var move family.Mover
		if arr := d.Arrangement(); arr.Curve(s.Side.Plane) == nil {
			move = q.MoverTo(arr.Plane(s.Side.Plane), s.Side.Positive)
		}
		if move == nil {
			skipped++
			continue
		}
		t.sides, t.move = append(t.sides, s), append(t.move, move)
	}
	return t, skipped
}

// plain returns log r − log q at the draws of a meter, and for each draw the number
// of rare sides that it is on.
func (t *tails) plain(m *Meter) (logs []float64, on []int, err error) {
	on = make([]int, m.pool.N)
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

// draw draws so many points on each side, side by side. Of each point it returns log r − log q, on how
// many of the sides it is, and its weight.
func (t *tails) draw(each int, seed uint64) (logs []float64, on []int, weight []float64, err error) {
	n := each * len(t.sides)
	on, weight = make([]int, n), make([]float64, n)
	logQ := make([]float64, n)
	m, err := newMeter(t.d, t.q, n, seed, allProcessors)
	if err != nil {
		return nil, nil, nil, err
	}
	err = m.draw(t.q, func(first int, x *graph.Executor, rng *rand.Rand) {
		z := make([]float64, t.q.Dim())
		for k := range x.N {
			for i := range z {
				z[i] = x.Z[i*x.N+k]
			}
			logQ[first+k], weight[first+k] = t.move[(first+k)/each](z, rng)
			for i, v := range z {
				x.Z[i*x.N+k] = v
			}
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
	if err == nil {
		floats.SubTo(logQ, m.ratio, logQ)
	}
	return logQ, on, weight, err
}

// conditional fills the Gap and Missed of all sides from draws on them.
func (t *tails) conditional(each int, seed uint64, common mc.Estimate) error {
	logs, on, weight, err := t.draw(each, seed)
	if err != nil {
		return err
	}
	if k := badLog(logs); k >= 0 {
		s := t.sides[k/each]
		return fmt.Errorf("check: log r is %v on the rare side %s (%s)", logs[k], s.Condition, graph.Places(s.Guards))
	}
	for i := range t.sides {
		s, logs, on, weight := &t.sides[i], logs[i*each:(i+1)*each], on[i*each:(i+1)*each], weight[i*each:(i+1)*each]
		for k := range logs {
			logs[k] = (logs[k] - common.Value) * (weight[k] / s.Prob)
		}
		s.Gap = mc.Mean(logs).Plus(mc.Estimate{SE: common.SE})
		for k := range logs {
			logs[k] *= s.Prob / float64(on[k])
		}
		s.Missed = mc.Mean(logs).Plus(mc.Estimate{SE: s.Prob * common.SE})
	}
	return nil
}
