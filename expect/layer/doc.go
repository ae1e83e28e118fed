// Package layer makes a program with ifs a node of a Gorgonia graph, whose gradient sees the ifs.
//
//	program, err := layer.New(density, q, 4, 1)              // 4 draws a row, seed 1
//	elbo, err := program.Apply(theta, nil, data)             // (B × T), (B × K), (B × D) → B
//	cost := gorgonia.Must(gorgonia.Neg(gorgonia.Must(gorgonia.Mean(elbo))))
//	_, err = gorgonia.Grad(cost, weights...)                 // unbiased, through the ifs
//
// Each of the B rows is the program with a θ, with parameters and with data of its own, and the node's value
// is the ELBO of each, or E[f] of a simulation. What comes in is usually what a network gives:
//
//	data ──▶ network ──▶ θ ──▶ ELBO        amortised inference: the network answers with a posterior
//	context ──▶ network ──▶ params ──▶ E[f]        a policy, a regression with ifs after it
//
// It runs on both machines of Gorgonia, on a TapeMachine after gorgonia.Grad, and on a LispMachine. Of a
// LispMachine Gorgonia wants a new one for each run, whose gradients add up until a solver's step takes them. The batch size is fixed by the
// graph: another one needs another node, which Apply makes of the same Layer.
package layer
