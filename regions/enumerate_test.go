package regions_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/combin"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/regions"
)

// A form is Φ = a·z + c with exact numbers, the constant last.
type form []*big.Rat

func exact(h regions.Hyperplane, dim int) form {
	out := make(form, dim+1)
	for i := range out {
		out[i] = new(big.Rat)
	}
	for k, i := range h.Index {
		out[i].SetFloat64(h.Coef[k])
	}
	out[dim].SetFloat64(h.Const)
	return out
}

// countExact is the number of regions by deletion and restriction (Zaslavsky): a plane adds to the others' regions as many as they cut
// it into. It is exact and knows nothing of linear programs.
func countExact(planes []form) int {
	if len(planes) == 0 {
		return 1
	}
	last, rest := planes[len(planes)-1], planes[:len(planes)-1]
	return countExact(rest) + countExact(restrict(rest, last))
}

// restrict are the different traces of the planes on one of them.
func restrict(planes []form, on form) (out []form) {
	pivot := slices.IndexFunc(on[:len(on)-1], func(x *big.Rat) bool { return x.Sign() != 0 })
	for _, p := range planes {
		q := make(form, 0, len(p)-1)
		factor := new(big.Rat).Quo(p[pivot], on[pivot])
		for i, x := range p {
			if i != pivot {
				q = append(q, new(big.Rat).Sub(x, new(big.Rat).Mul(factor, on[i])))
			}
		}
		lead := slices.IndexFunc(q[:len(q)-1], func(x *big.Rat) bool { return x.Sign() != 0 })
		if lead < 0 {
			continue // parallel to the plane
		}
		inverse := new(big.Rat).Inv(q[lead])
		for _, x := range q {
			x.Mul(x, inverse)
		}
		if !slices.ContainsFunc(out, func(o form) bool {
			return slices.EqualFunc(o, q, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
		}) {
			out = append(out, q)
		}
	}
	return out
}

func formsOf(a *regions.Arrangement) (out []form) {
	for _, h := range a.Planes() {
		out = append(out, exact(h, a.Dim()))
	}
	return out
}

// small draws an arrangement of few planes with small whole numbers in few dimensions: parallel planes, planes through one point or line,
// planes on one or two coordinates, and untouched coordinates are all frequent.
func small(t *rapid.T) *regions.Arrangement {
	n := rapid.IntRange(1, 4).Draw(t, "dimension")
	a := regions.NewArrangement(n + 1)
	for range rapid.IntRange(0, 7).Draw(t, "planes") {
		var h regions.Hyperplane
		for i := range n {
			if c := rapid.IntRange(-2, 2).Draw(t, "coefficient"); c != 0 {
				h.Index = append(h.Index, i)
				h.Coef = append(h.Coef, float64(c))
			}
		}
		if h.Index == nil {
			h = regions.Hyperplane{Index: []int{0}, Coef: []float64{1}}
		}
		h.Const = float64(rapid.IntRange(-2, 2).Draw(t, "constant"))
		add(t, a, h)
	}
	return a
}

func regionsOf(t require.TestingT, a *regions.Arrangement) map[regions.Signs]bool {
	list, err := a.Regions(100_000)
	require.NoError(t, err)
	set := map[regions.Signs]bool{}
	for _, s := range list {
		set[s] = true
	}
	require.Len(t, set, len(list), "each region once")
	return set
}

// The regions of degenerate arrangements are as many as an exact count in rational numbers says, each has a point that lies in it, and
// no point that is drawn lies in another one.
func TestRegions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := small(t)
		set := regionsOf(t, a)
		require.Len(t, set, countExact(formsOf(a)))
		for s := range set {
			z, ok, err := a.Feasible(s)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, s, a.Signs(z))
			for l, h := range a.Planes() {
				require.NotZero(t, h.At(z), "the point is on plane %d", l)
			}
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		z := make([]float64, a.Dim())
		for range 500 {
			for i := range z {
				z[i] = 3 * rng.NormFloat64() * math.Exp(rng.NormFloat64())
			}
			s := a.Signs(z)
			require.True(t, set[s], "%v at %v is not among the regions", s, z)
		}
	})
}

