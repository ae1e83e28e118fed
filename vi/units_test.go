package vi

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
)

// unitModels are models with real latents whose data and priors are in a unit
// that is 1/c of another.
var unitModels = map[string]func(m *graph.Model, c float64){
	"normal": func(m *graph.Model, c float64) {
		price := m.Sample("price", graph.Normal(3*c, 5*c))
		for _, y := range unitData {
			m.Observe("y", graph.Normal(price, 2*c), y*c)
		}
	},
	"hierarchy": func(m *graph.Model, c float64) {
		top := m.Sample("top", graph.Normal(3*c, 5*c))
		for i, y := range unitData {
			group := m.Sample(fmt.Sprintf("group[%d]", i), graph.Normal(top, 2*c))
			m.Observe("y", graph.Normal(group, 0.5*c), y*c)
		}
	},
	"change": func(m *graph.Model, c float64) {
		when := m.Sample("when", graph.Normal(4*c, 3*c))
		before, after := m.Sample("before", graph.Normal(0, 4*c)), m.Sample("after", graph.Normal(0, 4*c))
		for i, y := range unitData {
			level := graph.If(graph.Greater(float64(i)*c, when), after, before)
			m.Observe("y", graph.Normal(level, c), y*c)
		}
	},
	"memberships": func(m *graph.Model, c float64) {
		low, high := m.Sample("low", graph.Normal(0, 4*c)), m.Sample("high", graph.Normal(4*c, 4*c))
		for i, y := range unitData {
			k := m.Sample(fmt.Sprintf("k[%d]", i), graph.Bernoulli(0.4))
			m.Observe("y", graph.Normal(graph.Switch(k, low, high), c), y*c)
		}
	},
	"plates": func(m *graph.Model, c float64) {
		spread := 2 * c
		low, rise := m.Sample("low", graph.Normal(0, 4*c)), m.Sample("rise", graph.Normal(3*c, 2*c))
		scaled := make([]float64, len(unitData))
		for i, y := range unitData {
			scaled[i] = y * c
		}
		m.Plate(len(scaled), func(p *graph.Plate) {
			level := p.Sample("level", graph.Normal(low, spread))
			above := graph.Greater(graph.Add(level, rise), graph.Mul(2, low))
			p.Observe("y", graph.Normal(graph.If(above, graph.Add(level, rise), level), 0.5*c), scaled)
		})
		m.Factor(graph.If(graph.Greater(rise, low), graph.Div(low, 10*c), -1))
	},
	"hierarchy with guards": func(m *graph.Model, c float64) {
		top := m.Sample("top", graph.Normal(3*c, 5*c))
		var before graph.Expr = top
		for i, y := range unitData {
			level := m.Sample(fmt.Sprintf("level[%d]", i), graph.Normal(graph.If(graph.Greater(before, top), top, before), 2*c))
			m.Observe("y", graph.Normal(level, 0.5*c), y*c)
			m.Factor(graph.If(graph.Greater(graph.Add(level, before), graph.Mul(1.5, top)), 0.25, -0.5))
			before = level
		}
	},
}

var unitData = []float64{1.1, 0.3, 0.7, 1.9, 5.2, 6.1, 4.8, 5.5}

// In units 2ᵏ times as small every fit is 2ᵏ times as large, to the last bit:
// means, scales and factors U; regression coefficients B and logits of masses have no unit. The paper's
// steps, which are absolute, fail the same test.
func TestFitHasNoUnits(t *testing.T) {
	long.Skip(t)
	powers := long.Few([]int{-20, 10}, []int{-20, -10, 10, 20})
	for name, build := range unitModels {
		for _, f := range allFamilies {
			if r, ok := f.(family.LowRank); ok && name == "normal" {
				r.Rank = 1
				f = r
			}
			t.Run(name+", "+f.Name(), func(t *testing.T) {
				fit := func(c float64, s Settings) *Posterior {
					m := graph.NewModel()
					build(m, c)
					s.climb().Family, s.Seed, s.climb().StartDraws = f, *seed, 30
					p, err := Fit(context.Background(), mustCompile(t, m), s)
					require.NoError(t, err)
					return p
				}
				for i, s := range []Settings{{Method: Climb{Steps: 60, Restarts: 2}}, {Method: Climb{Steps: 400, Stop: Automatic}}} {
					want := fit(1, s)
					for j, k := range powers {
						if len(powers) > 1 && i != (j+j/2)%2 {
							continue // a power for each, or two of either sign with -exhaustive
						}
						got := fit(math.Ldexp(1, k), s)
						if f == (family.Softplus{}) {
							require.NotEqual(t, inUnits(want.Q, k), got.Q.Theta(), "inconclusive: absolute steps have no units")
							continue
						}
						require.Equal(t, inUnits(want.Q, k), got.Q.Theta(), "2 to the power of %d", k)
						require.Equal(t, inUnits(want.Restarts[0].Start, k), got.Restarts[0].Start.Theta())
						require.Equal(t, want.Steps, got.Steps)
						require.Equal(t, want.Warnings, got.Warnings)
						shift := float64(len(unitData)*k) * math.Ln2 // of the data's log density
						require.InDelta(t, want.Restarts[0].ELBO.Value-shift, got.Restarts[0].ELBO.Value, 1e-9)
					}
				}
			})
		}
	}
}

// The default fit has no units either: in other units there are the same cells, with the same weights, means and
// scales but for rounding. Bits are not the same: log densities, which weigh draws, depend on the units.
func TestCellsHaveNoUnits(t *testing.T) {
	long.Skip(t)                                                                    // TestUnits is of climbs
	for _, name := range []string{"normal", "hierarchy", "change", "memberships"} { // others take seconds
		t.Run(name, func(t *testing.T) {
			fit := func(c float64) *Posterior {
				m := graph.NewModel()
				unitModels[name](m, c)
				p, err := Fit(context.Background(), mustCompile(t, m), Settings{Seed: *seed})
				require.NoError(t, err)
				require.Equal(t, mixture.Cells{}, p.Q.Family())
				return p
			}
			want := fit(1)
			for _, k := range []int{-20, 10} {
				got := fit(math.Ldexp(1, k))
				require.Equal(t, want.findings.Verdict.Trust, got.findings.Verdict.Trust)
				require.Len(t, got.Cells(), len(want.Cells()))
				for i, c := range want.Cells() {
					require.InDelta(t, c.Weight, got.Cells()[i].Weight, 1e-9)
				}
				for i := range want.Q.Dim() {
					unit := math.Ldexp(1, k)
					if values, _ := want.Density.Values(i); values != nil {
						unit = 1
					}
					require.InDelta(t, want.Q.Mean(i), got.Q.Mean(i)/unit, 1e-9*want.Q.SD(i))
					require.InEpsilon(t, want.Q.SD(i), got.Q.SD(i)/unit, 1e-9)
				}
			}
		})
	}
}

// inUnits is θ where all latents that are not discrete are times 2ᵏ.
func inUnits(q family.Q, k int) (theta []float64) {
	for i, x := range q.Theta() {
		if symbol := q.Param(i).Symbol; symbol != "B" && symbol != "η" {
			x = math.Ldexp(x, k)
		}
		theta = append(theta, x)
	}
	return theta
}
