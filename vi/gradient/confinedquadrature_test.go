package gradient_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// A confinedProblem is a program with its log r in plain Go, and a confined family.
type confinedProblem struct {
	model   func() *graph.Model
	logProb func(z []float64) float64
	guards  []regions.Hyperplane // of the program
	sides   map[int]bool         // of guards that are confined
	parents [][]int
	theta   []float64
}

// affine is a·z + c.
func affine(c float64, a ...float64) (h regions.Hyperplane) {
	h.Const = c
	for i, x := range a {
		if x != 0 {
			h.Index, h.Coef = append(h.Index, i), append(h.Coef, x)
		}
	}
	return h
}

func confinedProblems() map[string]confinedProblem {
	two := confinedProblem{
		model: bent, logProb: func(z []float64) float64 { return bentLogProb(z[0], z[1]) }, parents: [][]int{{}, {0}},
		guards: []regions.Hyperplane{affine(-0.4, 1, 2), affine(0.3, 0.5, -1), affine(0.5, 1)},
		theta:  []float64{0.1, 0.8, 0.2, 0.6, 0.5},
	}
	three := confinedProblem{
		model: nested, logProb: func(z []float64) float64 { return nestedLogProb(z[0], z[1], z[2]) }, parents: [][]int{{}, {0}, {0, 1}},
		theta: []float64{0.2, 0.8, -0.1, 1.1, 0.3, 0.6, 0.4, -0.5, 0.3},
	}
	for _, g := range nestedGuards {
		three.guards = append(three.guards, affine(g.c, g.a[:]...))
	}
	with := func(p confinedProblem, sides map[int]bool) confinedProblem {
		p.sides = sides
		return p
	}
	mixed := confinedProblem{
		model: switched, logProb: switchedLogProb, parents: [][]int{{}, {0}, {}},
		guards: switchedGuards, theta: []float64{0.1, 0.8, 0.2, 0.7, 0.4, 0.6, 0.5},
	}
	return map[string]confinedProblem{
		"a switch and a soft guard":   with(mixed, map[int]bool{0: true}),
		"first of two, on its axis":   with(two, map[int]bool{2: true}),
		"last of two, slanted":        with(two, map[int]bool{1: true}),
		"middle of three, slanted":    with(three, map[int]bool{1: false}),
		"first and last of three":     with(three, map[int]bool{2: true, 4: false}),
		"last of three, two ceilings": with(three, map[int]bool{0: true, 3: true}),
	}
}

// switchedGuards are the guards of switched: the first one for a cliff, a slanted one, and two
// on the third latent, a switch.
var switchedGuards = []regions.Hyperplane{affine(0.6, 1), affine(0.3, 0.5, -1), affine(-0.4, 0, 0, 1), affine(0.5, 0, 0, 1)}

// switched has a latent with a cliff, one with a soft guard, and a switch, which is used in its
// prior and in guards on it alone.
func switched() *graph.Model {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(graph.Mul(0.5, x), 1))
	w := m.Sample("w", graph.Normal(0.2, 0.9))
	cliff := graph.Greater(x, -0.6)
	slanted := graph.Greater(graph.Add(graph.Sub(graph.Mul(0.5, x), y), 0.3), 0)
	m.Factor(graph.If(cliff, 0, -40))
	m.Observe("a", graph.Normal(graph.If(slanted, x, graph.Add(y, 1)), 0.8), 0.7)
	m.Observe("b", graph.Normal(graph.If(graph.Greater(w, 0.4), x, -1), 1), 0.9)
	m.Observe("c", graph.Normal(graph.If(graph.Greater(w, -0.5), y, 1.5), 1), -0.3)
	return m
}

func switchedLogProb(z []float64) float64 {
	normal := func(x, m, s float64) float64 {
		return -0.5*math.Log(2*math.Pi) - math.Log(s) - 0.5*(x-m)*(x-m)/(s*s)
	}
	x, y, w := z[0], z[1], z[2]
	sum := normal(x, 0, 1) + normal(y, 0.5*x, 1) + normal(w, 0.2, 0.9)
	if x <= -0.6 {
		sum -= 40
	}
	a, b, c := y+1, -1.0, 1.5
	if 0.5*x-y+0.3 > 0 {
		a = x
	}
	if w > 0.4 {
		b = x
	}
	if w > -0.5 {
		c = y
	}
	return sum + normal(0.7, a, 0.8) + normal(0.9, b, 1) + normal(-0.3, c, 1)
}

// The third latent of switched is a switch.
func TestSwitched(t *testing.T) {
	switches := vitest.Compile(t, switched()).Engine().Switches()
	require.Len(t, switches, 1)
	require.Equal(t, 2, switches[0].Latent)
	require.Len(t, switches[0].Planes, 2)
}

// A grid are the nodes of a quadrature over all latents, from guard to guard, where q
// has mass.
type grid struct {
	z       [][]float64
	w, logR []float64
}

