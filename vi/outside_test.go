package vi_test

import (
	"bytes"
	"context"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// A family and an estimator that facet does not have, by what its packages export.

// isotropic are the normals z = μ + s·ε with one scale for all latents. θ is (s, μ), in units of
// s times Step.
type isotropic struct{ Step float64 }

func (isotropic) Name() string      { return "isotropic" }
func (isotropic) StepSize() float64 { return 0.03 }

func (f isotropic) New(p family.Program) (family.Q, error) {
	return &sphere{f, slices.Concat([]float64{1}, make([]float64, p.Dim()))}, nil
}

// A sphere is a member.
type sphere struct {
	family isotropic
	theta  []float64
}

func (q *sphere) s() float64                 { return q.theta[0] }
func (q *sphere) mu() []float64              { return q.theta[1:] }
func (q *sphere) Family() family.Family      { return q.family }
func (q *sphere) Dim() int                   { return len(q.mu()) }
func (q *sphere) Theta() []float64           { return q.theta }
func (q *sphere) Set(theta []float64)        { copy(q.theta, theta) }
func (q *sphere) Correlate(mat.Symmetric)    {}
func (q *sphere) Clone() family.Q            { return &sphere{q.family, slices.Clone(q.theta)} }
func (q *sphere) Mean(i int) float64         { return q.mu()[i] }
func (q *sphere) SD(int) float64             { return q.s() }
func (q *sphere) Drawer(n int) family.Drawer { return newSphereSampler(q, n) }

func (q *sphere) Place(mean, sd []float64) {
	q.theta[0] = floats.Sum(sd) / float64(len(sd))
	copy(q.mu(), mean)
}

func (q *sphere) Param(k int) family.Param {
	if k == 0 {
		return family.Param{Latent: -1, Symbol: "s", On: -1}
	}
	return family.Param{Latent: k - 1, Symbol: "μ", On: -1}
}

func (q *sphere) Fault() int {
	if !(q.s() > 0) {
		return 0
	}
	return slices.IndexFunc(q.theta, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

func (q *sphere) Units(dst []float64) {
	for k := range dst {
		dst[k] = q.s() * q.family.Step
	}
}

func (q *sphere) Move(step []float64) {
	floats.AddScaled(q.mu(), q.s()*q.family.Step, step[1:])
	q.theta[0] *= math.Exp(q.family.Step * step[0])
}

func (q *sphere) Law(h regions.Hyperplane) family.Law {
	return family.Law{{Weight: 1, Mean: h.At(q.mu()), SD: q.s() * floats.Norm(h.Coef, 2), Lo: math.Inf(-1), Hi: math.Inf(1)}}
}

func (q *sphere) MoverTo(regions.Hyperplane, bool) family.Mover { return nil }

func (q *sphere) LogProb(z []float64) float64 {
	d := floats.Distance(z, q.mu(), 2) / q.s()
	return -0.5*d*d - float64(len(z))*(math.Log(q.s())+0.5*math.Log(2*math.Pi))
}

func (q *sphere) Rand(dst []float64, rng *rand.Rand) {
	for i, m := range q.mu() {
		dst[i] = m + q.s()*rng.NormFloat64()
	}
}

// A sphereSampler has the sums of θ.
type sphereSampler struct {
	q   *sphere
	n   int
	eps []float64
}

func newSphereSampler(q *sphere, n int) *sphereSampler {
	return &sphereSampler{q.Clone().(*sphere), n, make([]float64, n*q.Dim())}
}

func (s *sphereSampler) Locate(q family.Q) { s.q.Set(q.Theta()) }
func (s *sphereSampler) Sums() int         { return len(s.q.theta) }

func (s *sphereSampler) Draw(z []float64, rng *rand.Rand) {
	for k := range s.eps {
		s.eps[k] = rng.NormFloat64()
		z[k] = s.q.mu()[k/s.n] + s.q.s()*s.eps[k]
	}
}

func (s *sphereSampler) SubLogQ(dst []float64) {
	floats.AddConst(float64(s.q.Dim())*(math.Log(s.q.s())+0.5*math.Log(2*math.Pi)), dst)
	for k, e := range s.eps {
		dst[k%s.n] += 0.5 * e * e
	}
}

func (s *sphereSampler) AddPath(sums, grad []float64) {
	floats.AddScaled(grad, 1/s.q.s(), s.eps)
	s.Pull(sums, grad)
}

func (s *sphereSampler) Pull(sums, field []float64) {
	for k, v := range field {
		sums[0] += v * s.eps[k]
		sums[1+k/s.n] += v
	}
}

func (s *sphereSampler) AddScore(sums, weight []float64) {
	for k, e := range s.eps {
		sums[0] += weight[k%s.n] * (e*e - 1) / s.q.s()
		sums[1+k/s.n] += weight[k%s.n] * e / s.q.s()
	}
}

func (s *sphereSampler) Finish(dst, sums []float64, n int) { floats.ScaleTo(dst, 1/float64(n), sums) }

func (s *sphereSampler) Reach() boundary.Reach { return boundary.OnPlane }

func (s *sphereSampler) Surface(pieces []boundary.Piece, at [][]int) family.Surface {
	f := &sphereSurface{s: s, w: make([]float64, len(pieces)), t: make([]float64, len(pieces))}
	for k, p := range pieces {
		f.planes = append(f.planes, p.Hyperplane)
		f.at, f.along = append(f.at, at[k]), append(f.along, make([]float64, len(at[k])))
	}
	return f
}

// A sphereSurface moves samples along the normal a of a plane, onto which all have a·ε = t. A
// curve is not reached.
type sphereSurface struct {
	s      *sphereSampler
	planes []regions.Hyperplane
	at     [][]int
	along  [][]float64
	w, t   []float64
}

func (f *sphereSurface) Locate() {
	q := f.s.q
	for k, h := range f.planes {
		norm := floats.Norm(h.Coef, 2)
		f.t[k] = -h.At(q.mu()) / q.s()
		f.w[k] = math.Exp(-0.5*f.t[k]*f.t[k]/(norm*norm)) / math.Sqrt(2*math.Pi) / (q.s() * norm)
		for j, i := range f.at[k] {
			if l := slices.Index(h.Index, i); l >= 0 {
				f.along[k][j] = h.Coef[l] / (norm * norm)
			}
		}
	}
}

func (f *sphereSurface) Along(k int) []float64       { return f.along[k] }
func (f *sphereSurface) Density(k int) float64       { return f.w[k] }
func (f *sphereSurface) Reached(k int) bool          { return f.w[k] > 0 }
func (f *sphereSurface) Each(int) bool               { return false }
func (f *sphereSurface) Clear(sums []float64, _ int) { clear(sums) }
func (f *sphereSurface) Seeds() bool                 { return false }

func (f *sphereSurface) Params(int) (all []int) {
	for k := range f.s.q.theta {
		all = append(all, k)
	}
	return all
}

func (f *sphereSurface) AddSums(sums []float64, first int, jumps []float64) {
	for k, jump := range jumps {
		h, w := f.planes[first+k], f.w[first+k]
		sums[0] += w * jump * f.t[first+k]
		for l, i := range h.Index {
			sums[1+i] += w * jump * h.Coef[l]
		}
	}
}

func (f *sphereSurface) Add(sums, _ []float64, k int, _, jumps []float64) {
	f.AddSums(sums, k, []float64{floats.Sum(jumps)})
}

// A baseline is the score estimator with a share of the other samples' mean weight taken off.
type baseline struct{ Share float64 }

func (baseline) Name() string { return "baseline" }

func (b baseline) Bind(d *graph.Density, q family.Q, n int) (gradient.Worker, error) {
	x, err := d.Executor(n, graph.Compute{Out: true})
	if err != nil {
		return nil, err
	}
	s, err := family.Bind(q, n)
	return &baselineWorker{b, d, x, s}, err
}

type baselineWorker struct {
	baseline
	d *graph.Density
	x *graph.Executor
	s family.Sampler
}

func (w *baselineWorker) Sampler() family.Sampler { return w.s }
func (w *baselineWorker) Locate(q family.Q)       { w.s.Locate(q) }

func (w *baselineWorker) Add(sums []float64, rng *rand.Rand) error {
	w.s.Draw(w.x.Z, rng)
	w.d.Arrangement().SignBatch(w.x.Signs, w.x.Z, w.x.N)
	if err := w.x.Run(); err != nil {
		return err
	}
	weight, n := w.x.Out, float64(w.x.N)
	w.s.SubLogQ(weight)
	sum := floats.Sum(weight)
	for k, v := range weight {
		weight[k] = v - w.Share*(sum-v)/max(1, n-1)
	}
	w.s.AddScore(sums, weight)
	return nil
}

// crossing are three latents with guards across them.
func crossing(t testing.TB) *graph.Density {
	m := graph.NewModel()
	a, b, c := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0.3, 1.2)), m.Sample("c", graph.Normal(-0.2, 0.9))
	m.Factor(graph.If(graph.Greater(graph.Add(a, b), 0.4), graph.Mul(1.5, c), -1))
	m.Factor(graph.If(graph.Greater(c, graph.Mul(0.5, a)), 2, b))
	m.Observe("y", graph.Normal(graph.Add(graph.Add(a, b), c), 2), 1)
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// What is written outside is unbiased: all its estimates of the gradient agree, and that
// without the boundary is rejected.
func TestOutsideGradients(t *testing.T) {
	d := crossing(t)
	q, err := isotropic{1}.New(d)
	require.NoError(t, err)
	q.Set([]float64{0.7, 0.2, -0.1, 0.3})
	estimate := func(e gradient.Estimator) check.GradientStats {
		g, err := check.Gradient(d, q, e, check.GradientSettings{Draws: 40000, Samples: 16, Seed: 1})
		require.NoError(t, err)
		return g
	}
	want := estimate(gradient.Boundary{})
	for _, e := range []gradient.Estimator{gradient.SingleGuard(), gradient.Score{}, baseline{0.9}, gradient.Reparam{}} {
		got, worst := estimate(e), 0.0
		for k, g := range got.Mean {
			se := math.Hypot(want.SE[k], got.SE[k])
			require.Less(t, 5*se, 0.2, "inconclusive")
			worst = max(worst, math.Abs(g-want.Mean[k])/se)
		}
		if _, biased := e.(gradient.Reparam); biased {
			require.Greater(t, worst, 5., "%s must be rejected", e.Name())
			continue
		}
		require.Less(t, worst, 5., e.Name())
	}
}

// A fit by them starts by itself, stops by itself, and can be asked what others can. It is saved,
// loaded and resumed bit for bit, alone and as one of many.
func TestOutsideFits(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	d := crossing(t)
	for k, climb := range []vi.Climb{
		{Family: isotropic{1}, Stop: vi.Automatic, Steps: 2000, Restarts: 2},
		{Family: isotropic{2}, Estimator: baseline{0.9}, Steps: 150},
		{Family: family.LowRank{Rank: 1}, Estimator: baseline{0.5}, Steps: 100},
	} {
		climb.StartDraws = 50
		s := vi.Settings{Seed: uint64(1 + k), Method: climb}
		want, err := vi.Fit(context.Background(), d, s)
		require.NoError(t, err)
		require.Equal(t, climb.Family, want.Q.Family())
		require.NotEmpty(t, want.Summary().String())
		sides, err := want.Sides()
		require.NoError(t, err)
		require.Len(t, sides, 2)
		_, err = want.Verdict()
		require.NoError(t, err)

		watched := climb
		watched.OnStep = func(step vi.Step) error {
			if step.T == 60 {
				return io.EOF
			}
			return nil
		}
		s.Method = watched
		half, err := vi.Fit(context.Background(), d, s)
		require.ErrorIs(t, err, io.EOF)
		var file bytes.Buffer
		require.NoError(t, half.Save(&file))
		_, err = vi.Load(bytes.NewReader(file.Bytes()), d)
		require.Error(t, err, "facet has not all of %v", s)
		loaded, err := vi.Load(bytes.NewReader(file.Bytes()), d, isotropic{}, baseline{})
		require.NoError(t, err)
		require.Equal(t, climb.Family, loaded.Settings.Method.(vi.Climb).Family)
		got, err := loaded.Resume(context.Background())
		require.NoError(t, err)
		require.Equal(t, want.Steps, got.Steps)
		require.Equal(t, want.Q.Theta(), got.Q.Theta())

		s.Method, s.Checkpoint = climb, t.TempDir()
		var thetas [2][]float64
		for round := range thetas { // fitted, and read from the folder
			for x := range vi.FitAll(context.Background(), d, one(), s) {
				require.NoError(t, x.Err)
				require.Equal(t, climb.Family, x.Fit.Q.Family())
				thetas[round] = slices.Clone(x.Fit.Q.Theta())
			}
		}
		require.Equal(t, thetas[0], thetas[1])
	}
}

// one is the data of crossing, as one of many data sets.
func one() iter.Seq2[string, map[string][]float64] {
	return func(yield func(string, map[string][]float64) bool) { yield("one", map[string][]float64{"y": {1}}) }
}
