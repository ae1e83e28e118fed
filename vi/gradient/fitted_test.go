package gradient_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

// paperModels are those of package models.
var paperModels = []string{"proposition", "textmsg", "influenza", "temperature"}

// fittedAt are the iterates of a climb from the priors: late, or early if tests are to be
// short, or both with -tags long. The climb is Adam's in units of the family, as vi's is. With vi
// itself all packages that it is made of would be compiled anew for these tests.
func fittedAt(t testing.TB, d *graph.Density, f family.Family) (at []family.Q) {
	t.Helper()
	const early = 1000
	late := 3 * early
	if testing.Short() {
		late = early
	}
	q, err := f.New(d)
	require.NoError(t, err)
	q.Place(d.PriorStart())
	r, err := gradient.NewRunner(d, q, gradient.Boundary{}, 16, 1)
	require.NoError(t, err)
	n := len(q.Theta())
	unit, mean, square, step := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for k := 1; k <= late; k++ {
		g, err := r.Estimate(q)
		require.NoError(t, err)
		q.Units(unit)
		left1, left2 := 1-math.Pow(0.9, float64(k)), 1-math.Pow(0.999, float64(k))
		for i := range g {
			x := g[i] * unit[i]
			mean[i] += 0.1 * (x - mean[i])
			square[i] += 0.001 * (x*x - square[i])
			step[i] = f.StepSize() * mean[i] / left1 / (math.Sqrt(square[i]/left2) + 1e-8)
		}
		q.Move(step)
		if k == early && long.On() || k == late {
			at = append(at, q.Clone())
		}
	}
	return at
}

// boundaryPart is the mean of the boundary part of e from n samples, and its
// standard error.
func boundaryPart(t testing.TB, d *graph.Density, q family.Q, e gradient.Boundary, n int) (mean, se []float64) {
	t.Helper()
	const batch, chunks = 128, 16
	params := len(q.Theta())
	parts := make([][]mc.Moments, chunks)
	require.NoError(t, parallel.Do(parallel.Processors(chunks), chunks, func(_, c int) error {
		parts[c] = make([]mc.Moments, params)
		p, err := gradient.BindParts(d, q, batch, e)
		if err != nil {
			return err
		}
		rng, sums, g := rand.New(parallel.Stream(*gradient.Seed, c)), make([]float64, p.Sampler().Sums()), make([]float64, params)
		for range n / batch / chunks {
			if err := p.Run(rng); err != nil {
				return err
			}
			clear(sums)
			p.AddBoundary(sums)
			p.FinishPart(g, sums, batch)
			for k, x := range g {
				parts[c][k].Add(x)
			}
		}
		return nil
	}))
	for k := range params {
		for c := 1; c < chunks; c++ {
			parts[0][k].Merge(parts[c][k])
		}
		mean, se = append(mean, parts[0][k].Mean), append(se, parts[0][k].SE())
	}
	return mean, se
}

// At fitted members of every family, on each of the paper's models, the
// gradient is that of the exact ELBO in every component, and that of
// reparameterization is not. The oracle is the closed form of paperTerms, not
// differences of sampled ELBOs: at a fit a cliff of 5·10⁵ nats has a probability of
// 10⁻⁶, which common draws do not see.
//
// Nor do the estimators' own draws. What rare sides bring to the part inside the
// regions is known exactly, and may be missing from the mean. The boundary part
// knows cliffs from the guards: it is also compared by itself, to a twentieth of its
// norm. Elimination, the way of latents that have parents, misses some of it too, where its weights are thin. Its bound is a
// quarter, and it has none where thin gates bring a twentieth or more: their noise
// is as heavy-tailed as their weights.
func TestFittedGradient(t *testing.T) {
	t.Parallel()
	for _, name := range paperModels {
		_, d := vitest.Paper(t, name)
		for _, kind := range slices.Sorted(maps.Keys(everyFamily(d.Dim()))) {
			if !long.On() && (d.Dim() > 3 || kind != "mean field" && kind != "full rank") {
				continue
			}
			t.Run(name+", "+kind, func(t *testing.T) {
				f := everyFamily(d.Dim())[kind]
				o := normalOracle{paperTerms(t, name), f, d.Parents()}
				n := 1 << 14
				if name == "textmsg" && long.On() {
					n *= 4 // early its noise is large beside the boundary part
				}
				for k, q := range fittedAt(t, d, f) {
					t.Run(fmt.Sprint("at ", k), func(t *testing.T) { checkFitted(t, d, q, o, n) })
				}
			})
		}
	}
}

func checkFitted(t *testing.T, d *graph.Density, q family.Q, o normalOracle, n int) {
	theta := q.Theta()
	inside, bou := o.gradient(theta)
	want := make([]float64, len(theta))
	floats.AddTo(want, inside, bou)
	unseen, thin := o.unseen(theta, 100/float64(n)), o.thin(theta, float64(n))
	unit := parameterScales(o.family, o.parents, theta)
	norm := size(bou, unit)
	report := fmt.Sprintf("ELBO %.3f, boundary part %.2f, unseen %.2g, thin %.2g", o.elbo(theta), norm, size(unseen, unit), size(thin, unit))

	whole := judge{want: want, missing: [][]float64{unseen}, unit: unit, accuracy: 1e-5 * norm}
	part := judge{want: bou, unit: unit, accuracy: 1e-5 * norm, detect: 0.05 * norm}
	samples := n
	if o.eliminates() {
		whole.missing, part.missing = append(whole.missing, thin), [][]float64{thin}
		part.detect = 0.25 * norm
		if size(thin, unit) > 0.05*norm {
			part.detect = 0
		}
		samples *= 5 // its weights are uneven
	}
	s := sampled(t, d, q, gradient.Boundary{}, samples)
	z := whole.largest(t, "boundary", s.Mean, s.SE)
	require.Less(t, z, 5.0)
	mean, se := boundaryPart(t, d, q, gradient.Boundary{}, samples)
	zPart := part.largest(t, "boundary part", mean, se)
	require.Less(t, zPart, 5.0, "boundary part")
	report += fmt.Sprintf("; |z| ≤ %.2f, %.2f of the part", z, zPart)

	s = sampled(t, d, q, gradient.Reparam{}, n)
	whole.missing = [][]float64{unseen}
	rejected := whole.largest(t, "reparam", s.Mean, s.SE)
	require.Greater(t, rejected, 5.0, "reparameterization alone must be rejected")
	whole.want = inside
	require.Less(t, whole.largest(t, "reparam", s.Mean, s.SE), 5.0, "reparameterization is the part inside the regions")
	t.Logf("%s; reparameterization rejected at %.0f", report, rejected)
}
