package mixture

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
)

var seed = flag.Uint64("seed", 1, "seed of the statistical tests")

// program is a family.Program in which each second latent depends on the one before.
type program int

func (p program) Dim() int                            { return int(p) }
func (p program) Params() int                         { return 0 }
func (p program) Values(int) (values, cuts []float64) { return nil, nil }

func (p program) Latents() (names []string) {
	for i := range int(p) {
		names = append(names, fmt.Sprintf("z%d", i))
	}
	return names
}

func (p program) Parents() [][]int {
	parents := make([][]int, p)
	for i := 1; i < int(p); i += 2 {
		parents[i] = []int{i - 1}
	}
	return parents
}

func families(dim int) []family.Family {
	return []family.Family{family.Softplus{}, family.MeanField{}, family.Structured{}, family.FullRank{}, family.LowRank{Rank: 1 + dim/2}}
}

// randomMember is a member at random parameters.
func randomMember(t testing.TB, f family.Family, p family.Program, rng *rand.Rand) family.Q {
	t.Helper()
	q, err := f.New(p)
	require.NoError(t, err)
	theta := make([]float64, len(q.Theta()))
	for k := range theta {
		if theta[k] = 0.6 * rng.NormFloat64(); k < 2*p.Dim() && k%2 == 1 && f != (family.Softplus{}) {
			theta[k] = 0.3 + rng.Float64()
		}
	}
	q.Set(theta)
	return q
}

// axis is the form z_i.
func axis(i int) regions.Hyperplane { return regions.Hyperplane{Index: []int{i}, Coef: []float64{1}} }

// above is the side a·z + c > 0, in the latents where a is not 0; below the other.
func above(c float64, a ...float64) family.Side {
	s := family.Side{Hyperplane: regions.Hyperplane{Const: c}, Positive: true}
	for i, x := range a {
		if x != 0 {
			s.Index, s.Coef = append(s.Index, i), append(s.Coef, x)
		}
	}
	return s
}

func below(c float64, a ...float64) family.Side {
	s := above(c, a...)
	s.Positive = false
	return s
}

func confine(t testing.TB, parents [][]int, theta []float64, sides ...family.Side) family.Q {
	t.Helper()
	q, soft, err := family.Sequential(parents).Confine(sides)
	require.NoError(t, err)
	require.Empty(t, soft)
	q.Set(theta)
	require.Negative(t, q.Fault())
	return q
}
