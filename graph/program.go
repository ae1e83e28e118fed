package graph

import "github.com/facetvi/facet/internal/lower"

// A Program is a compiled batch of scalar expressions with the gradient of a
// density: the density itself, or the outputs of a Builder. It is immutable and safe for
// concurrent use.
type Program = lower.Program

// An Executor runs a program on batches of N samples. Fill the inputs, call
// Run, read the results; all are matrices with a row for each coordinate and N
// contiguous samples in a row. An Executor is not safe for concurrent use.
type Executor = lower.Executor

// Compute says what an Executor computes, and how: Out, OutSum, Grad; Tape runs the graph on
// Gorgonia's TapeMachine instead of the plan, NewData lets [Density.Feed] change the observations, and Region has all samples in one region.
type Compute = lower.Compute

// Graph is a Gorgonia graph of a program, with its inputs and outputs.
type Graph = lower.Graph