// Every sign vector that is not a region is infeasible.
func TestFeasible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := small(t)
		set := regionsOf(t, a)
		for bits := range 1 << a.Len() {
			positive := make([]bool, a.Len())
			for l := range positive {
				positive[l] = bits>>l&1 == 1
			}
			s := regions.NewSigns(positive)
			_, ok, err := a.Feasible(s)
			require.NoError(t, err)
			require.Equal(t, set[s], ok, "%v", s)
		}
	})
}

// A plane holds a facet if and only if what is across it is a region: the segment between points of the two crosses it alone.
func TestFacets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := small(t)
		set := regionsOf(t, a)
		for s := range set {
			var want []int
			var across []regions.Signs
			for l := range a.Len() {
				if set[s.Flip(l)] {
					want = append(want, l)
					across = append(across, s.Flip(l))
				}
			}
			got, err := a.Facets(s)
			require.NoError(t, err)
			require.Equal(t, want, got, "%v", s)
			neighbours, err := a.Neighbours(s)
			require.NoError(t, err)
			require.Equal(t, across, neighbours)
		}
	})
}

// random adds planes in general position, with constants of the given scale.
func random(t testing.TB, rng *rand.Rand, dim, planes int, scale float64) *regions.Arrangement {
	a := regions.NewArrangement(dim)
	for range planes {
		h := regions.Hyperplane{Const: scale * rng.NormFloat64()}
		for i := range dim {
			h.Index = append(h.Index, i)
			h.Coef = append(h.Coef, rng.NormFloat64())
		}
		add(t, a, h)
	}
	return a
}

// Planes in general position: Σ_{i≤n} C(L, i) regions, at any scale; and 2·Σ_{i<n} C(L−1, i) if all go through the origin.
func TestRegionsInGeneralPosition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for n := 1; n <= 4; n++ {
		for l := 0; l <= 8; l += 2 {
			for _, scale := range []float64{1, 1e-7, 1e7} {
				want := 0
				for i := 0; i <= min(n, l); i++ {
					want += combin.Binomial(l, i)
				}
				a := random(t, rng, n, l, scale)
				require.Len(t, regionsOf(t, a), want, "%d planes in %d dimensions at scale %v", l, n, scale)
			}
			if l > 0 && n > 1 {
				want := 0
				for i := 0; i < min(n, l); i++ {
					want += 2 * combin.Binomial(l-1, i)
				}
				require.Len(t, regionsOf(t, random(t, rng, n, l, 0)), want, "%d planes through 0 in %d dimensions", l, n)
			}
		}
	}
}

