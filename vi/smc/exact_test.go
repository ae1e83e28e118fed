package smc_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/programs"
	"github.com/facetvi/facet/vi/smc"
)

func TestMain(m *testing.M) { long.Main(m) }

// A quadrature integrates r, whose guards are affine, over a box: coordinate after coordinate, by
// Gauss and Legendre between the hyperplanes that end there.
type quadrature struct {
	d        *graph.Density
	lo, hi   []float64
	panels   int
	x        *graph.Executor
	weight   []float64
	n        int
	z        []float64
	features func(z []float64) []float64
	top      float64   // of log r
	mass     float64   // ∫ r·exp(−top)
	sum      []float64 // ∫ r·f·exp(−top)
}

const order = 5

var nodes, weights = func() (x, w [order]float64) { quad.Legendre{}.FixedLocations(x[:], w[:], -1, 1); return x, w }()

// integrate returns the log evidence and the means of features.
func integrate(t require.TestingT, d *graph.Density, lo, hi []float64, panels int, features func(z []float64) []float64) (float64, []float64) {
	x, err := d.Executor(256, graph.Compute{Out: true})
	require.NoError(t, err)
	q := &quadrature{d: d, lo: lo, hi: hi, panels: panels, x: x, weight: make([]float64, 256), z: make([]float64, d.Dim()),
		features: features, top: math.Inf(-1), sum: make([]float64, len(features(make([]float64, d.Dim()))))}
	q.level(0, 1)
	q.flush()
	for k := range q.sum {
		q.sum[k] /= q.mass
	}
	return math.Log(q.mass) + q.top, q.sum
}

func (q *quadrature) level(i int, w float64) {
	if i == len(q.z) {
		for k, v := range q.z {
			q.x.Z[k*q.x.N+q.n] = v
		}
		q.weight[q.n] = w
		if q.n++; q.n == q.x.N {
			q.flush()
		}
		return
	}
	var ends []float64
	for k := range q.panels + 1 {
		ends = append(ends, q.lo[i]+(q.hi[i]-q.lo[i])*float64(k)/float64(q.panels))
	}
	for _, h := range q.d.Arrangement().Planes() {
		last := len(h.Index) - 1
		if h.Index[last] != i {
			continue
		}
		q.z[i] = 0
		if at := -h.At(q.z) / h.Coef[last]; at > q.lo[i] && at < q.hi[i] {
			ends = append(ends, at)
		}
	}
	slices.Sort(ends)
	for k := range len(ends) - 1 {
		a, b := ends[k], ends[k+1]
		for j, x := range nodes {
			q.z[i] = (a+b)/2 + (b-a)/2*x
			q.level(i+1, w*weights[j]*(b-a)/2)
		}
	}
}

func (q *quadrature) flush() {
	q.d.Arrangement().SignBatch(q.x.Signs, q.x.Z, q.x.N)
	_ = q.x.Run()
	for k, v := range q.x.Out[:q.n] {
		if math.IsNaN(v) || math.IsInf(v, -1) {
			continue
		}
		if v > q.top {
			scale := math.Exp(q.top - v)
			q.mass *= scale
			for j := range q.sum {
				q.sum[j] *= scale
			}
			q.top = v
		}
		w := q.weight[k] * math.Exp(v-q.top)
		q.mass += w
		for j, f := range q.features(q.x.Point(k)) {
			q.sum[j] += w * f
		}
	}
	q.n = 0
}

// bounded are numbers in [−1, 1] that tell where z is: each coordinate, and each sign.
func bounded(d *graph.Density) func(z []float64) []float64 {
	return func(z []float64) (f []float64) {
		for _, x := range z {
			f = append(f, math.Tanh(x))
		}
		for _, h := range d.Arrangement().Planes() {
			f = append(f, 2*map[bool]float64{true: 1}[h.At(z) > 0]-1)
		}
		return f
	}
}

// box is where the prior and the draws have all but what does not matter.
func box(d *graph.Density, draws [][]float64) (lo, hi []float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 4000 {
		draws = append(draws, d.PriorDraw(nil, rng))
	}
	for i := range d.Dim() {
		least, most := math.Inf(1), math.Inf(-1)
		for _, z := range draws {
			if !math.IsNaN(z[i]) {
				least, most = min(least, z[i]), max(most, z[i])
			}
		}
		lo, hi = append(lo, least-(most-least)/4), append(hi, most+(most-least)/4)
	}
	return lo, hi
}

