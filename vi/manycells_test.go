//go:build long

package vi

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/cputime"
)

// manyCells is a posterior in 2¹² cells of about the same weight, one for each way of 12 guards, with other latents that make each cost more: a fit
// of some seconds in each of its parts.
func manyCells(t testing.TB) *graph.Density {
	const guards, others = 12, 4
	m := graph.NewModel()
	var sum graph.Expr
	for k, z := range m.SampleN("z", guards+others, graph.Normal(0, 1)) {
		sum = graph.Add(sum, graph.Tanh(z))
		if k < guards {
			m.Observe("y", graph.Normal(graph.If(graph.Greater(z, 0), graph.Mul(2, z), graph.Add(graph.Mul(-2, z), 0.1)), 0.3), 2)
			continue
		}
		m.Observe("x", graph.Normal(sum, 3), 1)
	}
	return mustCompile(t, m)
}

// A budget of CPU time is kept where there are many cells, for each part of a fit: the fit takes a fraction of a second more.
func TestBudgetIsKept(t *testing.T) {
	d := manyCells(t)
	for _, budget := range []time.Duration{time.Second, 3 * time.Second} {
		began := cputime.Seconds()
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Cells{Alone: true}, Budget: budget})
		require.NoError(t, err)
		took := cputime.Seconds() - began
		t.Logf("%.2f CPU seconds of %v", took, budget)
		require.Contains(t, strings.Join(p.Warnings, "; "), "Settings.Budget", "it was long enough")
		require.Less(t, took, 1.3*budget.Seconds()+0.5)
	}
}

// A context ends a fit of many cells while it searches, while it judges them, and while it puts them together.
func TestContextEndsManyCells(t *testing.T) {
	d := manyCells(t)
	s := Settings{Seed: *seed, Method: Cells{Alone: true}}
	began := time.Now()
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	whole := time.Since(began)
	require.Greater(t, len(p.Cells()), 2000)
	for _, part := range []float64{0.2, 0.45, 0.75} {
		for tries := 0; ; tries++ {
			after := time.Duration(part * float64(whole))
			ctx, stop := context.WithTimeout(context.Background(), after)
			began := time.Now()
			_, err := Fit(ctx, d, s)
			took := time.Since(began)
			stop()
			require.Less(t, took-after, whole/6) // a quarter is left where it ends latest
			if err == nil {                      // the machine has got faster
				require.Less(t, tries, 4, "inconclusive")
				whole = took
				continue
			}
			require.ErrorIs(t, err, context.DeadlineExceeded)
			t.Logf("after %.2f of %v, stopped %v later", part, whole.Round(time.Millisecond), took-after)
			break
		}
	}
}
