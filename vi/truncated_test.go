package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
)

// Truncated priors cost about as much as whole ones, and not a hundred times as much. BenchmarkTruncatedPriors is of more of them.
func TestTruncatedPriorsAreFast(t *testing.T) {
	long.Skip(t)
	for name, prior := range map[string]func(mean graph.Expr) graph.Dist{
		"Normal":    func(mean graph.Expr) graph.Dist { return graph.Normal(mean, 2) },
		"Gamma":     func(mean graph.Expr) graph.Dist { return graph.Gamma(2, graph.Exp(mean)) },
		"StudentsT": func(graph.Expr) graph.Dist { return graph.StudentsT(3, 1, 1) },
	} {
		var took [2]float64
		for k := range took {
			d := scales(t, func(mean graph.Expr) graph.Dist {
				if k == 0 {
					return prior(mean)
				}
				return graph.Truncated(prior(mean), 0.3, math.Inf(1))
			}, name)
			began := cputime.Seconds()
			for s := range uint64(3) {
				_, err := Fit(context.Background(), d, Settings{Seed: *seed + s})
				require.NoError(t, err)
			}
			took[k] = cputime.Seconds() - began
		}
		t.Logf("%s: %.3f CPU seconds, truncated %.3f: %.1f times", name, took[0], took[1], took[1]/took[0])
		require.Less(t, took[1], 12*took[0]+0.2, name)
	}
}
