package mixture

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
)

// randomMixture has a part of each family.
func randomMixture(t testing.TB, dim int, rng *rand.Rand) *Mixture {
	var parts []family.Q
	var logWeight []float64
	for _, f := range families(dim) {
		parts = append(parts, randomMember(t, f, program(dim), rng))
		logWeight = append(logWeight, rng.NormFloat64()-500)
	}
	return New(logWeight, parts)
}

// A mixture's density is the sum of its parts', and integrates to 1; so does that of
// the law of each number.
func TestMixtureDensity(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 0))
	m := randomMixture(t, 2, rng)
	total := 0.0
	for k := range m.Len() {
		total += m.Weight(k)
	}
	require.InDelta(t, 1, total, 1e-14)
	sum, h := 0.0, 0.05
	for x := -14.0; x < 14; x += h {
		for y := -14.0; y < 14; y += h {
			sum += h * h * math.Exp(m.LogProb([]float64{x, y}))
		}
	}
	require.InDelta(t, 1, sum, 1e-9)
	z := make([]float64, 2)
	for range 100 {
		m.Rand(z, rng)
		want := 0.0
		for k := range m.Len() {
			want += m.Weight(k) * math.Exp(m.Part(k).LogProb(z))
		}
		require.InEpsilon(t, want, math.Exp(m.LogProb(z)), 1e-12)
		conditional, law := 0.0, m.Law(regions.Hyperplane{Index: []int{1}, Coef: []float64{2}})
		for x := -14.0; x < 14; x += h { // ∫ q(x, z1) dx is the density of 2·z1, times 2
			conditional += h * math.Exp(m.LogProb([]float64{x, z[1]}))
		}
		require.InDelta(t, conditional, 2*law.Density(2*z[1]), 1e-9)
	}
	far := New([]float64{0, 0}, []family.Q{family.Independent(z, []float64{1, 1}), family.Independent(z, []float64{2, 2})})
	require.True(t, math.IsInf(far.LogProb([]float64{1e200, 0}), -1), "far from all parts")
}

// Row by row the density of normals, of confined ones, of mixtures of them and of other parts is that of each point, and so is that of the base.
func TestMixtureRows(t *testing.T) {
	const n = 64
	rng := rand.New(rand.NewPCG(*seed, 3))
	normals := func(parts int) *Mixture {
		var list []family.Q
		for range parts {
			list = append(list, randomMember(t, family.FullRank{}, program(3), rng))
		}
		return New(make([]float64, parts), list)
	}
	split := func(at float64, parts int) *Mixture { // at z₀ = at, each with another bound of z₁, or of z₀ + z₁
		var list []family.Q
		for k, x := range normals(2 * parts).parts {
			first := below(-at, 1)
			if first.Positive = k%2 == 0; k%3 == 0 {
				first = above(0.3, 0.5, 1)
			}
			q, _, err := x.(*family.Normal).Confine([]family.Side{first, above(2+float64(k), 0, 1)})
			require.NoError(t, err)
			list = append(list, q)
		}
		return New(make([]float64, len(list)), list)
	}
	for _, m := range []*Mixture{
		New([]float64{1, -2, -3}, []family.Q{normals(2), normals(1).parts[0], normals(3)}),
		normals(50), split(0.2, 30), New([]float64{0, 0, 1}, []family.Q{split(-1, 2), normals(1).parts[0], split(1, 20)}), randomMixture(t, 3, rng),
	} {
		of, _ := m.Defensive(func(q family.Q, i int) (mean, sd float64) { return q.Mean(i), q.SD(i) })
		d := of.Drawer(n).(*Drawer)
		z, logs, points := make([]float64, 3*n), make([]float64, n), make([][]float64, n)
		d.Draw(z, rng)
		d.SubLogQ(logs)
		for k := range points {
			points[k] = []float64{z[k], z[n+k], z[2*n+k]}
			var at place
			at.put(of.boxes, points[k], 1, 0)
			log, ratio := of.logRest(&at, points[k], 0, math.NaN())
			require.InDelta(t, log, -logs[k], 1e-11*(1+math.Abs(log)))
			require.InEpsilon(t, ratio, d.BaseRatios()[k], 1e-10)
		}
		points = append(points, []float64{0, 1e200, 0}, []float64{0, math.NaN(), 0})
		for k, log := range LogProbs(of, points) {
			want := of.LogProb(points[k])
			require.True(t, log == want || math.IsNaN(log) && math.IsNaN(want) || math.Abs(log-want) < 1e-11*(1+math.Abs(want)), "%v, not %v", log, want)
		}
	}
}

