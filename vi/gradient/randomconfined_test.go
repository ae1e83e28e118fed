//go:build long

package gradient_test

import (
	"flag"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/programs"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// A randomConfined is a random program of one or two latents with a random confined family:
// its sides are slanted planes, which need not be guards.
type randomConfined struct {
	p     *programs.Program
	sides []family.Side
	theta []float64 // μ and s by latent, and the second one's coefficient
}

// line are the panels along latent i, the last of z: between the sides, to where q has mass, cut
// where decisions of the program change.
func (r randomConfined) line(z []float64, i int, width float64, cuts []float64) (edges []float64) {
	m, s := r.theta[2*i], r.theta[2*i+1]
	if i == 1 {
		m += r.theta[4] * (z[0] - r.theta[0])
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	for _, side := range r.sides {
		last := len(side.Index) - 1
		if side.Index[last] != i {
			continue
		}
		z[i] = 0
		if cut := -side.At(z) / side.Coef[last]; side.Positive == (side.Coef[last] > 0) {
			lo = max(lo, cut)
		} else {
			hi = min(hi, cut)
		}
	}
	for step := 1.0; step > 0.01; step /= 2 { // beyond a bound far out q falls off within a part of s
		cuts = append(cuts, lo+step*s, hi-step*s)
	}
	const reach = 6
	lo, hi = max(lo, min(m, hi)-reach*s), min(hi, max(m, lo)+reach*s)
	for x := lo; x < hi; x += width * s {
		edges = append(edges, x)
	}
	edges = append(edges, hi)
	for _, c := range cuts {
		if c > lo && c < hi {
			edges = append(edges, c)
		}
	}
	if i == len(z)-1 {
		from, to := slices.Clone(z), slices.Clone(z)
		from[i], to[i] = lo, hi
		for _, c := range r.p.CrossingsWithin(from, to, 24, 1e-7) {
			edges = append(edges, c.At[i])
		}
	}
	slices.Sort(edges)
	return edges
}

// firstCuts are where decisions change along the first of two latents, wherever the second one is.
func (r randomConfined) firstCuts(dim int) (cuts []float64) {
	if dim == 1 {
		return nil
	}
	for _, second := range []float64{-1.3, 0.2, 1.9} {
		for _, c := range r.p.Crossings([]float64{-12, second}, []float64{12, second}, 128) {
			cuts = append(cuts, c.At[0])
		}
	}
	return cuts
}

// grid are nodes for q.
func (r randomConfined) grid(dim int, width float64) (g grid) {
	z := make([]float64, dim)
	cuts := r.firstCuts(dim)
	var along func(i int, w float64)
	along = func(i int, w float64) {
		if i == dim {
			at := slices.Clone(z)
			g.z, g.w, g.logR = append(g.z, at), append(g.w, w), append(g.logR, r.p.Run(at).LogProb)
			return
		}
		step, of := width, cuts
		if i == dim-1 {
			step, of = 2*width, nil
		}
		edges := r.line(z, i, step, of)
		for k := 1; k < len(edges); k++ {
			half, mid := 0.5*(edges[k]-edges[k-1]), 0.5*(edges[k]+edges[k-1])
			for n, node := range sixNodes {
				z[i] = mid + half*node
				along(i+1, w*half*sixWeights[n])
			}
		}
	}
	along(0, 1)
	return g
}

var sixNodes, sixWeights = func() (x, w []float64) {
	x, w = make([]float64, 6), make([]float64, 6)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}()

// The gradient of random programs, of all that the language has, with confined families is
// that of the ELBO by quadrature of the interpreter's log r, which knows no guards: with curves,
// kinks, branches, step networks and discrete latents. Reparameterization alone is rejected.
func TestRandomConfinedGradient(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	worst := 0.0
	checks, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	require.NoError(t, err)
	most := checks/long.Few(20, 10) + 1
	rapid.Check(t, func(t *rapid.T) {
		p, d, rng := programs.Compiled(t, programs.Limits{Most: 2, Depth: 1, NoParams: true})
		dim := d.Dim()
		curves := 0
		for l := range d.Arrangement().Len() {
			if d.Arrangement().Curve(l) != nil {
				curves++
			}
		}
		if dim > 2 || counts["programs"] == most || curves == 0 && rng.IntN(3) > 0 {
			return // an integral takes a second
		}
		counts["programs"]++
		counts["curves"] += curves
		r := randomConfined{p: p}
		for range dim {
			r.theta = append(r.theta, 0.5*rng.NormFloat64(), 0.5+0.5*rng.Float64())
		}
		parents := [][]int{nil, {0}}[:dim]
		if dim == 2 {
			r.theta = append(r.theta, 0.7*rng.NormFloat64())
		}
		h := regions.Hyperplane{Const: 0.5 * rng.NormFloat64()}
		for i := range dim {
			h.Index, h.Coef = append(h.Index, i), append(h.Coef, (0.4+rng.ExpFloat64())*float64(1-2*rng.IntN(2)))
		}
		r.sides = []family.Side{{Hyperplane: h, Positive: rng.IntN(2) == 0}}
		if rng.IntN(2) == 0 && dim == 2 {
			r.sides = append(r.sides, family.Side{Hyperplane: affine(rng.NormFloat64(), 1), Positive: rng.IntN(2) == 0})
		}
		q, soft, err := family.Sequential(parents).Confine(r.sides)
		require.NoError(t, err)
		require.Empty(t, soft)
		q.Set(r.theta)
		fine, coarse := r.grid(dim, 0.7), r.grid(dim, 1.2)
		want, near := fine.gradient(q), coarse.gradient(q)
		size := 1 + floats.Norm(want, 2)
		accuracy := 2 * floats.Distance(want, near, math.Inf(1))
		if !(accuracy < 0.02*size) {
			counts["without quadrature"]++
			return
		}
		far := func(e gradient.Estimator) (most float64) {
			s := sampled(t, d, q, e, 1<<15)
			for k, x := range want {
				if off := math.Abs(s.Mean[k] - x); off > accuracy+1e-9*size {
					most = max(most, (off-accuracy)/s.SE[k])
				}
			}
			return most
		}
		z := far(gradient.Boundary{})
		worst = max(worst, z)
		require.Less(t, z, 5.0, "%v", want)
		if far(gradient.Reparam{}) > 5 {
			counts["reparameterization rejected"]++
		}
	})
	t.Logf("|z| ≤ %.2f, %v", worst, counts)
	require.Less(t, 8*counts["without quadrature"], counts["programs"])
	require.Positive(t, counts["reparameterization rejected"], "the test sees nothing") // more than half of the programs on average
	require.Positive(t, counts["curves"])
}
