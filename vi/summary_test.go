package vi

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/vitest"
)

// Each number is the one that the posterior gives when asked for it alone.
func TestSummaryLatents(t *testing.T) {
	t.Parallel()
	p := posteriorOf(t).known() // it keeps its draws
	s := p.Summary()
	require.Len(t, s.Latents, 5)
	for i, name := range p.Density.Latents() {
		want := LatentSummary{Name: name}
		var err error
		want.Mean, err = p.Mean(name)
		require.NoError(t, err)
		want.SD, err = p.SD(name)
		require.NoError(t, err)
		for prob, q := range map[float64]*Estimate{0.05: &want.Q5, 0.5: &want.Q50, 0.95: &want.Q95} {
			*q, err = p.Quantile(name, prob)
			require.NoError(t, err)
		}
		require.Equal(t, want, s.Latents[i])
	}
}

func TestSummaryGuards(t *testing.T) {
	t.Parallel()
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(0, 1))
	r := m.Sample("r", graph.Gamma(2, 1))
	u := m.Sample("u", graph.Uniform(-1, 3))
	var guards []graph.Guard // in the order of the rows
	add := func(gs ...graph.Guard) { guards = append(guards, gs...) }
	add(m.Name("up", graph.Greater(x, 0.5)), m.Name("up", graph.Less(y, 0)), m.Name("up", graph.Greater(r, 2)))
	add(m.Name("down", graph.Less(graph.Mul(-2, u), -2))) // u > 1
	add(m.Name("both", graph.And(guards[0], guards[1])))
	add(m.Name("sure", graph.Greater(r, -1)))
	add(m.Name("flat", graph.Not(graph.Greater(graph.Add(x, y), 2))))
	graph.Less(x, 0.5) // the other side of up[0]
	for range 2 {
		g := graph.Less(graph.Sub(y, x), 3) // without a name, in a loop
		if len(guards) == 7 {
			add(g)
		}
	}
	p := &Posterior{Density: mustCompile(t, m), Q: family.Independent([]float64{0.3, -0.2, 0.4, 0.6}, []float64{0.8, 1.3, 0.5, 1.1})}
	p = p.known()
	s := p.Summary()

	want := []GuardSummary{
		{Name: "up[0]", Condition: "x > 0.5"},
		{Name: "up[1]", Condition: "y < 0"},
		{Name: "up[2]", Condition: "r > 2"},
		{Name: "down", Condition: "u > 1"},
		{Name: "both"},
		{Name: "sure", Prob: Estimate{Value: 1}},
		{Name: "flat", Condition: "x + y < 2"},
		{Name: "summary_test.go:", Condition: "x - y > -3"},
	}
	require.Len(t, s.Guards, len(want))
	for i, g := range s.Guards {
		require.Equal(t, want[i].Condition, g.Condition)
		require.True(t, strings.HasPrefix(g.Name, want[i].Name), g.Name)
		prob, err := p.Prob(guards[i])
		require.NoError(t, err)
		require.Equal(t, prob, g.Prob, g.Name)
	}
	require.Equal(t, Estimate{Value: 1}, s.Guards[5].Prob)
}

func TestSummaryOf(t *testing.T) {
	s := Summary{
		Latents: []LatentSummary{{Name: "a"}, {Name: "theta[0]"}, {Name: "theta[1]"}, {Name: "thetas"}},
		Guards:  []GuardSummary{{Name: "on[0]"}, {Name: "on[1]"}, {Name: "main.go:12"}},
	}
	for _, c := range []struct{ ask, want string }{
		{"a", "a"},
		{"theta", "theta[0] theta[1]"},
		{"theta[1] a", "a theta[1]"},
		{"on[1] a", "a on[1]"},
		{"on main.go:12", "on[0] on[1] main.go:12"},
		{"", ""},
	} {
		got, err := s.Of(strings.Fields(c.ask)...)
		require.NoError(t, err, c.ask)
		var names []string
		for _, l := range got.Latents {
			names = append(names, l.Name)
		}
		for _, g := range got.Guards {
			names = append(names, g.Name)
		}
		require.Equal(t, c.want, strings.Join(names, " "))
	}
	s.ELBO, s.Warnings = Estimate{Value: -1, SE: 0.1}, []string{"careful"}
	got, err := s.Of("a")
	require.NoError(t, err)
	require.Equal(t, s.ELBO, got.ELBO)
	require.Equal(t, s.Warnings, got.Warnings)
	_, err = s.Of("a", "nobody")
	require.ErrorContains(t, err, `"nobody"`)
	_, err = s.Of("thet")
	require.Error(t, err)
}

