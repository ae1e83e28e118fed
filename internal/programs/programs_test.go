//go:build long

package programs

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/internal/long"
)

func TestMain(m *testing.M) { long.Main(m) }

// All that a generator can draw is drawn: each statement, guard, operation and law.
func TestAllIsDrawn(t *testing.T) {
	drawn := map[string]int{}
	lawName := func(l Law) string { return fmt.Sprint("law ", reflect.ValueOf(l.Make).Pointer()) }
	var exprs func(list []expr)
	var guards func(list ...guard)
	exprs = func(list []expr) {
		for _, x := range list {
			drawn["expr "+x.op]++
			exprs(x.kids)
			if x.g != nil {
				guards(*x.g)
			}
		}
	}
	guards = func(list ...guard) {
		for _, g := range list {
			drawn["guard "+g.op]++
			if g.kids == nil {
				exprs([]expr{g.a, g.b})
			}
			guards(g.kids...)
		}
	}
	var block func(list []stmt)
	block = func(list []stmt) {
		for _, s := range list {
			drawn["stmt "+s.op]++
			if s.law.Make != nil {
				drawn[lawName(s.law)+map[bool]string{true: " sampled", false: ""}[s.op == "sample"]]++
			}
			exprs(s.e)
			if s.op == "if" || s.op == "name" || s.op == "require" {
				guards(s.g)
			}
			block(s.then)
			block(s.othw)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		for range 4 {
			block(Draw(t, Limits{}).body)
		}
		block(Draw(t, Limits{Require: true}).body)
	})
	require.NotContains(t, drawn, "guard ")
	for _, op := range []string{"sample", "observe", "factor", "let", "record", "name", "require", "if", "plate", "collect",
		"several", "dirichlet", "multivariate", "ordered", "observevector", "hmm"} {
		require.Positive(t, drawn["stmt "+op], op)
	}
	for _, op := range []string{"greater", "less", "equal", "not", "and", "or"} {
		require.Positive(t, drawn["guard "+op], op)
	}
	for _, op := range []string{"const", "column", "index", "var", "if"} {
		require.Positive(t, drawn["expr "+op], op)
	}
	for op := range operations {
		require.Positive(t, drawn["expr "+op], op)
	}
	for i, l := range append(fewLaws, combinedLaws...) {
		require.Positive(t, drawn[lawName(l)], "law %d", i)
		require.True(t, l.Space == Discrete || drawn[lawName(l)+" sampled"] > 0, "law %d is no prior", i)
	}
	for i, l := range discreteLaws {
		require.Positive(t, drawn[lawName(l.Law)+" sampled"], "discrete law %d", i)
	}
	t.Log(drawn)
}
