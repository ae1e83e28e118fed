// Package tobit is a regression with a censoring limit that is a latent: what households spent on durable goods.
//
//	level, age, liquidity ~ Normal(0, 5)
//	spread                ~ HalfNormal(5)
//	limit                 ~ Normal(0, 1)
//	desired_i             ~ Normal(level + age·a_i + liquidity·l_i, spread)
//	bought_i              ~ Bernoulli(0.99 if desired_i > limit, else 0.01)
//
// with a_i in tens of years and l_i in 25 points of the liquidity ratio, both from the middle of the data. Whoever bought has
// spent what was desired, so desired_i is seen; for the others it is a latent.
package tobit

import (
	"fmt"

	"github.com/facetvi/facet/graph"
)

// The middle of the data and one unit of each coefficient.
const (
	MiddleAge, AgeUnit             = 48, 10
	MiddleLiquidity, LiquidityUnit = 245, 25
)

// Wrong is the probability of a wrong record of whether a household bought.
const Wrong = 0.01

// Model is the program for the households. Its guards "enough" say of each that what it desired is above the limit.
func Model(all []Household) *graph.Model {
	m := graph.NewModel()
	coefficient := graph.Normal(0, 5)
	level, age, liquidity := m.Sample("level", coefficient), m.Sample("age", coefficient), m.Sample("liquidity", coefficient)
	spread := m.Sample("spread", graph.HalfNormal(5))
	limit := m.Sample("limit", graph.Normal(0, 1))

	buys := func(enough graph.Guard) graph.Dist {
		return graph.Bernoulli(graph.If(m.Name("enough", enough), 1-Wrong, Wrong))
	}
	for i, h := range all {
		byAge := graph.Mul(age, (h.Age-MiddleAge)/AgeUnit)
		byLiquidity := graph.Mul(liquidity, (h.Liquidity-MiddleLiquidity)/LiquidityUnit)
		wish := graph.Normal(graph.Sum(level, byAge, byLiquidity), spread)
		if h.Spent > 0 {
			m.Observe("spent", wish, h.Spent)
			m.Observe("bought", buys(graph.Greater(h.Spent, limit)), 1)
		} else {
			desired := m.Sample(Desired(i), wish)
			m.Observe("bought", buys(graph.Greater(desired, limit)), 0)
		}
	}
	return m
}

// Desired names the latent of household i, which bought nothing.
func Desired(i int) string { return fmt.Sprintf("desired[%d]", i) }
