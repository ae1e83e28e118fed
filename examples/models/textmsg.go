package models

import (
	"math"

	"github.com/facetvi/facet/graph"
)

// TextMsg is the switch point in daily text messages; see [TextMsgOracle]. Its guards "pending" say of each day
// that the switch is still to come.
func TextMsg() *graph.Model {
	m := graph.NewModel()
	mean, sd := math.Log(TextMsgMean())-math.Ln2/2, math.Sqrt(math.Ln2)
	x0 := m.Sample("x0", graph.Normal(mean, sd))
	x1 := m.Sample("x1", graph.Normal(mean, sd))
	z := m.Sample("z", graph.Normal(0, 1))

	days, counts := TextMsgData()
	for i, day := range days {
		pending := m.Name("pending", graph.Greater(z, TextMsgThreshold(day)))
		rate := graph.If(pending, graph.Exp(x0), graph.Exp(x1))
		m.Observe("obs", graph.Poisson(rate), counts[i])
	}
	return m
}
