// Package graph is the language in which models are written, and their
// compiler.
//
// A [Model] is built by ordinary Go code: loops, functions and variables write a
// program with latents, observations and branches, and [Model.Compile] turns it
// into a [Density]: the unnormalised log posterior
//
//	log r_σ(z) = Σ log prior + Σ log|dx/dz| + Σ log observation + Σ factor
//
// of the unconstrained coordinates z of the latents, for each sign vector σ of
// the program's guards, with its gradient.
//
//	m.Sample, m.Observe, m.If        what a user writes, one scalar at a time
//	         │
//	   expression DAG                equal expressions are one; guards with one
//	         │                       zero set are one surface
//	  batch of forms                 like expressions are the rows of one matrix
//	         │
//	  Gorgonia graph ── Grad         static; signs are an input, like z
//	         │
//	 plan, or TapeMachine            Executor: many samples at once
//
// Functions make values from values: [Add], [Normal], [Greater], [And], [If].
// Methods of a [Model] add to the program: [Model.Sample], [Model.Param], [Model.Observe],
// [Model.Factor], [Model.SampleVector], [Model.ObserveHMM], and [Model.If], whose sides are blocks of the program rather
// than values. [Model.Plate] is a loop whose body is written once, with data as
// columns. A latent with a prior of whole numbers is discrete: [Equal] and [Switch] are
// for these. Distributions are made of others by [Truncated], [Censored],
// [IntervalCensored], [ZeroInflated], [Hurdle] and [Mixture], and [LogCDF], [LogCCDF] and [Mean]
// are their distribution functions and moments. What can be asked of a density is a
// method of it.
//
// This package is the language, down to nodes of an expression DAG (package internal/ir). Package internal/lang has its
// expressions and distributions, and package internal/compare makes one guard of all comparisons with one zero set. Package
// internal/lower makes forms and the Gorgonia graph of the nodes, and package internal/derive the jumps of a density, and other
// programs of its terms: none of them knows of models.
//
// The same program is also followed one expression at a time, in the region of
// one z: [Density.PriorDraw] draws the latents in their order,
// [Density.Replicate] new data, and [Density.DeterministicAt] computes what
// [Model.Deterministic] recorded. Guards say where they were written and what
// they compare ([GuardInfo]), and may have names ([Model.Name]).
//
// Package vi fits a Density; package boundary evaluates its jumps, by programs that
// the Builder of [Density.Engine] derives.
//
// A page with examples: how to [write a model].
//
// [write a model]: https://github.com/facetvi/facet/blob/main/docs/model.md
package graph
