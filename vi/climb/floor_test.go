package climb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// The floor is an iteration as one would write it by hand for one model: the
// log density differentiated on paper, constants folded, coincident guards
// merged, one pass a sample, no allocation, and nothing in the loops that is
// called through an interface but the random source of the rows' keys. The library's speed is
// measured against it, and since it shares no code with the library its
// gradients are an oracle of the library's.

// A floorLoop is the gradient of one model by one estimator, with sums over
// samples inside.
type floorLoop interface {
	// locate takes the family and clears the sums.
	locate(mu, s []float64)
	// add adds samples. eps is their ε, sample by sample.
	add(eps []float64)
	// gradient writes the gradients with respect to μ and s, summed over the
	// samples.
	gradient(gMu, gScale []float64)
}

// floorLoopOf is the loop of temperature, textmsg or influenza; guards says
// whether the estimator is boundary or reparam.
func floorLoopOf(model string, obs []float64, guards bool) floorLoop {
	switch model {
	case "temperature":
		return newTemperatureFloor(obs, guards)
	case "textmsg":
		return newTextMsgFloor(guards)
	default:
		return newInfluenzaFloor(obs, guards)
	}
}

// floor is a fit by a floorLoop. It draws as the library does, from one stream
// for each block of 32 samples.
type floor struct {
	floorLoop
	samples     int
	rngs        []*rand.Rand
	theta, m, v []float64 // interleaved; Adam's means
	mu, s       []float64
	slope       []float64 // of softplus
	eps         []float64
	gMu, gScale []float64
	pow1, pow2  float64 // Adam's β₁ᵗ and β₂ᵗ
}

const floorBlock = 32

func newFloor(loop floorLoop, theta []float64, samples int) *floor {
	dim := len(theta) / 2
	f := &floor{floorLoop: loop, samples: samples, theta: append([]float64(nil), theta...), pow1: 1, pow2: 1}
	f.m, f.v = make([]float64, 2*dim), make([]float64, 2*dim)
	for _, p := range []*[]float64{&f.mu, &f.s, &f.slope, &f.gMu, &f.gScale} {
		*p = make([]float64, dim)
	}
	f.eps = make([]float64, dim*min(samples, floorBlock))
	for b := 0; b < samples; b += floorBlock {
		f.rngs = append(f.rngs, rand.New(rand.NewPCG(1, uint64(b))))
	}
	return f
}

// step is one iteration: draws, gradient, Adam.
func (f *floor) step(stepSize float64) {
	mu, s, slope := f.mu, f.s[:len(f.mu)], f.slope[:len(f.mu)]
	for i := range mu {
		mu[i] = f.theta[2*i]
		s[i], slope[i] = floorSoftplus(f.theta[2*i+1])
	}
	f.locate(mu, s)
	for b, rng := range f.rngs {
		eps := f.eps[:len(mu)*min(floorBlock, f.samples-b*floorBlock)]
		parallel.Normals(eps, rng)
		f.add(eps)
	}
	f.gradient(f.gMu, f.gScale)
	f.ascend(stepSize)
}

// ascend is Adam's step. The powers that vi.Adam computes are kept here.
func (f *floor) ascend(stepSize float64) {
	const b1, b2, tiny = 0.9, 0.999, 1e-8
	f.pow1 *= b1
	f.pow2 *= b2
	rate, unbias := stepSize/(1-f.pow1), 1/math.Sqrt(1-f.pow2)
	inv := 1 / float64(f.samples)
	dim := len(f.mu)
	s, slope, gMu, gScale := f.s[:dim], f.slope[:dim], f.gMu[:dim], f.gScale[:dim]
	theta, m, v := f.theta[:2*dim], f.m[:2*dim], f.v[:2*dim]
	for i := range dim {
		x, y := gMu[i]*inv, (gScale[i]*inv+1/s[i])*slope[i]
		j, k := 2*i, 2*i+1
		m[j], v[j] = b1*m[j]+(1-b1)*x, b2*v[j]+(1-b2)*x*x
		m[k], v[k] = b1*m[k]+(1-b1)*y, b2*v[k]+(1-b2)*y*y
		theta[j] += rate * m[j] / (math.Sqrt(v[j])*unbias + tiny)
		theta[k] += rate * m[k] / (math.Sqrt(v[k])*unbias + tiny)
	}
}

// floorSoftplus is softplus and its slope, by one exponential, one division and
// a logarithm, which is faster than math.Log1p unless e is small: with u the
// rounded 1 + e, log(1 + e) = log u + (e − (u − 1))/u to rounding.
func floorSoftplus(x float64) (s, slope float64) {
	e := math.Exp(-math.Abs(x))
	u := 1 + e
	inv := 1 / u
	s, slope = max(x, 0)+math.Log(u)+(e-(u-1))*inv, inv
	if x < 0 {
		slope *= e
	}
	return s, slope
}

// floorWeight is the weight of the guard z > c for z = μ + s·ε, and the ε there.
func floorWeight(c, mu, s float64) (w, t float64) {
	inv := 1 / s
	t = (c - mu) * inv
	if t*t > 1490 {
		return 0, t // exp underflows
	}
	return 0.398942280401432677939946059934 * math.Exp(-0.5*t*t) * inv, t
}

// mask is all ones if b, else 0, without a branch: signs are as random as coins.
func mask(b bool) uint64 {
	var bit uint64
	if b {
		bit = 1
	}
	return -bit
}

// keep is x if the mask is all ones, and 0 if it is 0.
func keep(x float64, mask uint64) float64 {
	return math.Float64frombits(math.Float64bits(x) & mask)
}

// choose is x if the mask is all ones, and y if it is 0. With constants the
// exclusive or is one too.
func choose(x, y float64, mask uint64) float64 {
	a, b := math.Float64bits(x), math.Float64bits(y)
	return math.Float64frombits(b ^ (a^b)&mask)
}

