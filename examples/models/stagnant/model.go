// Package stagnant is a line that changes its slope, or breaks: the height of a stagnant surface layer by the flow of water.
//
//	change    ~ Uniform(−0.94, 0.85)
//	tau       ~ Gamma(0.001, 0.001)
//	height_i  ~ Normal(mu_i, 1/√tau)
//
// with a kink at the change, which is continuous and has no boundary term, or with a jump:
//
//	kink:  mu_i = alpha + beta1·min(flow_i − change, 0) + beta2·max(flow_i − change, 0)
//	jump:  mu_i = alpha1 + beta1·flow_i before the change, alpha2 + beta2·flow_i after it
//
// The levels alpha and the slopes beta are Normal(0, 10). BUGS has Normal(0, 1000), with the same posterior to five digits, but a scout
// that starts from there has far to go. The prior of tau says more than it seems to: heights have squared residuals of 0.013 together, to
// which it adds 0.002.
package stagnant

import "github.com/facetvi/facet/graph"

// The priors: of the change, of levels and slopes, and of tau.
const (
	first, last = -0.94, 0.85 // the fifth flow, and the fourth last
	wide        = 10.0
	vague       = 0.001
)

// Kink is the program with a kink for the given flows and heights. Its guards "before" say of each flow that it is below the change.
func Kink(flow, height []float64) *graph.Model {
	m, change, noise := begin()
	alpha := m.Sample("alpha", graph.Normal(0, wide))
	beta1, beta2 := m.Sample("beta1", graph.Normal(0, wide)), m.Sample("beta2", graph.Normal(0, wide))
	for i, x := range flow {
		m.Name("before", graph.Less(x, change))
		beyond := graph.Sub(x, change)
		mu := graph.Add(alpha, graph.Add(graph.Mul(beta1, graph.Min(beyond, 0)), graph.Mul(beta2, graph.Max(beyond, 0))))
		m.Observe("height", graph.Normal(mu, noise), height[i])
	}
	return m
}

// Jump is the program with a jump, with the same guards.
func Jump(flow, height []float64) *graph.Model {
	m, change, noise := begin()
	var alpha, beta [2]graph.Expr
	for k, name := range []string{"1", "2"} {
		alpha[k] = m.Sample("alpha"+name, graph.Normal(0, wide))
		beta[k] = m.Sample("beta"+name, graph.Normal(0, wide))
	}
	for i, x := range flow {
		before := m.Name("before", graph.Less(x, change))
		line := func(k int) graph.Expr { return graph.Add(alpha[k], graph.Mul(beta[k], x)) }
		m.Observe("height", graph.Normal(graph.If(before, line(0), line(1)), noise), height[i])
	}
	return m
}

// begin makes what both have in common.
func begin() (m *graph.Model, change, noise graph.Expr) {
	m = graph.NewModel()
	change = m.Sample("change", graph.Uniform(first, last))
	tau := m.Sample("tau", graph.Gamma(vague, vague))
	return m, change, graph.Exp(graph.Mul(-0.5, graph.Log(tau)))
}
