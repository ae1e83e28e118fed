package trials

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
)

// The models are those that users of other samplers begin with.

func schools(centred bool) func(m *graph.Model) {
	return func(m *graph.Model) {
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

func ranking(m *graph.Model) {
	skill, noise := m.SampleN("skill", 10, graph.Normal(0, 1)), m.SampleN("noise", 20, graph.Normal(0, 1))
	games := [20][2]int{{0, 1}, {0, 2}, {1, 2}, {0, 3}, {3, 1}, {2, 4}, {4, 3}, {5, 4}, {0, 5}, {1, 5}, {6, 5}, {2, 6}, {7, 6}, {3, 7}, {8, 7}, {7, 9}, {8, 9}, {1, 8}, {0, 9}, {4, 9}}
	for k, g := range games {
		m.Observe("wins", graph.Bernoulli(graph.If(graph.Greater(graph.Add(skill[g[0]], noise[k]), skill[g[1]]), 0.99, 0.01)), 1)
	}
}

func chick(m *graph.Model) {
	c := columns("chick")
	a, b := m.Sample("a", graph.Normal(4, 1)), m.Sample("b", graph.Normal(0, 1))
	sa, sb, s := m.Sample("sa", graph.HalfNormal(1)), m.Sample("sb", graph.HalfNormal(.2)), m.Sample("s", graph.HalfNormal(.5))
	u, v := m.SampleN("u", 50, graph.Normal(0, sa)), m.SampleN("v", 50, graph.Normal(0, sb))
	for k, w := range c["weight"] {
		i := int(c["Chick"][k]) - 1
		m.Observe("log weight", graph.Normal(graph.Add(graph.Add(a, u[i]), graph.Mul(graph.Add(b, v[i]), c["Time"][k]/10)), s), math.Log(w))
	}
}

func bacteria(m *graph.Model) {
	c := columns("bacteria")
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

func epil(m *graph.Model) {
	c := columns("epil")
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

func nile(switches bool) func(m *graph.Model) {
	return func(m *graph.Model) {
		c := columns("nile")["y"][:50]
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

func horseshoe(m *graph.Model) {
	c := columns("birthwt")
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
func utilities(m *graph.Model) {
	c := columns("utilities")
	w := m.SampleN("w", 3, graph.Normal(0, 1))
	for k, y := range c["y"] {
		u := m.Sample(fmt.Sprintf("u[%d]", k), graph.Normal(graph.Sum(w[0], graph.Mul(w[1], c["x0"][k]), graph.Mul(w[2], c["x1"][k])), 1))
		m.Observe("y", graph.Bernoulli(graph.If(graph.Greater(u, 0), .99, .01)), y)
	}
}

// student is the level of nile, with Student noise.
func student(m *graph.Model) {
	sl, so := m.Sample("sl", graph.HalfNormal(.5)), m.Sample("so", graph.HalfNormal(2))
	level := m.Sample("level[0]", graph.Normal(10, 3))
	for k, y := range columns("nile")["y"][:50] {
		if k > 0 {
			level = m.Sample(fmt.Sprintf("level[%d]", k), graph.Normal(level, sl))
		}
		m.Observe("y", graph.StudentsT(level, so, 4), y/100)
	}
}