// The planes z_i = z_j cut ℝⁿ into the n! orders of the coordinates; an order is bounded by the n−1 planes of its neighbours.
func TestBraidArrangement(t *testing.T) {
	for n, factorial := 2, 2; n <= 5; n, factorial = n+1, factorial*(n+1) {
		a := regions.NewArrangement(n)
		of := map[[2]int]int{}
		for i := range n {
			for j := range i {
				of[[2]int{j, i}] = add(t, a, regions.Hyperplane{Index: []int{j, i}, Coef: []float64{1, -1}}).Plane
			}
		}
		set := regionsOf(t, a)
		require.Len(t, set, factorial)
		checked := 0
		for s := range set {
			if checked++; checked > 30 {
				break
			}
			z, ok, err := a.Feasible(s)
			require.NoError(t, err)
			require.True(t, ok)
			order := make([]int, n)
			for i := range order {
				order[i] = i
			}
			slices.SortFunc(order, func(i, j int) int {
				if z[i] < z[j] {
					return -1
				}
				return 1
			})
			var want []int
			for k := range n - 1 {
				i, j := order[k], order[k+1]
				want = append(want, of[[2]int{min(i, j), max(i, j)}])
			}
			slices.Sort(want)
			got, err := a.Facets(s)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	}
}

// Parallel planes, across an axis or not, cut space into slabs; guards that coincide are one plane.
func TestRegionsOfParallelPlanes(t *testing.T) {
	a := regions.NewArrangement(3)
	for k := range 1000 {
		add(t, a, regions.Hyperplane{Index: []int{0, 2}, Coef: []float64{1, -0.3}, Const: float64(k*7919%1000) / 10})
		add(t, a, regions.Hyperplane{Index: []int{0, 2}, Coef: []float64{-2, 0.6}, Const: -2 * float64(k*7919%1000) / 10})
	}
	require.Equal(t, 1000, a.Len())
	set := regionsOf(t, a)
	require.Len(t, set, 1001)
	slab := a.Signs([]float64{-20.25, 5, 0.5})
	got, err := a.Facets(slab)
	require.NoError(t, err)
	require.Len(t, got, 2)
	for _, l := range got {
		require.InDelta(t, 20.4, a.Plane(l).Const, 0.11)
	}
	end := a.Signs([]float64{1e6, 0, 0})
	got, err = a.Facets(end)
	require.NoError(t, err)
	require.Len(t, got, 1)
}

// Slabs far narrower than a linear program can see, on an axis, are all found; between neighbouring numbers there is nothing.
func TestRegionsOnAnAxis(t *testing.T) {
	a := regions.NewArrangement(1)
	for _, c := range []float64{0, -1e-300, -2e-300, -1, -1 - 1e-11, 3e200} {
		add(t, a, axis(c))
	}
	set := regionsOf(t, a)
	require.Len(t, set, 7)
	for s := range set {
		z, ok, err := a.Feasible(s)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, s, a.Signs(z))
	}
	a = regions.NewArrangement(1)
	add(t, a, axis(0))
	add(t, a, axis(-5e-324)) // z0 > 5e-324
	require.Len(t, regionsOf(t, a), 2)
	_, ok, err := a.Feasible(a.Signs([]float64{5e-324}))
	require.NoError(t, err)
	require.False(t, ok, "the cell has no float64 inside")
}

// A cell thinner than the tolerance counts as empty, and hides nothing behind it.
func TestThinCells(t *testing.T) {
	a := regions.NewArrangement(2)
	add(t, a, regions.Hyperplane{Index: []int{0, 1}, Coef: []float64{1, 0.5}, Const: 0.25})
	for _, c := range []float64{0, 1, 1 + 1e-11, 1 + 2e-11, 2, 2 + 1e-6} {
		add(t, a, axis(-c))
	}
	set := regionsOf(t, a)
	require.Len(t, set, 10, "five slabs, of which the line crosses each")
	for _, x := range []float64{-1, 0.5, 1.5, 2 + 5e-7, 3} {
		for _, y := range []float64{-100, 100} {
			require.True(t, set[a.Signs([]float64{x, y})])
		}
	}
	facets, err := a.Facets(a.Signs([]float64{0.5, 100}))
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2}, facets, "a thin neighbour leaves the facet where it is")
}

// A cell may be far from the rest: two planes at a small angle meet at a distance of 1e5.
func TestFarCells(t *testing.T) {
	a := regions.NewArrangement(2)
	add(t, a, regions.Hyperplane{Index: []int{1}, Coef: []float64{1}})
	add(t, a, regions.Hyperplane{Index: []int{0, 1}, Coef: []float64{1e-5, 1}, Const: -1})
	add(t, a, regions.Hyperplane{Index: []int{0, 1}, Coef: []float64{-1e-5, 1}, Const: -1})
	require.Len(t, regionsOf(t, a), 7)
	require.Equal(t, 7, countExact(formsOf(a)))
}