// deviations are those of the means of features and of the log evidence from what quadrature says, in standard errors.
// Particles are taken to be independent of each other, and their states not.
func deviations(r smc.Result, features func(z []float64) []float64, want []float64) (z []float64) {
	const particles = 8 * 64
	moves := len(r.Z) / particles
	means := make([][]float64, particles)
	for k, at := range r.Z {
		f := features(at)
		if means[k%particles] == nil {
			means[k%particles] = make([]float64, len(f))
		}
		for j, x := range f {
			means[k%particles][j] += x / float64(moves)
		}
	}
	for j, w := range want {
		mean, square := 0.0, 0.0
		for _, m := range means {
			mean += m[j] / particles
			square += m[j] * m[j] / particles
		}
		if se := math.Sqrt(max(0, square-mean*mean) / particles); se > 1e-4 {
			z = append(z, (mean-w)/se)
		}
	}
	return z
}

// A sum of squares of deviations.
type squares struct {
	n          int
	sum, worst float64
}

func (s *squares) add(z ...float64) {
	for _, v := range z {
		s.n++
		s.sum += v * v
		s.worst = max(s.worst, math.Abs(v))
	}
}

// mean has mean 1 if deviations are right.
func (s *squares) mean() float64 { return s.sum / float64(s.n) }

// A tally is what random programs have shown.
type tally struct {
	squares
	programs, walls, discrete, slow int
	evidence                        float64 // the largest deviation, in standard errors from 8 islands
}

// random runs random programs with guards, kinks and discrete latents, and adds how far from quadrature their means and
// probabilities are.
func (c *tally) random(t *rapid.T, change func(s smc.Settings) smc.Settings) {
	_, d, rng := programs.Compiled(t, programs.Limits{Most: 2, Depth: 1, Affine: true, NoParams: true, NoPlates: true, NoCombined: true})
	if d.Dim() > 2 || d.Arrangement().Len() > 12 {
		return
	}
	r, err := smc.Run(context.Background(), d, change(smc.Settings{Seed: rng.Uint64(), Effective: 1500, MostMoves: 50}))
	require.NoError(t, err)
	lo, hi := box(d, r.Z)
	f := bounded(d)
	coarse, _ := integrate(t, d, lo, hi, 8, f)
	evidence, means := integrate(t, d, lo, hi, 16, f)
	if !(math.Abs(coarse-evidence) < 3e-3) { // of a pole, say
		return
	}
	c.programs++
	if slices.Max(r.RHat) > 1.01 {
		c.slow++
		return
	}
	c.add(deviations(r, f, means)...)
	c.evidence = max(c.evidence, math.Abs(r.LogEvidence.Value-evidence)/math.Hypot(r.LogEvidence.SE, 1e-3))
	if r.Crossings > 0 {
		c.walls++
	}
	for i := range d.Dim() {
		if values, _ := d.Values(i); values != nil {
			c.discrete++
		}
	}
}

func (c *tally) String() string {
	return fmt.Sprintf("%d programs, %d with walls, %d discrete latents, %d slow; %d numbers, Σz²/n %.3f, |z| ≤ %.2f; evidence within %.1f",
		c.programs, c.walls, c.discrete, c.slow, c.n, c.mean(), c.worst, c.evidence)
}

// Draws of random programs have the means of quadrature, and the run has the evidence.
func TestRandomPrograms(t *testing.T) {
	var c tally
	programs.Check(t, long.Or(30, 100), func(t *rapid.T) {
		for range 4 {
			c.random(t, func(s smc.Settings) smc.Settings { return s })
		}
	})
	t.Log(&c)
	require.Less(t, c.worst, 5.0)
	require.InDelta(t, 1, c.mean(), 0.2)
	require.Less(t, c.evidence, 10.0)
	require.Greater(t, c.walls, programs.OfChecks(t, 100))
	require.Greater(t, c.discrete, programs.OfChecks(t, 20))
	require.Less(t, 20*c.slow, c.programs)
}

// The test of random programs sees walls that go wrong: where paths are not those of any energy, so that they do not
// reverse. Where nothing is paid at walls paths are those of another energy, and the acceptance makes up for it.
func TestWrongWalls(t *testing.T) {
	long.Skip(t)
	var oneWay, free tally
	programs.Check(t, 100, func(t *rapid.T) {
		oneWay.random(t, smc.Settings.OneWay)
		free.random(t, smc.Settings.Free)
	})
	t.Log(&oneWay)
	t.Log(&free)
	require.Greater(t, oneWay.worst, 5.0)
	require.Greater(t, oneWay.mean(), 1.5)
	require.Less(t, free.worst, 5.0)
	require.InDelta(t, 1, free.mean(), 0.3)
}