// Names of other scripts and with marks line up as a terminal shows them.
func TestSummaryString(t *testing.T) {
	row := func(name string, mean, sd float64) LatentSummary {
		at := func(x float64) Estimate { return Estimate{Value: x, SE: 0.0042 * sd} }
		return LatentSummary{Name: name, Mean: at(mean), SD: at(sd), Q5: at(mean - 2*sd), Q50: at(mean), Q95: at(mean + 2*sd)}
	}
	s := Summary{
		ELBO:     Estimate{Value: -12.34567, SE: 0.04},
		Warnings: []string{"not settled", "misleading"},
		Latents:  []LatentSummary{row("μ", 6.54321, 0.21), row("θ\u0302[10]", -1234.5, 96), row("温度", 0.5, 1.5e-4)},
		Guards:   []GuardSummary{{"on[0]", "μ > 6", Estimate{Value: 0.98765}}, {"main.go:7", "θ\u0302[10] - μ < 0", Estimate{Value: 1 - 1e-9}}, {"", "", Estimate{}}},
	}
	require.Equal(t, strings.Join([]string{
		"ELBO -12.3457 ± 0.04 nats",
		"warning: not settled",
		"warning: misleading",
		"",
		"latent     mean    ± se       sd       5%      50%      95%",
		"μ          6.54  0.0009     0.21     6.12     6.54     6.96",
		"θ\u0302[10]     -1234     0.4       96    -1426    -1234    -1042",
		"温度    0.50000   6e-07  0.00015  0.49970  0.50000  0.50030",
		"",
		"guard      holds where    probability",
		"on[0]      μ > 6                0.988",
		"main.go:7  θ\u0302[10] - μ < 0       >0.999",
		"                                0.000",
		"",
	}, "\n"), s.String())
	require.Empty(t, Summary{}.String())
}

// What is known of the whole stands first, then the cells, if there are several, of
// which there are ten.
func TestSummaryTextOfCells(t *testing.T) {
	s := Summary{
		ELBO: Estimate{Value: -12.34567, SE: 0.04}, LogEvidence: Estimate{Value: -12.3, SE: 0.01},
		Verdict:  Verdict{Trust: TrustFit, Reasons: []string{"even weights"}},
		Warnings: []string{"not settled"},
		Cells:    []Cell{{"x > 0", 0.75, Estimate{Value: -12.63338, SE: 0.001}, Estimate{Value: -12.6, SE: 0.02}, 0.12}, {"x < 0", 0.25, Estimate{Value: -14}, Estimate{Value: -13.7, SE: 0.1}, 1.5}},
		Tried:    7, Left: 0.002,
		Latents: []LatentSummary{{Name: "x", Mean: Estimate{Value: 1, SE: 0.0123}, SD: Estimate{Value: 0.5}, Q5: Estimate{}, Q50: Estimate{Value: 1}, Q95: Estimate{Value: 2}}},
	}
	require.Equal(t, strings.Join([]string{
		"ELBO -12.3457 ± 0.04 nats",
		"log evidence -12.3 ± 0.01 nats",
		"verdict: trust: even weights",
		"warning: not settled",
		"",
		"cell   weight     ELBO    log evidence",
		"x > 0   0.750  -12.633  -12.600 ± 0.02",
		"x < 0   0.250  -14.000   -13.700 ± 0.1",
		"7 cells tried, 0.002 of the posterior left out",
		"",
		"latent  mean  ± se    sd    5%   50%   95%",
		"x       1.00  0.01  0.50  0.00  1.00  2.00",
		"",
	}, "\n"), s.String())
	one := s
	one.Cells = one.Cells[:1]
	require.NotContains(t, one.String(), "cell")
	for range 20 {
		s.Cells = append(s.Cells, Cell{Where: "elsewhere", Weight: 1e-5})
	}
	require.Equal(t, 8, strings.Count(s.String(), "elsewhere"))
	require.Contains(t, s.String(), "and 12 more, of weight <0.001")
	some, err := s.Of("x")
	require.NoError(t, err)
	require.Equal(t, s, some)
}

