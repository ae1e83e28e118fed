package family

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/mc"
)

// above is the side a·z + c > 0, in the latents where a is not 0; below the other.
func above(c float64, a ...float64) Side {
	s := Side{Hyperplane: regions.Hyperplane{Const: c}, Positive: true}
	for i, x := range a {
		if x != 0 {
			s.Index, s.Coef = append(s.Index, i), append(s.Coef, x)
		}
	}
	return s
}

func below(c float64, a ...float64) Side {
	s := above(c, a...)
	s.Positive = false
	return s
}

func confine(t testing.TB, parents [][]int, theta []float64, sides ...Side) *confined {
	t.Helper()
	q, soft, err := Sequential(parents).Confine(sides)
	require.NoError(t, err)
	require.Empty(t, soft)
	q.Set(theta)
	require.Negative(t, q.Fault())
	return q.(*confined)
}

// confinedCases have one latent or two, so that quadrature tells all about them.
func confinedCases(t testing.TB) map[string]*confined {
	pair := [][]int{{}, {0}}
	return map[string]*confined{
		"above":             confine(t, [][]int{{}}, []float64{0.3, 0.8}, above(-1, 1)),
		"between":           confine(t, [][]int{{}}, []float64{0.3, 0.8}, above(-1, 1), below(1.2, -1), below(-1.5, 1)),
		"far below":         confine(t, [][]int{{}}, []float64{0.3, 0.1}, above(-3, -1)),
		"first":             confine(t, pair, []float64{0.2, 0.7, -0.4, 0.9, 0.6}, above(0, 1)),
		"last":              confine(t, pair, []float64{0.2, 0.7, -0.4, 0.9, 0.6}, below(0.3, 0, 2)),
		"both":              confine(t, pair, []float64{0.2, 0.7, -0.4, 0.9, 0.6}, above(0.5, 1), below(-2, 0, 1)),
		"slanted":           confine(t, pair, []float64{0.2, 0.7, -0.4, 0.9, 0.6}, above(0.1, -1, 2)),
		"slanted strip":     confine(t, pair, []float64{0.2, 0.7, -0.4, 0.9, 0.6}, above(0.1, -1, 2), below(-0.7, -1, 2)),
		"two floors":        confine(t, [][]int{{}, {}}, []float64{0.2, 0.7, -0.4, 0.9}, above(0.1, -1, 2), above(0.3, 0, 1), above(0.9, 0.5, 1)),
		"confined and more": confine(t, pair, []float64{0.2, 0.7, -0.4, 0.9, -1.6}, above(-0.1, 1), below(0.4, 1, 1)),
	}
}

// limits cut a latent's line at the ends of its interval.
func (q *confined) limits(i int, z []float64) (lo, hi float64) {
	m, s := q.normal.conditional(i, z), q.normal.s[i]
	from, to := math.Inf(-1), math.Inf(1)
	if r := q.truncations[i]; r != nil {
		from, to, _, _ = r.ends(z)
	}
	// beyond its end x the normal falls off within 40·s²/|x − m|
	lo = max(from, min(m, to)-min(9*s, 40*s*s/max(0, m-to)))
	hi = min(to, max(m, from)+min(9*s, 40*s*s/max(0, from-m)))
	return lo, hi
}

// integral is ∫ q·f over all latents. The line of the first is cut where bounds of the
// second meet.
func (q *confined) integral(f func(z []float64) float64) float64 {
	z := make([]float64, q.Dim())
	var from func(i int) float64
	from = func(i int) float64 {
		if i == len(z) {
			return math.Exp(q.LogProb(z)) * f(z)
		}
		lo, hi := q.limits(i, z)
		sum := 0.0
		const parts = 12
		for k := range parts {
			a, b := lo+(hi-lo)*float64(k)/parts, lo+(hi-lo)*float64(k+1)/parts
			sum += quad.Fixed(func(x float64) float64 {
				z[i] = x
				return from(i + 1)
			}, a, b, 12, nil, 0)
		}
		return sum
	}
	return from(0)
}