// Parts that cannot reach a point are passed over, and no others: on their bounds and
// beside these the mixture's density is the sum of its parts' too.
func TestMixtureBoxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 3))
	cuts := []float64{-1e9, -1.1, -0.3, 0, 1e-7, 0.7, 1e9}
	side := func(at, by float64, above bool) family.Side {
		return family.Side{Hyperplane: regions.Hyperplane{Index: []int{0}, Coef: []float64{by}, Const: -by * at}, Positive: above == (by > 0)}
	}
	var parts []family.Q
	for k, at := range cuts {
		by := []float64{1, -3, 0.1}[k%3]
		sides := []family.Side{side(at, by, true), {Hyperplane: regions.Hyperplane{Index: []int{0, 1}, Coef: []float64{1, 1}}, Positive: k%2 == 0}}
		if k+1 < len(cuts) {
			sides = append(sides, side(cuts[k+1], by, false))
		}
		q, _, err := family.Independent([]float64{0, 0}, []float64{1, 1}).Confine(sides)
		require.NoError(t, err)
		parts = append(parts, q, Widened(q, 2))
	}
	m := New(make([]float64, len(parts)), parts)
	passed, logs := 0, make([]float64, len(parts))
	for range 200 {
		for _, x := range append(cuts, rng.NormFloat64()) {
			for _, x := range []float64{math.Nextafter(x, -2e9), x, math.Nextafter(x, 2e9)} {
				z := []float64{x, rng.NormFloat64()}
				visited := make([]bool, len(parts))
				var at place
				at.put(m.boxes, z, 1, 0)
				m.boxes.each(&at, func(k int) { visited[k] = true })
				for k, q := range parts {
					logs[k] = -math.Log(float64(len(parts))) + q.LogProb(z)
					if !visited[k] {
						passed++
						require.True(t, math.IsInf(logs[k], -1), "part %d at %v", k, z)
					}
				}
				if want := floats.LogSumExp(logs); math.IsInf(want, -1) {
					require.Equal(t, want, m.LogProb(z))
				} else {
					require.InDelta(t, want, m.LogProb(z), 1e-13*math.Abs(want))
				}
			}
		}
	}
	require.Greater(t, passed, 200*len(cuts)*len(parts)/2)
}

// Draws have the laws, those of Rand and of a family.Drawer, whose parts are drawn in proportion;
// log q at them is LogProb.
func TestMixtureDraws(t *testing.T) {
	const draws, batch = 60000, 12
	rng := rand.New(rand.NewPCG(*seed, 1))
	const dim = 4
	m := randomMixture(t, dim, rng)
	planes := []regions.Hyperplane{axis(0), axis(3), {Index: []int{1, 3}, Coef: []float64{1, -0.7}, Const: 0.3}}
	d, z := m.Drawer(batch).(*Drawer), make([]float64, dim*batch)
	one := make([]float64, dim)
	for name, draw := range map[string]func() [][]float64{
		"Rand": func() [][]float64 { m.Rand(one, rng); return [][]float64{one} },
		"Drawer": func() (out [][]float64) {
			d.Draw(z, rng)
			logs := make([]float64, batch)
			d.SubLogQ(logs)
			for k := range batch {
				x := make([]float64, dim)
				for i := range x {
					x[i] = z[i*batch+k]
				}
				require.InDelta(t, -m.LogProb(x), logs[k], 1e-12)
				out = append(out, x)
			}
			return out
		},
	} {
		var below, mean, square [3]float64
		levels, n := [3]float64{-0.5, 0.4, 1}, 0.0
		for n < draws {
			for _, x := range draw() {
				n++
				for l, h := range planes {
					v := h.At(x)
					mean[l] += v
					square[l] += v * v
					if v <= levels[l] {
						below[l]++
					}
				}
			}
		}
		for l, h := range planes {
			law := m.Law(h)
			p := law.CDF(levels[l])
			require.Less(t, math.Abs(below[l]/n-p), 5*math.Sqrt(p*(1-p)/n), "%s: P(%v ≤ %v)", name, h, levels[l])
			require.Less(t, math.Abs(mean[l]/n-law.Mean()), 5*law.SD()/math.Sqrt(n), name)
			require.InEpsilon(t, law.SD(), math.Sqrt(square[l]/n-mean[l]/n*mean[l]/n), 0.05, name)
		}
	}
	for i := range dim {
		require.InDelta(t, family.Marginal(m, i).Mean(), m.Mean(i), 1e-12)
		require.InEpsilon(t, family.Marginal(m, i).SD(), m.SD(i), 1e-12)
	}
	count := make([]int, m.Len())
	d.Draw(z, rng)
	for _, k := range d.part {
		count[k]++
	}
	for k, c := range count {
		require.InDelta(t, batch*m.Weight(k), c, 1, "part %d", k)
	}
}

