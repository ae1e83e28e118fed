//go:build long

package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/examples/paper/problem"
)

// The JSON has every field, and the boundary estimators agree with the exact
// gradient within 5 standard errors.
func TestJSON(t *testing.T) {
	for _, spec := range models.All() {
		t.Run(spec.Name, func(t *testing.T) {
			var out bytes.Buffer
			require.NoError(t, run(&out, spec.Name, 4000, 3, true, ""))
			var c comparison
			dec := json.NewDecoder(&out)
			dec.DisallowUnknownFields()
			require.NoError(t, dec.Decode(&c))
			require.Equal(t, spec.Name, c.Model)
			require.Equal(t, spec.ThetaInit, c.Theta)
			require.InDelta(t, spec.Oracle.ELBO(c.Theta), c.ELBO, 5*c.ELBOSE)
			require.Len(t, c.Estimators, len(problem.Estimators))
			rep, bou := spec.Oracle.Gradient(c.Theta)
			for _, e := range problem.Estimators {
				name := e.Name()
				s := c.Estimators[name]
				require.Len(t, s.Mean, len(c.Theta), name)
				require.Positive(t, s.AvgVar, name)
				require.Positive(t, s.NormVar, name)
				require.Positive(t, s.USPerDraw, name)
				want := func(i int) float64 { return rep[i] + bou[i] }
				if name == "reparam" {
					want = func(i int) float64 { return rep[i] }
				}
				if name == "score" || name == "boundary_single" {
					continue // too noisy at this number of draws; tested in package vi
				}
				for i := range s.Mean { // what ten draws of all would see may be in none of them
					unseen := 10.0 / 4000 * math.Abs(want(i))
					require.LessOrEqual(t, math.Abs(s.Mean[i]-want(i)), 5*s.SE[i]+unseen, "%s, component %d", name, i)
				}
			}
		})
	}
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	page := filepath.Join(t.TempDir(), "estimators.html")
	require.NoError(t, run(&out, "textmsg", 100, 1, false, page))
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, e := range problem.Estimators {
		require.Contains(t, out.String(), "\n"+e.Name()+" ")
		require.Contains(t, string(html), `<td class="t">`+e.Name()+"</td>")
	}
	require.Contains(t, string(html), "textmsg at its initial θ: ELBO")
}

func TestWrong(t *testing.T) {
	var out bytes.Buffer
	require.EqualError(t, run(&out, "weather", 100, 1, false, ""), `models: no model "weather"; there are proposition, temperature, textmsg, influenza`)
	require.Error(t, run(&out, "textmsg", 1, 1, false, ""))
	require.Empty(t, out.String())
}
