package vi

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// schools is the hierarchy of eight schools, not centred.
func schools(t testing.TB) *graph.Density {
	m := graph.NewModel()
	mu, tau := m.Sample("mu", graph.Normal(0, 5)), m.Sample("tau", graph.HalfCauchy(5))
	off := m.SampleN("off", 8, graph.Normal(0, 1))
	for i, y := range []float64{28, 8, -3, 7, -1, 1, 18, 12} {
		m.Observe("effect", graph.Normal(graph.Add(mu, graph.Mul(tau, off[i])), []float64{15, 10, 16, 11, 9, 11, 10, 18}[i]), y)
	}
	return mustCompile(t, m)
}

// islands are the tools of ten islands by the logarithm of their populations, standardised, and by contact (McElreath, Statistical
// Rethinking, 2nd edition, models m11.9 and m11.10).
func islands(t testing.TB, full bool) *graph.Density {
	people := []float64{1100, 1500, 3600, 4791, 7400, 8000, 9200, 13000, 17500, 275000}
	contact := []int{0, 0, 0, 1, 1, 1, 1, 0, 1, 0}
	mean, sd := 0.0, 0.0
	for _, n := range people {
		mean += math.Log(n) / 10
	}
	for _, n := range people {
		sd += math.Pow(math.Log(n)-mean, 2) / 9
	}
	m := graph.NewModel()
	level, slope := m.SampleN("a", 2, graph.Normal(3, 0.5)), m.SampleN("b", 2, graph.Normal(0, 0.2))
	for i, tools := range []float64{13, 22, 24, 43, 33, 19, 40, 28, 55, 71} {
		log := level[0]
		if full {
			log = graph.Add(level[contact[i]], graph.Mul(slope[contact[i]], (math.Log(people[i])-mean)/math.Sqrt(sd)))
		}
		m.Observe("tools", graph.Poisson(graph.Exp(log)), tools)
	}
	return mustCompile(t, m)
}

func looOf(t testing.TB, d *graph.Density) LOO {
	p, err := Fit(context.Background(), d, Settings{Seed: *seed})
	require.NoError(t, err)
	r, err := p.LOO()
	require.NoError(t, err)
	return r
}

// By draws of facet and of JAGS leave-one-out is the same, observation by observation, within the Monte Carlo errors of both. Those of the islands,
// of which two have a k-hat above 0.7, are known to half a nat there. Published are −30.78 ± 1.35 for the schools (documentation
// of ArviZ, which divides by 8 in the error) and deviances of 85.2 to 86.7 and 141.1 to 141.9 for the islands (Statistical Rethinking
// and those who follow it), each by some thousand draws.
func TestLOOByJAGS(t *testing.T) {
	long.Skip(t)
	want, all := byJAGS(t), map[string]LOO{}
	for name, d := range map[string]*graph.Density{"schools": schools(t), "islands": islands(t, true), "plain": islands(t, false)} {
		r, w := looOf(t, d), want[name]
		all[name] = r
		for i, p := range r.Points {
			require.InDelta(t, w.Pointwise[i], p.ELPD.Value, 5*math.Hypot(p.ELPD.SE, w.PointwiseSE[i]), "%s: %s", name, p.Name)
		}
		most := 0.5
		if name != "islands" {
			require.Less(t, r.MonteCarlo, 0.1)
			most = 5 * r.MonteCarlo
		}
		t.Logf("%s: %.2f ± %.2f (Monte Carlo %.3f), by JAGS %.2f ± %.2f", name, r.ELPD.Value, r.ELPD.SE, r.MonteCarlo, w.ELPD, w.SE)
		require.InDelta(t, w.ELPD, r.ELPD.Value, most, name)
		require.InDelta(t, w.SE, r.ELPD.SE, 0.03*w.SE, name)
	}
	difference, err := all["islands"].Minus(all["plain"])
	require.NoError(t, err)
	require.InDelta(t, want["islands"].ELPD-want["plain"].ELPD, difference.Value, 0.5)
}