// Log q at draws of given parts, which know the density of their own part, is LogProb: where parts are confined, and where latents are parameters.
func TestMixtureDrawsOfParts(t *testing.T) {
	const each = 7 // not whole hypercubes
	pair, theta := [][]int{{}, {0}}, []float64{0.2, 0.7, -0.4, 0.9, 0.6}
	all := []family.Q{
		confine(t, pair, theta, above(0, 1)),
		confine(t, pair, theta, below(0.3, 0, 2)),
		confine(t, pair, theta, above(0.5, 1), below(-2, 0, 1)),
		confine(t, pair, theta, above(0.1, -1, 2), below(-0.7, -1, 2)),
		confine(t, [][]int{{}, {}}, theta[:4], above(0.1, -1, 2), above(0.3, 0, 1), above(0.9, 0.5, 1)),
		confine(t, pair, []float64{0.2, 0.7, -0.4, 0.9, -1.6}, above(-0.1, 1), below(0.4, 1, 1)),
	}
	point := func(x float64, sides ...family.Side) family.Q {
		q, _, err := family.Independent([]float64{1, x}, []float64{1, 0.6}).Points(1).Confine(sides)
		require.NoError(t, err)
		return q
	}
	small := []family.Side{above(-0.1, 0, 1), below(-0.1-1e-13, 0, 1)}
	for name, list := range map[string][]family.Q{
		"confined":    all,
		"parameters":  {family.Independent([]float64{1, 0.3}, []float64{1, 0.6}).Points(1), point(0.5, above(-1, 0, 1))},
		"little mass": {confine(t, [][]int{{}, {}}, []float64{40, 0.01, -0.4, 0.01}, below(-0.1, 1), above(-0.1, 0, 1)), point(0.1, small...)},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(*seed, 4))
			m := New(make([]float64, len(list)), list)
			var parts []int
			for k := range list {
				parts = append(parts, slices.Repeat([]int{k}, each)...)
			}
			n := len(parts)
			d, z, logs := m.Drawer(n).(*Drawer), make([]float64, 2*n), make([]float64, n)
			for range 20 {
				clear(logs)
				d.DrawParts(z, parts, rng)
				d.SubLogQ(logs)
				for k, log := range logs {
					want := m.LogProb([]float64{z[k], z[n+k]})
					require.InDelta(t, want, -log, 1e-9*(1+math.Abs(want)), "part %d", parts[k])
				}
			}
		})
	}
}

// Draws on a rare side are draws of q given the side: their weight is its probability, and log q changes as they say.
func TestMoverTo(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 2))
	const dim, draws = 4, 20000
	m, z := randomMixture(t, dim, rng), make([]float64, dim)
	h := regions.Hyperplane{Index: []int{0, 2}, Coef: []float64{1, 0.5}}
	for _, positive := range []bool{true, false} {
		for h.Const = 0; m.Law(h).OnSide(positive) > 1e-6; {
			if h.Const -= 0.01; !positive {
				h.Const += 0.02
			}
		}
		deeper := h // a part of the side of known probability
		if deeper.Const -= 0.1; !positive {
			deeper.Const += 0.2
		}
		prob, move := m.Law(h).OnSide(positive), m.MoverTo(h, positive)
		var sum, squares float64
		for range draws {
			m.Rand(z, rng)
			was := m.LogProb(z)
			logQ, weight := move(z, rng)
			require.InEpsilon(t, prob, weight, 1e-9)
			require.InDelta(t, m.LogProb(z)-was, logQ, 1e-8*(1+math.Abs(was)))
			require.True(t, h.At(z) > -1e-9 == positive || math.Abs(h.At(z)) < 1e-9)
			if deeper.At(z) > 0 == positive {
				sum += weight
				squares += weight * weight
			}
		}
		want := m.Law(deeper).OnSide(positive)
		se := math.Sqrt(squares) / draws
		require.Less(t, math.Abs(sum/draws-want), 5*se)
		require.Less(t, 5*se, 0.2*want, "inconclusive")
	}
}

// Parts are tilted one by one.
func TestTilted(t *testing.T) {
	walk := family.FromPrecision([]float64{0, 0, 0}, mat.NewSymDense(3, []float64{2, -1, 0, -1, 2, -1, 0, -1, 1}))
	q, _, err := walk.Confine([]family.Side{above(-1, 0, 1), above(-1, 0, 0, 1)})
	require.NoError(t, err)
	m := New([]float64{0, 1}, []family.Q{q, walk})
	require.NotEqual(t, q.Theta(), family.Tilted(q).Theta())
	require.Equal(t, New([]float64{0, 1}, []family.Q{family.Tilted(q), walk}).Theta(), family.Tilted(m).Theta())
}

