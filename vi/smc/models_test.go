package smc_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
)

// columns are those of a file in testdata, by name.
func columns(t testing.TB, file string) map[string][]float64 {
	f, err := os.Open("testdata/" + file)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	data := map[string][]float64{}
	for _, row := range rows[1:] {
		for k, name := range rows[0] {
			x, err := strconv.ParseFloat(row[k], 64)
			require.NoError(t, err)
			data[name] = append(data[name], x)
		}
	}
	return data
}

// A reference is the mean, the standard deviation and the Monte Carlo error of a latent in one long run of JAGS 4; see testdata.
type reference struct {
	latent       string
	mean, sd, se float64
}

type trial struct {
	name       string
	build      func(t testing.TB, m *graph.Model)
	references []reference
}

var trials = []trial{
	{"schools", schools(false), []reference{{"tau", 3.592, 3.212, .016}}},
	{"schools centred", schools(true), []reference{{"tau", 3.592, 3.212, .016}}},
	{"ranking", ranking, []reference{{"noise[0]", .412, .851, .005}, {"noise[4]", .939, .805, .006}, {"noise[8]", .171, .912, .005}}},
	{"chick", chick, []reference{{"a", 3.81085, .01193, .00024}, {"b", .7511, .0314, .0020}, {"s", .10734, .00354, .00003}, {"sa", .0594, .0135, .0003}, {"sb", .2036, .0224, .0002}}},
	{"bacteria", bacteria, []reference{{"a", 3.5606, .6814, .0056}, {"drug", -.9949, .6256, .0039}, {"tau", 1.4613, .4519, .0042}, {"u[0]", .6117, 1.2806, .0055}}},
	{"epil", epil, []reference{{"tau", .5498, .0661, .0004}, {"trt", -.3086, .1604, .0019}, {"u[0]", .1361, .2802, .0023}}},
	{"nile", nile(false), []reference{{"level[0]", 11.055, .738, .006}, {"level[1]", 11.070, .670, .006}, {"level[8]", 11.334, .711, .010}}},
	{"nile by switches", nile(true), []reference{{"level[0]", 11.055, .738, .006}, {"level[1]", 11.070, .670, .006}, {"level[8]", 11.334, .711, .010}}},
	{"horseshoe", horseshoe, nil},
	{"utilities", utilities, nil},
	{"galaxies", galaxies, nil},
}

func schools(centred bool) func(t testing.TB, m *graph.Model) {
	return func(_ testing.TB, m *graph.Model) {
		y, sigma := []float64{28, 8, -3, 7, -1, 1, 18, 12}, []float64{15, 10, 16, 11, 9, 11, 10, 18}
		mu, tau := m.Sample("mu", graph.Normal(0, 5)), m.Sample("tau", graph.HalfCauchy(5))
		for k := range y {
			var theta graph.Expr
			if centred {
				theta = m.Sample(fmt.Sprintf("theta[%d]", k), graph.Normal(mu, tau))
			} else {
				theta = graph.Add(mu, graph.Mul(tau, m.Sample(fmt.Sprintf("eta[%d]", k), graph.Normal(0, 1))))
			}
			m.Observe("y", graph.Normal(theta, sigma[k]), y[k])
		}
	}
}

func ranking(_ testing.TB, m *graph.Model) {
	skill, noise := m.SampleN("skill", 10, graph.Normal(0, 1)), m.SampleN("noise", 20, graph.Normal(0, 1))
	games := [20][2]int{{0, 1}, {0, 2}, {1, 2}, {0, 3}, {3, 1}, {2, 4}, {4, 3}, {5, 4}, {0, 5}, {1, 5}, {6, 5}, {2, 6}, {7, 6}, {3, 7}, {8, 7}, {7, 9}, {8, 9}, {1, 8}, {0, 9}, {4, 9}}
	for k, g := range games {
		m.Observe("wins", graph.Bernoulli(graph.If(graph.Greater(graph.Add(skill[g[0]], noise[k]), skill[g[1]]), 0.99, 0.01)), 1)
	}
}

func chick(t testing.TB, m *graph.Model) {
	c := columns(t, "chick.csv")
	a, b := m.Sample("a", graph.Normal(4, 1)), m.Sample("b", graph.Normal(0, 1))
	sa, sb, s := m.Sample("sa", graph.HalfNormal(1)), m.Sample("sb", graph.HalfNormal(.2)), m.Sample("s", graph.HalfNormal(.5))
	u, v := m.SampleN("u", 50, graph.Normal(0, sa)), m.SampleN("v", 50, graph.Normal(0, sb))
	for k, w := range c["weight"] {
		i := int(c["Chick"][k]) - 1
		m.Observe("log weight", graph.Normal(graph.Add(graph.Add(a, u[i]), graph.Mul(graph.Add(b, v[i]), c["Time"][k]/10)), s), math.Log(w))
	}
}

