// Package expect differentiates expectations through programs with if-statements.
//
// A program draws noise ε and computes an objective f, a cost, a payoff or a reward, with ifs on
// noise and on parameters θ. Asked for is
//
//	J(θ) = E[f(ε, θ)]    and    ∇J = E[∂_θ f] + Σ_l E[w_l·Δf_l·∂_θΦ_l],
//
// where the second part, the surface integral over the guards Φ_l = 0 with the jumps Δf_l of f there, is what
// automatic differentiation does not see:
//
//	m := graph.NewSimulation()
//	level := m.Param("level", 10, graph.Positive())
//	demand := m.Sample("demand", graph.Normal(8, 3))
//	short := graph.If(graph.Greater(demand, level), 20, 0)
//	e, err := expect.Of(m, graph.Add(level, short))
//	…
//	best, err := e.Minimize(ctx, expect.Settings{Seed: 1})
//
// The estimator is that of ∇ELBO (package gradient) at the law of the noise: log q and the prior cancel
// exactly, and what is left of the ELBO is E[f].
//
//	graph.NewSimulation ──▶ Of ──▶ Expectation ──▶ At, Estimate     value and gradient, with standard errors
//	                                          └──▶ Minimize         Adam with averages, and an honest stop
//
// [Rows] are for networks: the same program for many rows, each with other data and another θ. Package layer makes
// them a node of a Gorgonia graph.
//
// A page with examples: [learning through ifs].
//
// [learning through ifs]: https://github.com/facetvi/facet/blob/main/docs/learning.md
package expect