// The density integrates to 1, and what a member says of itself is what quadrature
// says: exact where nothing that is not normal conditions it, and else within
// the noise of an average of so many draws.
func TestConfinedByQuadrature(t *testing.T) {
	for name, q := range confinedCases(t) {
		t.Run(name, func(t *testing.T) {
			kink := 1e-9 // of several bounds, and none else
			if name == "two floors" {
				kink = 1e-4
			}
			require.InDelta(t, 1, q.integral(func([]float64) float64 { return 1 }), kink)
			law := func(f func(z []float64) float64) (mean, sd float64) {
				mean = q.integral(f)
				return mean, math.Sqrt(q.integral(func(z []float64) float64 { return (f(z) - mean) * (f(z) - mean) }))
			}
			dim := q.Dim()
			for i := range dim {
				mean, sd := law(func(z []float64) float64 { return z[i] })
				limit := 1e-8 + 1e-3*kink
				if q.bent[i] && !q.links.root(i) {
					limit = 2 * sd / math.Sqrt(sampleSize)
				}
				require.InDelta(t, mean, q.Mean(i), limit+kink)
				require.InDelta(t, sd, q.SD(i), limit+kink)
			}
			h := regions.Hyperplane{Const: 0.3}
			for i := range dim {
				h.Index, h.Coef = append(h.Index, i), append(h.Coef, 1-0.4*float64(i))
			}
			mean, sd := law(h.At)
			got := q.Law(h)
			require.InDelta(t, mean, got.Mean(), 2*sd/math.Sqrt(sampleSize))
			require.InDelta(t, sd, got.SD(), 2*sd/math.Sqrt(sampleSize))

			h.Const -= mean + sd // rare enough to be moved to
			one, rng := make([]float64, dim), rand.New(rand.NewPCG(*seed, 0))
			move, average := q.MoverTo(h, true), mc.Moments{}
			for range 20000 {
				q.Rand(one, rng)
				was := q.LogProb(one)
				by, weight := move(one, rng)
				if weight > 0 {
					require.Positive(t, h.At(one)+1e-12)
					require.InDelta(t, q.LogProb(one), was+by, 1e-9)
				}
				average.Add(weight * one[dim-1])
			}
			want := q.integral(func(z []float64) float64 {
				if h.At(z) > 0 {
					return z[dim-1]
				}
				return 0
			})
			require.InDelta(t, want, average.Mean, 5*average.SE()+0.02) // quadrature does not see where the plane cuts a cell
		})
	}
}

// Draws of Rand and of a Drawer are inside, and have the means of quadrature; log q at a drawer's draws is LogProb.
func TestConfinedDraws(t *testing.T) {
	for name, q := range confinedCases(t) {
		t.Run(name, func(t *testing.T) {
			const batch = 33
			rng := rand.New(rand.NewPCG(*seed, 1))
			dim := q.Dim()
			f := func(z []float64) float64 { return math.Sin(2*z[0]) + z[dim-1] }
			want := q.integral(f)
			variance := q.integral(func(z []float64) float64 { return (f(z) - want) * (f(z) - want) })
			_, err := Bind(q, batch)
			require.ErrorContains(t, err, "not fitted by gradients")
			s := q.Drawer(batch)
			z, one := make([]float64, dim*batch), make([]float64, dim)
			byRand, bySampler, total := 0.0, 0.0, 0.0
			for total < 40000 {
				s.Draw(z, rng)
				for k := range batch {
					for i := range one {
						one[i] = z[i*batch+k]
					}
					require.False(t, math.IsInf(q.LogProb(one), 0))
					bySampler += f(one)
					q.Rand(one, rng)
					require.False(t, math.IsInf(q.LogProb(one), 0))
					byRand += f(one)
					total++
				}
			}
			require.Less(t, math.Abs(byRand/total-want), 5*math.Sqrt(variance/total)+1e-4)
			require.Less(t, math.Abs(bySampler/total-want), 5*math.Sqrt(variance/total)+1e-4)

			logs := make([]float64, batch)
			s.SubLogQ(logs)
			for k := range batch {
				for i := range one {
					one[i] = z[i*batch+k]
				}
				require.Equal(t, -q.LogProb(one), logs[k])
			}
		})
	}
}

// Draws are on their sides however far from them the normal is, as signs are
// evaluated.
func TestConfinedStaysInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 2))
	z := make([]float64, 2)
	for _, far := range []float64{1, 30, 1e3, 1e6, 1e9} {
		for _, s := range []float64{1e-3, 1, 1e3} {
			sides := []Side{above(-far*0.7, 0.7), above(-1/3.0, -0.3, 0.9), below(-1/3.0-1e-12*far, -0.3, 0.9)}
			q := confine(t, [][]int{{}, {0}}, []float64{0, s, 20, s, 0.3}, sides...)
			for range 200 {
				q.Rand(z, rng)
				for _, side := range sides {
					require.Equal(t, side.Positive, side.At(z) > 0, "%v at %v", side, z)
				}
			}
		}
	}
}