func bacteria(t testing.TB, m *graph.Model) {
	c := columns(t, "bacteria.csv")
	a, drug, week := m.Sample("a", graph.Normal(0, 3)), m.Sample("drug", graph.Normal(0, 3)), m.Sample("week", graph.Normal(0, 3))
	tau := m.Sample("tau", graph.HalfNormal(2))
	number := map[float64]int{}
	for _, id := range c["id"] {
		if _, ok := number[id]; !ok {
			number[id] = len(number)
		}
	}
	u := m.SampleN("u", len(number), graph.Normal(0, tau))
	for k, y := range c["y"] {
		x := graph.Sum(a, graph.Mul(drug, c["drug"][k]), u[number[c["id"][k]]])
		if c["week"][k] > 2 {
			x = graph.Add(x, week)
		}
		m.Observe("y", graph.Bernoulli(graph.Sigmoid(x)), y)
	}
}

func epil(t testing.TB, m *graph.Model) {
	c := columns(t, "epil.csv")
	thr := m.Sample("thr", graph.Uniform(5, 60))
	a, b := m.Sample("a", graph.Normal(0, 2)), m.Sample("b", graph.Normal(0, 2))
	trt, jump, v4 := m.Sample("trt", graph.Normal(0, 1)), m.Sample("jump", graph.Normal(0, 1)), m.Sample("v4", graph.Normal(0, 1))
	tau := m.Sample("tau", graph.HalfNormal(1))
	u := m.SampleN("u", 59, graph.Normal(0, tau))
	for k, y := range c["y"] {
		base := c["base"][k]
		x := graph.Sum(a, graph.Mul(b, math.Log(base/4)), graph.Mul(trt, c["trt"][k]), graph.Mul(v4, c["V4"][k]), u[int(c["subject"][k])-1],
			graph.If(graph.Greater(base, thr), jump, 0))
		m.Observe("y", graph.Poisson(graph.Exp(x)), y)
	}
}

func nile(switches bool) func(t testing.TB, m *graph.Model) {
	return func(t testing.TB, m *graph.Model) {
		c := columns(t, "nile.csv")["y"][:50]
		sl, so := m.Sample("sl", graph.HalfNormal(.5)), m.Sample("so", graph.HalfNormal(2))
		p := m.Sample("p", graph.Beta(1, 19))
		level := m.Sample("level[0]", graph.Normal(10, 3))
		for k, y := range c {
			if k > 0 {
				level = m.Sample(fmt.Sprintf("level[%d]", k), graph.Normal(level, sl))
			}
			if switches {
				out := m.Sample(fmt.Sprintf("out[%d]", k), graph.Bernoulli(p))
				m.Observe("y", graph.Normal(level, graph.Mul(so, graph.Switch(out, 1, 5))), y/100)
			} else {
				m.Observe("y", graph.Mixture([]graph.Expr{graph.Sub(1, p), p}, graph.Normal(level, so), graph.Normal(level, graph.Mul(5, so))), y/100)
			}
		}
	}
}

func horseshoe(t testing.TB, m *graph.Model) {
	c := columns(t, "birthwt.csv")
	a, tau := m.Sample("a", graph.Normal(0, 3)), m.Sample("tau", graph.HalfCauchy(1))
	var beta []graph.Expr
	var xs [][]float64
	for _, name := range []string{"age", "lwt", "smoke", "ptl", "ht", "ui", "ftv"} {
		lambda := m.Sample("lambda "+name, graph.HalfCauchy(1))
		beta = append(beta, graph.Mul(graph.Mul(tau, lambda), m.Sample("e "+name, graph.Normal(0, 1))))
		x := c[name]
		mean, sd := stat.MeanStdDev(x, nil)
		for k := range x {
			x[k] = (x[k] - mean) / sd
		}
		xs = append(xs, x)
	}
	for k, y := range c["low"] {
		x := a
		for j, b := range beta {
			x = graph.Add(x, graph.Mul(b, xs[j][k]))
		}
		m.Observe("low", graph.Bernoulli(graph.Sigmoid(x)), y)
	}
}

// utilities is a probit regression whose utilities are latents.
func utilities(t testing.TB, m *graph.Model) {
	c := columns(t, "utilities.csv")
	w := m.SampleN("w", 3, graph.Normal(0, 1))
	for k, y := range c["y"] {
		u := m.Sample(fmt.Sprintf("u[%d]", k), graph.Normal(graph.Sum(w[0], graph.Mul(w[1], c["x0"][k]), graph.Mul(w[2], c["x1"][k])), 1))
		m.Observe("y", graph.Bernoulli(graph.If(graph.Greater(u, 0), .99, .01)), y)
	}
}

func galaxies(t testing.TB, m *graph.Model) {
	mu := m.SampleVector("mu", graph.Ordered(3, graph.Normal(20, 10)))
	sd := m.SampleN("sd", 3, graph.HalfNormal(5))
	share := m.SampleVector("share", graph.Dirichlet(1, 1, 1))
	for _, v := range columns(t, "galaxies.csv")["v"] {
		m.Observe("v", graph.Mixture(share, graph.Normal(mu[0], sd[0]), graph.Normal(mu[1], sd[1]), graph.Normal(mu[2], sd[2])), v)
	}
}

func rng(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 1)) }
