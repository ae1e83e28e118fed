// Draws of a distribution, and their weights.

package cells

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
	"github.com/facetvi/facet/vi/weighted"
)

const (
	quick       = 128  // draws are evaluated at once,
	probes      = 64   // points with forced signs, at most
	cheapGuards = 1000 // of a density with more of them draws are fewer
)

// weighed are draws of a distribution with log r and log r − log q.
type weighed struct {
	z           [][]float64
	logR, ratio []float64
}

func (w weighed) logQ() []float64 { return floats.SubTo(make([]float64, len(w.z)), w.logR, w.ratio) }

// ratios are those of n draws of q; x is for batches of quick samples. It is an error if ctx is done.
func ratios(ctx context.Context, d *graph.Density, x *graph.Executor, q family.Q, n int, rng *rand.Rand) (w weighed, err error) {
	draw := q.Drawer(quick)
	logQ := make([]float64, quick)
	all := make([]float64, n*d.Dim())
	w = weighed{make([][]float64, 0, n), make([]float64, 0, n), make([]float64, 0, n)}
	for len(w.z) < n {
		if ctx.Err() != nil {
			return w, ctx.Err()
		}
		draw.Draw(x.Z, rng)
		clear(logQ)
		draw.SubLogQ(logQ)
		logR, err := weighted.LogR(d, x, draw)
		if err != nil {
			return w, err
		}
		for k := range min(quick, n-len(w.z)) {
			z := all[:d.Dim():d.Dim()]
			for i := range z {
				z[i] = x.Z[i*quick+k]
			}
			all = all[len(z):]
			w.z = append(w.z, z)
			w.logR = append(w.logR, logR[k])
			w.ratio = append(w.ratio, logR[k]+logQ[k])
		}
	}
	return w, nil
}

// defensive is q and a part of the same that is wider.
func defensive(q family.Q) *mixture.Mixture {
	logs, parts := []float64{math.Log(1 - 1./mixture.WideShare), math.Log(1. / mixture.WideShare)}, []family.Q{q, mixture.Widened(q, mixture.WideScale(q.Dim()))}
	return mixture.New(logs, parts)
}

// drawsOf are n draws of q, of a mixture as many of each part as its weight says, rounded up or down at random.
func drawsOf(q family.Q, n int, rng *rand.Rand) (list [][]float64) {
	if m, ok := q.(*mixture.Mixture); ok {
		above, at := rng.Float64(), 0.0
		for k := range m.Len() {
			if at += m.Weight(k) * float64(n); k == m.Len()-1 {
				at = float64(n)
			}
			list = append(list, drawsOf(m.Part(k), min(int(at+above), n)-len(list), rng)...)
		}
		return list
	}
	var z []float64
	var drawer family.Drawer
	for ; n > 0; n -= drawnAtOnce {
		width := min(n, drawnAtOnce)
		if len(z) != width*q.Dim() {
			z, drawer = make([]float64, width*q.Dim()), q.Drawer(width)
		}
		drawer.Draw(z, rng)
		all := make([]float64, len(z))
		for k := range width {
			x := all[k*q.Dim():][:q.Dim()]
			for i := range x {
				x[i] = z[i*width+k]
			}
			list = append(list, x)
		}
	}
	return list
}

// drawnAtOnce is how many draws are made together.
const drawnAtOnce = 256

// pick are some coordinates of z.
func pick(z []float64, latents []int) []float64 {
	x := make([]float64, len(latents))
	for j, i := range latents {
		x[j] = z[i]
	}
	return x
}

// choose is where the sum of weights comes above u.
func choose(weights []float64, u float64) int {
	for k, w := range weights {
		if u -= w; u < 0 {
			return k
		}
	}
	return len(weights) - 1
}

// evenness is the effective part of draws, by the logarithms of their weights.
func evenness(logs []float64) float64 {
	top, sum, squares := floats.Max(logs), 0.0, 0.0
	if !finite(top) || slices.ContainsFunc(logs, math.IsNaN) {
		return 0
	}
	for _, l := range logs {
		w := math.Exp(l - top)
		sum += w
		squares += w * w
	}
	return sum * sum / squares / float64(len(logs))
}

func logAdd(a, b float64) float64 {
	if a == b { // both may be infinite
		return a + math.Ln2
	}
	return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
