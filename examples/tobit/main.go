package main

import (
	"fmt"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

func survey(all []household) *graph.Model {
	m := graph.NewModel()
	level := m.Sample("level", graph.Normal(0, 5))
	age := m.Sample("age", graph.Normal(0, 5))
	liquidity := m.Sample("liquidity", graph.Normal(0, 5))
	spread := m.Sample("spread", graph.HalfNormal(5))
	limit := m.Sample("limit", graph.Normal(0, 1))
	for i, h := range all {
		d := graph.Normal(graph.Sum(level, graph.Mul(age, (h.age-48)/10), graph.Mul(liquidity, (h.liquidity-245)/25)), spread)
		if h.spent > 0 {
			m.Observe("spent", d, h.spent)
			m.Observe("bought", graph.Bernoulli(graph.If(graph.Greater(h.spent, limit), 0.99, 0.01)), 1)
		} else {
			desired := m.Sample(fmt.Sprint("desired", i), d)
			m.Observe("bought", graph.Bernoulli(graph.If(graph.Greater(desired, limit), 0.99, 0.01)), 0)
		}
	}
	return m
}

func starts(d *graph.Density) []vi.MeanField { return []vi.MeanField{vi.PriorStart(d)} }

func main() {}