// A mixture keeps its parts apart from those that it was given, moves as they do, and
// names its parameters.
func TestMixtureParameters(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 3))
	parts := []family.Q{randomMember(t, family.Structured{}, program(3), rng), randomMember(t, family.Softplus{}, program(3), rng)}
	m := New([]float64{math.Log(0.25), math.Log(0.75)}, parts)
	require.InDelta(t, 0.25, m.Weight(0), 1e-15)
	theta := append([]float64(nil), m.Theta()...)
	require.Equal(t, append(append([]float64{math.Log(0.25), math.Log(0.75)}, parts[0].Theta()...), parts[1].Theta()...), theta)
	clone := m.Clone()
	require.Equal(t, m, clone)
	step, units := make([]float64, len(theta)), make([]float64, len(theta))
	for k := range step {
		step[k] = rng.NormFloat64()
	}
	m.Units(units)
	for _, u := range units {
		require.Positive(t, u)
	}
	m.Move(step)
	parts[0].Move(step[2 : 2+len(parts[0].Theta())])
	parts[1].Move(step[2+len(parts[0].Theta()):])
	require.Equal(t, New(m.Theta()[:2], parts), m)
	require.Equal(t, theta, clone.Theta())
	m.Set(theta)
	require.Equal(t, clone, m)
	require.NoError(t, family.Check(m, program(3)))

	for k, want := range map[int]string{0: "π of cell 0", 2: "z0 cell 0 μ", 8: "z1 cell 0 B z0", 10: "z0 cell 1 ρ"} {
		require.Equal(t, want, m.Param(k).Label(program(3).Latents()))
	}
	for k := range theta {
		bad := append([]float64(nil), theta...)
		bad[k] = math.NaN()
		m.Set(bad)
		require.Equal(t, k, m.Fault())
		require.ErrorContains(t, family.Check(m, program(3)), m.Param(k).Symbol+" is NaN")
	}
	m.Set(theta)
	m.Place([]float64{1, 2, 3}, []float64{1, 2, 3})
	require.InDelta(t, family.Independent([]float64{1, 2, 3}, []float64{1, 2, 3}).LogProb([]float64{0, 1, 5}), m.LogProb([]float64{0, 1, 5}), 1e-12)

	_, err := Cells{}.New(program(3))
	require.ErrorContains(t, err, "one by one")
	_, err = family.Bind(m, 10)
	require.EqualError(t, err, "cells: not fitted by gradients; ask this of a fit of one family, such as FullRank")
	same, err := family.Of(Cells{}, program(3), m)
	require.NoError(t, err)
	require.Equal(t, m, same)
	near, err := family.Of(family.MeanField{}, program(3), clone)
	require.NoError(t, err)
	require.InEpsilon(t, clone.SD(1), near.SD(1), 1e-12)
	for _, bad := range []func(){
		func() { New(nil, nil) }, func() { New([]float64{1}, parts) }, func() { m.Set(theta[1:]) },
		func() { New([]float64{0, 0}, []family.Q{parts[0], family.Independent(nil, nil)}) },
	} {
		require.Panics(t, bad)
	}
	require.InDelta(t, distuv.UnitNormal.CDF(1), New([]float64{3}, []family.Q{family.Independent([]float64{0}, []float64{1})}).Law(axis(0)).CDF(1), 1e-15)
}

// Cells on the two sides of a guard do not overlap: log q is that of the one cell that
// contains a point, the guard's probability is a weight, and of a batch each cell has its
// share.
func TestMixtureOfCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 4))
	pair, side := [][]int{{}, {0}}, above(0.1, -1, 2)
	up := confine(t, pair, []float64{0.2, 0.7, -0.4, 0.9, 0.6}, side)
	down := confine(t, pair, []float64{-0.5, 0.6, -1.4, 0.5, -0.3}, below(0.1, -1, 2))
	m := New([]float64{math.Log(0.3), math.Log(0.7)}, []family.Q{up, down})
	require.Equal(t, 1.0, up.Law(side.Hyperplane).Above(0))
	require.InDelta(t, 0.3, m.Law(side.Hyperplane).Above(0), 1e-15)
	z := make([]float64, 2)
	for range 1000 {
		m.Rand(z, rng)
		want := math.Log(0.3) + up.LogProb(z)
		if side.At(z) <= 0 {
			want = math.Log(0.7) + down.LogProb(z)
		}
		require.InDelta(t, want, m.LogProb(z), 1e-12)
	}
	const n = 10
	d, batch := m.Drawer(n), make([]float64, 2*n)
	for range 100 {
		d.Draw(batch, rng)
		count := 0
		for k := range n {
			if side.At([]float64{batch[k], batch[n+k]}) > 0 {
				count++
			}
		}
		require.Equal(t, 3, count)
	}
}
