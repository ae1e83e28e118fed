package smc_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/programs"
	"github.com/facetvi/facet/vi/smc"
)

func TestMain(m *testing.M) { programs.Main(m) }

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

// priorBox is where the prior has all but what does not matter.
func priorBox(t require.TestingT, d *graph.Density) (lo, hi []float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	lo, hi = slices.Repeat([]float64{math.Inf(1)}, d.Dim()), slices.Repeat([]float64{math.Inf(-1)}, d.Dim())
	for range 4000 {
		for i, x := range d.PriorDraw(nil, rng) {
			if !math.IsNaN(x) {
				lo[i], hi[i] = min(lo[i], x), max(hi[i], x)
			}
		}
	}
	for i := range lo {
		w := hi[i] - lo[i]
		lo[i], hi[i] = lo[i]-w/4, hi[i]+w/4
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

// Draws of random programs with guards and discrete latents have the means of quadrature.
func TestRandomPrograms(t *testing.T) {
	var all []float64
	tried, done := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p, d, rng := programs.Compiled(t, programs.Limits{Most: 2, Depth: 1, Affine: true, NoParams: true, NoPlates: true, NoCombined: true})
		tried++
		if d.Dim() > 3 || d.Arrangement().Len() > 12 {
			return
		}
		t0 := time.Now()
		lo, hi := priorBox(t, d)
		f := bounded(d)
		coarse, _ := integrate(t, d, lo, hi, 8, f)
		evidence, means := integrate(t, d, lo, hi, 16, f)
		if !(math.Abs(coarse-evidence) < 3e-3) {
			return
		}
		t1 := time.Now()
		defer func() { println(d.Dim(), d.Arrangement().Len(), t1.Sub(t0).String(), time.Since(t1).String()) }()
		r, err := smc.Run(context.Background(), d, smc.Settings{Seed: rng.Uint64()})
		require.NoError(t, err)
		z := deviations(r, f, means)
		for _, v := range z {
			if math.Abs(v) > 6 {
				got := make([]float64, len(means))
				for _, at := range r.Z {
					for j, x := range f(at) {
						got[j] += x / float64(len(r.Z))
					}
				}
				t.Logf("%v evidence %v %v draws %d", p, evidence, r.LogEvidence, len(r.Z))
				t.Logf("%v", z)
				t.Logf("%v", got)
				t.Logf("%v", means)
				for l, h := range d.Arrangement().Planes() {
					lj, _ := d.LocalJumps()
					t.Logf("plane %v jumps %v", h, lj.Jumps(l))
				}
				t.Logf("%v %v", lo, hi)
				t.Fatal()
			}
		}
		z = append(z, (r.LogEvidence.Mean-evidence)/r.LogEvidence.SE/2)
		for _, v := range z {
			if math.Abs(v) > 4 {
				t.Logf("%v", p)
				println(p.String(), v, len(z))
			}
		}
		done++
		all = append(all, z...)
	})
	sum, worst := 0.0, 0.0
	for _, v := range all {
		sum += v * v
		worst = max(worst, math.Abs(v))
	}
	t.Logf("%d of %d programs, %d numbers, Σz²/n %.3f, |z| ≤ %.2f", done, tried, len(all), sum/float64(len(all)), worst)
	require.Less(t, worst, 5.0)
}
