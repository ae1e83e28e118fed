package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/regions"
)

func TestMain(m *testing.M) { long.Main(m) }

// fataler is what the helpers need of a test, plain or of rapid.
type fataler interface {
	require.TestingT
	Helper()
	Fatalf(format string, args ...any)
}

func mustCompile(t fataler, m *graph.Model) *graph.Density {
	t.Helper()
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// skipShort skips a test of numbers that has one goroutine and takes seconds.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds, and has no goroutines of its own for the race detector, for which short mode is")
	}
}

// close12 requires equality to 1e-12, relative where the numbers exceed 1.
func close12(t fataler, want, got float64, what ...any) {
	t.Helper()
	closeTo(t, want, got, 1e-12, what...)
}

func closeTo(t fataler, want, got, tol float64, what ...any) {
	t.Helper()
	if math.Abs(want-got) <= tol*math.Max(1, math.Abs(want)) || want == got || math.IsNaN(want) && math.IsNaN(got) {
		return
	}
	t.Fatalf("got %.17g, want %.17g (off by %.2g); %v", got, want, got-want, what)
}

// central is the derivative of f at x by central differences of fourth order.
// trust is false where two step lengths disagree: at a kink, or where f bends
// too sharply for this oracle.
func central(f func(float64) float64, x float64) (slope float64, trust bool) {
	at := func(h float64) float64 { return (8*(f(x+h)-f(x-h)) - (f(x+2*h) - f(x-2*h))) / (12 * h) }
	h := 2e-3 * math.Max(1, math.Abs(x)*1e-2)
	slope = at(h / 2)
	return slope, math.Abs(slope-at(h)) <= 1e-7*math.Max(1, math.Abs(slope))
}

// partial is central along coordinate i.
func partial(f func(z []float64) float64, z []float64, i int) (float64, bool) {
	y := append([]float64(nil), z...)
	return central(func(x float64) float64 { y[i] = x; return f(y) }, z[i])
}

// both runs d at z, with signs s, on the plan and on Gorgonia's TapeMachine.
func both(t fataler, d *graph.Density, z []float64, s regions.Signs) map[string]*graph.Executor {
	t.Helper()
	runs := map[string]*graph.Executor{}
	for name, tape := range map[string]bool{"plan": false, "tape": true} {
		x, err := d.Executor(1, graph.Compute{Out: true, Grad: true, Tape: tape})
		require.NoError(t, err)
		copy(x.Z, z)
		s.Floats(x.Signs)
		require.NoError(t, x.Run())
		runs[name] = x
	}
	return runs
}

func logProb(t fataler, d *graph.Density, z ...float64) float64 {
	t.Helper()
	v, err := d.LogProb(z)
	require.NoError(t, err)
	return v
}

func gradient(t fataler, d *graph.Density, z ...float64) []float64 {
	t.Helper()
	g, err := d.GradAt(z, d.Arrangement().Signs(z))
	require.NoError(t, err)
	return g
}

// signVectors calls visit with every sign vector of the arrangement of d.
func signVectors(d *graph.Density, visit func(s regions.Signs)) {
	positive := make([]bool, d.Arrangement().Len())
	for bits := range 1 << len(positive) {
		for l := range positive {
			positive[l] = bits>>l&1 == 1
		}
		visit(regions.NewSigns(positive))
	}
}

func sigmoid(x float64) float64 {
	if x < 0 {
		return math.Exp(x) / (1 + math.Exp(x))
	}
	return 1 / (1 + math.Exp(-x))
}

// logSigmoid is log(sigmoid(x)), to rounding.
func logSigmoid(x float64) float64 {
	if x < 0 {
		return x - math.Log1p(math.Exp(x))
	}
	return -math.Log1p(math.Exp(-x))
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

func logNormalPDF(x, mu, sigma float64) float64 {
	r := (x - mu) / sigma
	return -0.5*r*r - math.Log(sigma) - 0.5*math.Log(2*math.Pi)
}

var _ fataler = (*testing.T)(nil)