// floorModels are the models that have a floor, and floorEstimators its
// estimators.
var (
	floorModels     = []string{"temperature", "textmsg", "influenza"}
	floorEstimators = []string{"reparam", "boundary"}
)

// tinyStep keeps θ where it is, whatever the number of iterations.
const tinyStep = 1e-12

func BenchmarkFloor(b *testing.B) {
	for _, model := range floorModels {
		for _, estimator := range floorEstimators {
			for _, n := range iterationSamples {
				b.Run(fmt.Sprintf("model=%s/estimator=%s/N=%d", model, estimator, n), func(b *testing.B) {
					g, err := models.LoadGolden(model)
					require.NoError(b, err)
					loop := floorLoopOf(model, g.Observations, estimator == "boundary")
					benchmarkFloor(b, newFloor(loop, g.ThetaInit, n))
				})
			}
		}
	}
}

func benchmarkFloor(b *testing.B, f *floor) {
	b.ReportAllocs()
	for b.Loop() {
		f.step(tinyStep)
	}
}

// libraryGradient is the library's gradient of E[log r] with respect to μ and s,
// summed over n samples whose ε rng draws: latent by latent.
func libraryGradient(t testing.TB, d *graph.Density, q *family.Normal, estimator string, n int, rng *rand.Rand) (gMu, gScale []float64) {
	t.Helper()
	e, err := gradient.Named(estimator)
	require.NoError(t, err)
	w, err := e.Bind(d, q, n)
	require.NoError(t, err)
	w.Locate(q)
	sums := make([]float64, w.Sampler().Sums()) // by μ, then by s
	require.NoError(t, w.Add(sums, rng))
	return sums[:q.Dim()], sums[q.Dim():]
}

// At the golden start, where signs are coins, at the optimum, and far from both.
func TestFloorIsTheLibrary(t *testing.T) {
	long.Skip(t)
	for _, model := range floorModels {
		spec, d := paperSpec(t, model)
		optimum, _, err := models.Optimum(spec.Oracle, spec.ThetaInit)
		require.NoError(t, err)
		wide := append([]float64(nil), optimum...)
		for i := 1; i < len(wide); i += 2 {
			wide[i] += 3
		}
		for place, theta := range map[string][]float64{"start": spec.ThetaInit, "optimum": optimum, "wide": wide} {
			for _, estimator := range floorEstimators {
				for _, loop := range floorLoops(model, spec.Golden.Observations, estimator == "boundary") {
					for _, n := range []int{1, 3, 32} {
						t.Run(fmt.Sprintf("%s/%s/%s/%T/N=%d", model, place, estimator, loop, n), func(t *testing.T) {
							compareFloor(t, d, loop, family.Softplus{}.At(theta), estimator, n)
						})
					}
				}
			}
		}
	}
}

// floorLoops are all loops of a model.
func floorLoops(model string, obs []float64, guards bool) []floorLoop {
	loops := []floorLoop{floorLoopOf(model, obs, guards)}
	if model == "textmsg" {
		loops = append(loops, newTextMsgTermsFloor(guards))
	}
	return loops
}

// compareFloor compares gradients to a relative 1e-9, component by component.
func compareFloor(t *testing.T, d *graph.Density, loop floorLoop, q *family.Normal, estimator string, n int) {
	dim := q.Dim()
	mu, s := make([]float64, dim), make([]float64, dim)
	for i := range mu {
		mu[i], s[i] = q.Mean(i), q.SD(i)
	}
	for round := range uint64(20) {
		stream := func() *rand.Rand { return rand.New(rand.NewPCG(*seed, uint64(n)<<32+round)) }
		row, bySample := make([]float64, dim*n), make([]float64, dim*n)
		parallel.Normals(row, stream())
		for i := range dim {
			for k := range n {
				bySample[k*dim+i] = row[i*n+k]
			}
		}
		wantMu, wantScale := libraryGradient(t, d, q, estimator, n, stream())
		gMu, gScale := make([]float64, dim), make([]float64, dim)
		loop.locate(mu, s)
		loop.add(bySample)
		loop.gradient(gMu, gScale)
		for i := range dim {
			require.InEpsilon(t, wantMu[i], gMu[i], 1e-9, "∂/∂μ[%d]", i)
			require.InEpsilon(t, wantScale[i], gScale[i], 1e-9, "∂/∂s[%d]", i)
		}
	}
}

func TestFloorSoftplus(t *testing.T) {
	for x := -700.0; x < 700; x += 0.37 {
		s, slope := floorSoftplus(x)
		require.InEpsilon(t, max(x, 0)+math.Log1p(math.Exp(-math.Abs(x))), s, 1e-15)
		require.InEpsilon(t, 1/(1+math.Exp(-x)), slope, 1e-15)
	}
}

// The rest of the floor's iteration is the library's, too.
func TestFloorAscendsAsTheLibrary(t *testing.T) {
	g, err := models.LoadGolden("temperature")
	require.NoError(t, err)
	f := newFloor(floorLoopOf("temperature", g.Observations, true), g.ThetaInit, 40)
	adam, theta := Adam{StepSize: 0.01}, append([]float64(nil), g.ThetaInit...)
	for range 50 {
		q := family.Softplus{}.At(theta)
		f.step(0.01)
		grad := make([]float64, len(theta))
		for i := range q.Dim() {
			grad[2*i] = f.gMu[i] / 40
			grad[2*i+1] = (f.gScale[i]/40 + 1/q.SD(i)) / (1 + math.Exp(-theta[2*i+1]))
		}
		adam.Step(theta, grad)
		require.InEpsilonSlice(t, theta, f.theta, 1e-10)
	}
}