// The regions of blocks multiply; too many are counted and not listed.
func TestRegionsOfBlocks(t *testing.T) {
	const n = 12
	a := regions.NewArrangement(3 * n)
	for i := range n {
		x, y := 3*i, 3*i+1
		add(t, a, regions.Hyperplane{Index: []int{x}, Coef: []float64{1}, Const: 1})
		add(t, a, regions.Hyperplane{Index: []int{x, y}, Coef: []float64{1, 1}})
		add(t, a, regions.Hyperplane{Index: []int{y}, Coef: []float64{1}, Const: 3})
		add(t, a, regions.Hyperplane{Index: []int{3*i + 2}, Coef: []float64{1}})
	}
	want := new(big.Int).Exp(big.NewInt(7*2), big.NewInt(n), nil)
	_, err := a.Regions(1_000_000)
	require.ErrorIs(t, err, regions.ErrTooMany)
	require.ErrorContains(t, err, want.String())
	_, err = a.Regions(6)
	require.ErrorIs(t, err, regions.ErrTooMany)
	require.ErrorContains(t, err, "more than 6", "of one block")
	blocks := a.Blocks()
	require.Len(t, blocks, 2*n)
	require.Equal(t, []int{0, 1, 2}, blocks[0])
	require.Equal(t, []int{3}, blocks[1])
}

// Sets are in one group exactly if a chain of sets, each with a number of the next, joins them.
func TestLinked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 7), 0, 3), 0, 6).Draw(t, "sets")
		group := make([]int, len(sets)) // the first set that is linked
		for k := range group {
			group[k] = k
		}
		for range sets {
			for j := range sets {
				for k := range sets {
					if slices.ContainsFunc(sets[j], func(x int) bool { return slices.Contains(sets[k], x) }) {
						group[k] = min(group[j], group[k])
					}
				}
			}
		}
		var want [][]int
		for first := range sets {
			var members []int
			for k := range sets {
				if group[k] == first {
					members = append(members, k)
				}
			}
			if members != nil {
				want = append(want, members)
			}
		}
		require.Equal(t, want, regions.Linked(sets))
	})
	require.Equal(t, [][]int{{0}, {1}}, regions.Linked([][]int{nil, {}}))
}

func TestRegionsLimit(t *testing.T) {
	a := random(t, rand.New(rand.NewPCG(2, 0)), 3, 5, 1)
	list, err := a.Regions(26)
	require.NoError(t, err)
	require.Len(t, list, 26)
	for _, limit := range []int{25, 1, 0, -1} {
		list, err = a.Regions(limit)
		require.ErrorIs(t, err, regions.ErrTooMany)
		require.Nil(t, list)
	}
	again, err := a.Regions(1000)
	require.NoError(t, err)
	twice, err := a.Regions(1000)
	require.NoError(t, err)
	require.Equal(t, again, twice)

	list, err = regions.NewArrangement(5).Regions(1)
	require.NoError(t, err)
	require.Equal(t, []regions.Signs{{}}, list)

	// The limit bounds the time: 40 planes in 10 dimensions have a billion regions.
	start := time.Now()
	wide := random(t, rand.New(rand.NewPCG(3, 0)), 10, 40, 1)
	_, err = wide.Regions(3)
	require.ErrorIs(t, err, regions.ErrTooMany)
	t.Logf("stopped after %v", time.Since(start))
}

func TestFacetsErrors(t *testing.T) {
	a := regions.NewArrangement(1)
	add(t, a, axis(0))
	add(t, a, axis(-1))
	s, err := regions.ParseSigns("-+")
	require.NoError(t, err)
	_, err = a.Facets(s)
	require.ErrorContains(t, err, "-+ is not feasible")
	_, err = a.Neighbours(s)
	require.ErrorContains(t, err, "-+ is not feasible")
	require.Panics(t, func() { _, _, _ = a.Feasible(s.Flip(0).Flip(7)) })
	require.Panics(t, func() { _, _ = a.Facets(regions.Signs{}) })
}