// Confine takes the sides that always leave room, and says which it leaves.
func TestConfineChooses(t *testing.T) {
	q := Sequential([][]int{{}, {}, {0, 1}})
	for name, c := range map[string]struct {
		sides []Side
		soft  []int
	}{
		"one latent":            {[]Side{above(0, 1), below(-2, 1), above(1, 1)}, nil},
		"floors":                {[]Side{above(0, 1, 1), above(0, 1, 2), above(0, 0, 1)}, nil},
		"floor and ceiling":     {[]Side{above(0, 1, 1), below(0, 1, 2)}, []int{1}},
		"the first counts":      {[]Side{below(0, 1, 2), above(0, 1, 1), above(0, 0, 0, 1)}, []int{1}},
		"a strip":               {[]Side{above(0, 1, 1), above(1, -1, -1)}, nil},
		"a strip and a slope":   {[]Side{above(0, 1, 1), above(1, -1, -1), above(0, 1, 3)}, []int{2}},
		"a multiple of a side":  {[]Side{above(0, 1, 1), below(-6, 3, 3)}, nil},
		"one after another":     {[]Side{above(0, -1, 1), above(0, 1), below(-1, 1), above(-1, 0, 1), below(-2, 0, 1)}, nil},
		"perhaps before":        {[]Side{above(0, -1, 1), above(0, 1), below(-1.5, 1), above(-1, 0, 1), below(-2, 0, 1)}, []int{4}},
		"implied by a soft one": {[]Side{above(4, 1, -1), above(1, 1), above(1, 1, 1), below(-2, 0, 1)}, []int{2}},
		"before, as below":      {[]Side{above(0, 0, 1), below(0, 2, -1), below(0, 1), below(-2, 0, 1)}, nil},
	} {
		got, soft, err := q.Confine(c.sides)
		require.NoError(t, err, name)
		require.Equal(t, c.soft, soft, name)
		again, err := got.Family().New(program(3))
		require.NoError(t, err, name)
		require.Equal(t, got, again, name)
	}
	implied, _, err := q.Confine([]Side{above(0, -1, 1), above(0, 1), below(-1, 1), above(-1, 0, 1), below(-2, 0, 1)})
	require.NoError(t, err)
	require.Len(t, implied.(*confined).Sides(), 4)
	for name, sides := range map[string][]Side{
		"contradicts another": {above(0, 1, 1), below(2, 2, 2)},
		"is of latent 3":      {above(0, 0, 0, 0, 1)},
		"no normal":           {{}},
	} {
		_, _, err := q.Confine(sides)
		require.ErrorContains(t, err, name)
	}
	_, _, err = Softplus{}.At(make([]float64, 2)).Confine(nil)
	require.ErrorContains(t, err, "members of softplus mean field cannot be")
}

// A family of sequences survives JSON, makes its members again, and copies of
// them share nothing that changes.
func TestSequence(t *testing.T) {
	q := confinedCases(t)["slanted strip"]
	text, err := json.Marshal(q.Family())
	require.NoError(t, err)
	var f Sequence
	require.NoError(t, json.Unmarshal(text, &f))
	require.Equal(t, q.Family(), f)
	again, err := f.New(program(2))
	require.NoError(t, err)
	again.Set(q.Theta())
	z := []float64{0.3, 0.4}
	require.Equal(t, q.LogProb(z), again.LogProb(z))
	clone := q.Clone()
	require.Equal(t, q.Mean(1), clone.Mean(1))
	clone.Move([]float64{1, 0, 0, 0, 0})
	require.NotEqual(t, q.Mean(1), clone.Mean(1))
	require.Equal(t, q.Mean(1), again.Mean(1))

	free := Sequential([][]int{{}, {0}})
	free.Set(q.Theta())
	of, err := Of(f, program(2), free)
	require.NoError(t, err)
	require.Equal(t, q.LogProb(z), of.LogProb(z))

	_, err = f.New(program(3))
	require.ErrorContains(t, err, "parents of 2 latents for 3")
	for _, bad := range []Sequence{{Parents: "["}, {Parents: "[[],[1]]"}, {Parents: "[[],[]]", Sides: "{"}} {
		_, err := bad.New(program(2))
		require.Error(t, err)
	}
	require.Panics(t, func() { Sequential([][]int{{0}}) })
}

// FromPrecision has that precision, and no edges that it does not need.
func TestFromPrecision(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 3))
	const dim = 6
	p := mat.NewSymDense(dim, nil)
	for i := range dim {
		p.SetSym(i, i, math.Exp(rng.NormFloat64())*10)
		if i > 0 {
			p.SetSym(i, i-1, 0.4*math.Sqrt(p.At(i, i)*p.At(i-1, i-1)))
		}
	}
	p.SetSym(5, 0, 0.1*math.Sqrt(p.At(0, 0)*p.At(5, 5)))
	mean := []float64{1, 2, 3, 4, 5, 6}
	q := FromPrecision(mean, p)
	require.Equal(t, Sequence{Parents: "[[],[0],[0,1],[0,2],[0,3],[0,4]]"}, q.Family())
	_, cov := dense(q)
	var product mat.Dense
	product.Mul(cov, p)
	for i := range dim {
		require.Equal(t, mean[i], q.Mean(i))
		for j := range dim {
			want := 0.0
			if i == j {
				want = 1
			}
			require.InDelta(t, want, product.At(i, j), 1e-10)
		}
	}
}