func (p confinedProblem) grid(width float64) (g grid) {
	z := make([]float64, len(p.parents))
	var along func(i, edge int, w float64)
	along = func(i, edge int, w float64) {
		if i == len(z) {
			g.z, g.w, g.logR = append(g.z, slices.Clone(z)), append(g.w, w), append(g.logR, p.logProb(z))
			return
		}
		m, s := p.theta[2*i], p.theta[2*i+1]
		for k, j := range p.parents[i] {
			m += p.theta[2*len(z)+edge+k] * (z[j] - p.theta[2*j])
		}
		const reach = 6.5
		lo, hi := math.Inf(-1), math.Inf(1)
		var cuts []float64
		for l, h := range p.guards {
			last := len(h.Index) - 1
			if h.Index[last] != i {
				continue
			}
			z[i] = 0
			cut, a := -h.At(z)/h.Coef[last], h.Coef[last]
			switch positive, confined := p.sides[l]; {
			case !confined:
				cuts = append(cuts, cut)
			case positive == (a > 0):
				lo = max(lo, cut)
			default:
				hi = min(hi, cut)
			}
		}
		lo, hi = max(lo, min(m, hi)-reach*s), min(hi, max(m, lo)+reach*s)
		edges := []float64{lo, hi}
		for x := lo + width*s; x < hi; x += width * s {
			edges = append(edges, x)
		}
		for _, c := range cuts {
			edges = append(edges, min(max(c, lo), hi))
		}
		slices.Sort(edges)
		for k := 1; k < len(edges); k++ {
			half, mid := 0.5*(edges[k]-edges[k-1]), 0.5*(edges[k]+edges[k-1])
			for n, node := range legendreNodes {
				z[i] = mid + half*node
				along(i+1, edge+len(p.parents[i]), w*half*legendreWeights[n])
			}
		}
	}
	along(0, 0, 1)
	return g
}

// elbo is ∫ q·(log r − log q).
func (g grid) elbo(q family.Q) (sum float64) {
	for k, z := range g.z {
		log := q.LogProb(z)
		if w := g.w[k] * math.Exp(log); w > 0 {
			sum += w * (g.logR[k] - log)
		}
	}
	return sum
}

// gradient is that of elbo, by central differences.
func (g grid) gradient(q family.Q) []float64 {
	theta := slices.Clone(q.Theta())
	out := make([]float64, len(theta))
	for k := range theta {
		const h = 1e-4
		at := func(by float64) float64 {
			to := slices.Clone(theta)
			to[k] += by
			c := q.Clone()
			c.Set(to)
			return g.elbo(c)
		}
		out[k] = (at(h) - at(-h)) / (2 * h)
	}
	return out
}

// The gradient of a confined family is that of the ELBO by quadrature, with soft
// guards on confined latents, before and after them; reparameterization alone is not.
func TestConfinedGradient(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	problems := confinedProblems()
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		p := problems[name]
		t.Run(name, func(t *testing.T) {
			d := vitest.Compile(t, p.model())
			var sides []family.Side
			for _, l := range slices.Sorted(maps.Keys(p.sides)) {
				sides = append(sides, family.Side{Hyperplane: p.guards[l], Positive: p.sides[l]})
			}
			q, soft, err := family.Sequential(p.parents).Confine(sides)
			require.NoError(t, err)
			require.Empty(t, soft)
			q.Set(p.theta)
			width, accuracy := 0.15, 1e-4
			if len(p.parents) == 3 {
				width, accuracy = 0.9, 2e-3
			}
			fine, coarse := p.grid(width), p.grid(1.6*width)
			elbo, want := fine.elbo(q), fine.gradient(q)
			require.InDelta(t, coarse.elbo(q), elbo, accuracy, "the quadrature has not converged")
			require.InDeltaSlice(t, coarse.gradient(q), want, accuracy, "the quadrature has not converged")

			e, err := check.ELBO(d, q, 200000, *gradient.Seed)
			require.NoError(t, err)
			require.Less(t, math.Abs(e.Value-elbo), 5*e.SE+accuracy)

			n := vitest.Draws(1 << 18)
			j := judge{want: want, unit: slices.Repeat([]float64{1}, len(want)), detect: vitest.Precision(0.06) * floats.Norm(want, 2), accuracy: accuracy}
			s := sampled(t, d, q, gradient.Boundary{}, n)
			z := j.largest(t, "boundary", s.Mean, s.SE)
			require.Less(t, z, 5.0)
			s = sampled(t, d, q, gradient.Reparam{}, n)
			rejected := j.largest(t, "reparam", s.Mean, s.SE)
			require.Greater(t, rejected, 5.0, "reparameterization alone must be rejected")
			j.detect = 0
			s = sampled(t, d, q, gradient.Score{}, n)
			score := j.largest(t, "score", s.Mean, s.SE)
			require.Less(t, score, 5.0, "score")
			t.Logf("ELBO %.4f, |z| ≤ %.2f, score %.2f; reparameterization rejected at %.0f", elbo, z, score, rejected)
		})
	}
}

// A normal beyond a cliff is fitted exactly: with the posterior's parameters each
// sample's log r − log q is the log evidence, and each sample's gradient 0.
func TestConfinedIsExact(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	m.Factor(graph.If(graph.Greater(x, 1), 0, -800))
	d := vitest.Compile(t, m)
	q, _, err := family.Sequential([][]int{nil}).Confine([]family.Side{{Hyperplane: affine(-1, 1), Positive: true}})
	require.NoError(t, err)
	evidence := math.Log(0.5 * math.Erfc(1/math.Sqrt2))
	e, err := check.ELBO(d, q, 10000, 1)
	require.NoError(t, err)
	require.InDelta(t, evidence, e.Value, 1e-14)
	require.Less(t, e.SE, 1e-15)
	for _, estimator := range []gradient.Estimator{gradient.Boundary{}, gradient.Reparam{}} {
		s := sampled(t, d, q, estimator, 1<<12)
		for k, g := range s.Mean {
			require.InDelta(t, 0, g, 1e-14)
			require.InDelta(t, 0, s.SE[k], 1e-14)
		}
	}
	require.InDelta(t, math.Exp(-0.5)/math.Sqrt(2*math.Pi)/math.Exp(evidence), q.Mean(0), 1e-13)
}