// A summary has the verdict. Of a Q that is too wide its numbers are the posterior's.
func TestSummaryVerdict(t *testing.T) {
	d := small(t, "x", 1, 0, 0, 3)
	for scale, want := range map[float64]Trust{1: TrustFit, 1.4: TrustFit, 0.2: TrustNothing} {
		p := &Posterior{Density: d, Q: family.Independent([]float64{0.375}, []float64{0.5 * scale})}
		s := p.Summary()
		require.Equal(t, want, s.Verdict.Trust, s.Verdict)
		require.Contains(t, s.String(), "\nverdict: "+string(want)+": ")
		if want != TrustNothing { // 3 observations 0.5 ± 1 and the prior
			exact := -1.5*math.Log(2*math.Pi) - math.Log(4)/2 - 0.5*(3*0.25-4*0.375*0.375)
			require.InDelta(t, exact, s.LogEvidence.Value, 5*s.LogEvidence.SE+1e-12)
		}
		if want == TrustFit {
			require.Empty(t, s.Warnings)
		} else {
			require.Equal(t, []string{s.Verdict.String()}, s.Warnings)
			require.NotContains(t, s.String(), "warning") // it is there as the verdict
		}
		if want == TrustFit {
			vitest.Estimate(t, "mean", 0.375, s.Latents[0].Mean, 0.05)
			vitest.Estimate(t, "sd", 0.5, s.Latents[0].SD, 0.05)
		}
	}
}

// Comparisons without a name are in the order of the program, and those of one
// latent with numbers together, from the lowest to the highest.
func TestSummaryGuardsAlongLatents(t *testing.T) {
	m := graph.NewModel()
	x, y, r := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1)), m.Sample("r", graph.Gamma(2, 1))
	graph.Greater(x, 3)
	graph.Less(y, 1)
	graph.Less(x, -7)
	graph.Greater(graph.Add(x, y), 2)
	graph.Greater(r, 5)
	graph.Greater(x, 0.5)
	graph.Less(graph.Add(x, y), -2)
	graph.Greater(r, 0.25)
	p := &Posterior{Density: mustCompile(t, m), Q: family.Independent([]float64{0, 0, 0}, []float64{1, 1, 1})}
	var got []string
	for _, g := range p.Summary().Guards {
		got = append(got, g.Condition)
	}
	require.Equal(t, []string{"x < -7", "x > 0.5", "x > 3", "y < 1", "x + y < -2", "x + y > 2", "r > 0.25", "r > 5"}, got)
}

// Guards of one place are a row each up to a dozen, and else one: of 111 data there is no table of 111 rows.
func TestSummaryGroupsGuards(t *testing.T) {
	t.Parallel()
	for n, rows := range map[int]int{12: 12, 111: 1} {
		m := graph.NewModel()
		when := m.Sample("when", graph.Uniform(0, float64(n)))
		for k := range n {
			m.Observe("y", graph.Normal(graph.If(graph.Less(when, float64(k)+0.5), 1, 0), 1), 0.5)
		}
		s := (&Posterior{Density: mustCompile(t, m), Q: family.Independent([]float64{0}, []float64{1})}).Summary()
		require.Len(t, s.Guards, n)
		require.Equal(t, rows, strings.Count(s.String(), "summary_test.go:"), n)
	}
}
