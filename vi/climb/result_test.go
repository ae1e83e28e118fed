package climb

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi/mc"
)

func TestBetter(t *testing.T) {
	ok := func(elbo float64) Restart { return Restart{ELBO: mc.Estimate{Value: elbo}} }
	failed := func(elbo float64) Restart { return Restart{ELBO: mc.Estimate{Value: elbo}, Err: "broken"} }
	order := []Restart{ok(2), ok(1), ok(math.Inf(-1)), ok(math.NaN()), failed(3), failed(1), failed(math.NaN())}
	for i, a := range order {
		for j, b := range order {
			require.Equal(t, i < j, better(a, b), "%v, %v", a.ELBO, b.ELBO)
		}
	}
}