// byJAGS is leave-one-out by JAGS, with standard errors of the points by its draws.
func byJAGS(t *testing.T) (want map[string]struct {
	ELPD, SE    float64
	Pointwise   []float64
	PointwiseSE []float64 `json:"pointwise_se"`
}) {
	raw, err := os.ReadFile(filepath.Join("loo", "testdata", "jags.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &want))
	return want
}

// Points by draws of the sampler, which are those of chains, are off by as much as their standard errors say: over seeds, squares of what they
// are off are 1.2 on average, in units of their variances and those of what they are compared with. Were the draws taken for
// independent ones, 2.1.
func TestLOOErrors(t *testing.T) {
	long.Skip(t)
	d, want, sum := schools(t), byJAGS(t)["schools"], 0.0
	const seeds = 24
	for k := range seeds {
		p, err := Fit(context.Background(), d, Settings{Seed: *seed + uint64(k)})
		require.NoError(t, err)
		r, err := p.LOO()
		require.NoError(t, err)
		for i, q := range r.Points {
			z := (q.ELPD.Value - want.Pointwise[i]) / math.Hypot(q.ELPD.SE, want.PointwiseSE[i])
			sum += z * z / float64(seeds*len(r.Points))
		}
	}
	t.Logf("squares %.2f", sum)
	require.Less(t, sum, 1.6)
}

// The vignette "Using the loo package" has −6247.8 ± 728.0 for a Poisson regression of roaches in 262 flats, by 4000 draws, with a k-hat above
// 0.7 for 17 of them: such draws are off by some tens. Refits without each have −6306 (a normal posterior each, and Gauss–Hermite
// quadrature), and so more draws come nearer to that.
func TestLOOOfRoaches(t *testing.T) {
	long.Skip(t)
	r := looOf(t, roaches(t))
	t.Logf("%.1f ± %.1f", r.ELPD.Value, r.ELPD.SE)
	require.InDelta(t, -6247.8, r.ELPD.Value, 40)
	require.InDelta(t, 728.0, r.ELPD.SE, 15)
	require.Greater(t, len(r.Unreliable()), 5)
}

// roaches is the vignette's program: the priors are those of rstanarm's stan_glm.
func roaches(t testing.TB) *graph.Density {
	columns := make([][]float64, 5) // y, roach1, treatment, senior, exposure2
	for _, row := range cellsOf(t, "loo", "testdata", "roaches.csv") {
		for j, x := range numbersOf(t, row) {
			columns[j] = append(columns[j], x)
		}
	}
	floats.Scale(0.01, columns[1])
	m := graph.NewModel()
	level := m.Sample("level", graph.Normal(0, 5))
	var slopes []graph.Expr
	for _, x := range columns[1:4] {
		mean, sd := stat.MeanStdDev(x, nil)
		floats.AddConst(-mean, x)
		slopes = append(slopes, m.Sample(fmt.Sprintf("slope[%d]", len(slopes)), graph.Normal(0, 2.5/sd)))
	}
	for i, y := range columns[0] {
		log := graph.Add(level, math.Log(columns[4][i]))
		for j, slope := range slopes {
			log = graph.Add(log, graph.Mul(slope, columns[j+1][i]))
		}
		m.Observe("y", graph.Poisson(graph.Exp(log)), y)
	}
	return mustCompile(t, m)
}

// Leaving out one observation of a conjugate model has a closed form, on either side of a branch too.
func TestLOOClosedForm(t *testing.T) {
	data := []float64{0.4, 1.2, -0.3, 0.9, 2.1, -0.8}
	m := graph.NewModel()
	x, at := m.Sample("x", graph.Normal(0, 1)), m.Sample("at", graph.Uniform(0, 1))
	for _, y := range data {
		m.If(graph.Less(at, 0.5), func() { m.Observe("y", graph.Normal(x, 1), y) }, func() { m.Observe("y", graph.Normal(x, 1), y) })
	}
	r := looOf(t, mustCompile(t, m))
	require.Len(t, r.Points, len(data))
	for i, y := range data {
		sum := -y
		for _, o := range data {
			sum += o
		}
		mean, variance := sum/6, 1+1./6 // given five
		want := -0.5*math.Log(2*math.Pi*variance) - 0.5*(y-mean)*(y-mean)/variance
		require.InDelta(t, want, r.Points[i].ELPD.Value, 5*r.Points[i].ELPD.SE)
		require.Less(t, r.Points[i].ELPD.SE, 0.02)
	}
	require.Equal(t, "y[3]", r.Points[3].Name)
	require.Empty(t, r.Unreliable())
}

// An observation that the model does not expect is named.
func TestLOOOutlier(t *testing.T) {
	m := graph.NewModel()
	level, slope := m.Sample("level", graph.Normal(0, 10)), m.Sample("slope", graph.Normal(0, 10))
	sd := m.Sample("sd", graph.HalfNormal(5))
	for i := range 20 {
		y := 0.3*float64(i) + math.Sin(float64(7*i))
		if i == 17 {
			y -= 25
		}
		m.Observe("y", graph.Normal(graph.Add(level, graph.Mul(slope, float64(i))), sd), y)
	}
	r := looOf(t, mustCompile(t, m))
	bad := r.Unreliable()
	require.Len(t, bad, 1)
	require.Equal(t, "y[17]", bad[0].Name)
	require.Greater(t, bad[0].K, 0.7)
	require.Contains(t, r.String(), "y[17]")
}

// An observation keeps its number where others before it are missing.
func TestLOOMissing(t *testing.T) {
	m := graph.NewModel()
	x := m.Sample("x", graph.Normal(0, 1))
	for _, y := range []float64{0.4, math.NaN(), -0.3, math.NaN(), 2.1} {
		m.Observe("y", graph.Normal(x, 1), y)
	}
	var names []string
	for _, p := range looOf(t, mustCompile(t, m)).Points {
		names = append(names, p.Name)
	}
	require.Equal(t, []string{"y[0]", "y[2]", "y[4]"}, names)
}

// Programs that observe other numbers in one branch than in another, or none, have no leave-one-out.
func TestLOORefuses(t *testing.T) {
	for want, observe := range map[string]func(m *graph.Model, x graph.Expr){
		"no observations": func(m *graph.Model, x graph.Expr) { m.Factor(graph.Mul(x, x)) },
		"other numbers": func(m *graph.Model, x graph.Expr) {
			m.If(graph.Less(x, 0), func() { m.Observe("y", graph.Normal(x, 1), 1) }, func() { m.Observe("y", graph.Normal(x, 1), 0) })
		},
		"in one branch": func(m *graph.Model, x graph.Expr) {
			m.Observe("y", graph.Normal(x, 1), 1)
			m.If(graph.Less(x, 0), func() { m.Observe("z", graph.Normal(x, 1), 1) }, nil)
		},
	} {
		m := graph.NewModel()
		observe(m, m.Sample("x", graph.Uniform(-1, 1)))
		p, err := Fit(context.Background(), mustCompile(t, m), Settings{Seed: *seed})
		require.NoError(t, err)
		_, err = p.LOO()
		require.ErrorContains(t, err, "vi: leaving out one: ")
		require.ErrorContains(t, err, want)
	}
}
