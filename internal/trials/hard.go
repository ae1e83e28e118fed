package trials

import (
	"fmt"

	"github.com/facetvi/facet/graph"
)

// mixture is one of n normals, in the order of their means.
func mixture(n int) func(m *graph.Model) {
	return func(m *graph.Model) {
		mu := m.SampleVector("mu", graph.Ordered(n, graph.Normal(20, 10)))
		sd := m.SampleN("sd", n, graph.HalfNormal(5))
		ones, parts := make([]float64, n), make([]graph.Dist, n)
		for k := range n {
			ones[k], parts[k] = 1, graph.Normal(mu[k], sd[k])
		}
		share := m.SampleVector("share", graph.Dirichlet(ones...))
		for _, v := range columns("galaxies")["v"] {
			m.Observe("v", graph.Mixture(share, parts...), v)
		}
	}
}

// breaks are three, in a level of real interest rates.
func breaks(m *graph.Model) {
	r := columns("realint")["r"]
	at := m.SampleVector("at", graph.Ordered(3, graph.Uniform(0, float64(len(r)))))
	level := m.SampleN("level", 4, graph.Normal(0, 5))
	sd := m.Sample("sd", graph.HalfNormal(5))
	for k, y := range r {
		now := level[0]
		for j, when := range at {
			now = graph.If(graph.Greater(float64(k)+0.5, when), level[j+1], now)
		}
		m.Observe("r", graph.Normal(now, sd), y)
	}
}

// pedestrian walks home from less than 3 km away, at random; the way was 1.1 km, or that in 12 steps.
func pedestrian(m *graph.Model) {
	start := m.Sample("start", graph.Uniform(0, 3))
	steps := m.SampleN("step", 12, graph.Uniform(-1, 1))
	position, way := graph.Add(start, 0), graph.Expr{}
	out := graph.Greater(start, 0)
	for k, s := range steps {
		length := graph.Abs(s)
		if k > 0 {
			length = graph.If(out, length, 0)
			way = graph.Add(way, length)
		} else {
			way = length
		}
		position = graph.Add(position, s)
		out = graph.And(out, graph.Greater(position, 0))
	}
	m.Observe("way", graph.Normal(way, 0.1), 1.1)
}

// tree explains prices by two splits, one after the other, each by one of two variables. These are in [0, 1] by rank.
func tree(m *graph.Model) {
	c := columns("boston")
	rooms, poor := ranks(c["rm"]), ranks(c["lstat"])
	by, at := m.SampleN("by", 3, graph.Bernoulli(0.5)), m.SampleN("at", 3, graph.Uniform(0, 1))
	leaf, sd := m.SampleN("leaf", 4, graph.Normal(20, 10)), m.Sample("sd", graph.HalfNormal(10))
	for k, y := range c["medv"] {
		var above [3]graph.Guard
		for j := range above {
			above[j] = graph.Or(graph.And(graph.Equal(by[j], 1), graph.Less(at[j], poor[k])), graph.And(graph.Equal(by[j], 0), graph.Less(at[j], rooms[k])))
		}
		price := graph.If(above[0], graph.If(above[2], leaf[3], leaf[2]), graph.If(above[1], leaf[1], leaf[0]))
		m.Observe("price", graph.Normal(price, sd), y)
	}
}

// ranks are those of x, equal ones the same, from above 0 to below 1.
func ranks(x []float64) []float64 {
	r := make([]float64, len(x))
	for k, v := range x {
		for _, w := range x {
			if w < v {
				r[k] += 1 / float64(len(x))
			}
		}
		r[k] += 0.5 / float64(len(x))
	}
	return r
}

// lockdown is an epidemic of 28 days in a town of 1000, in which people met less from some day on.
func lockdown(m *graph.Model) {
	cases := columns("lockdown")["cases"]
	before, after := m.Sample("before", graph.LogNormal(-0.5, 0.5)), m.Sample("after", graph.LogNormal(-1.5, 0.5))
	ends := m.Sample("ends", graph.LogNormal(-1.5, 0.5)) // of infections, a day
	first := m.Sample("first", graph.LogNormal(2, 0.7))
	when := m.Sample("when", graph.Uniform(0, 28))
	const people = 1000
	sick, well := first, graph.Sub(people, first)
	for k, y := range cases {
		meet := graph.If(graph.Greater(when, float64(k)+0.5), before, after)
		new := graph.Mul(well, graph.Sub(1, graph.Exp(graph.Mul(meet, graph.Mul(sick, -1./people)))))
		m.Observe(fmt.Sprintf("cases %d", k), graph.Poisson(new), y)
		well, sick = graph.Sub(well, new), graph.Add(new, graph.Mul(sick, graph.Exp(graph.Neg(ends))))
	}
}
