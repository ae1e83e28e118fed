// The network, by Gorgonia.

package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/expect"
)

// A network has three layers: weights and biases, in turns.
type network []*tensor.Dense

func newNetwork(hidden int, rng *rand.Rand) (n network) {
	widths := []int{inputs, hidden, hidden, outputs}
	for k, in := range widths[:len(widths)-1] {
		w := make([]float64, in*widths[k+1])
		for i := range w {
			if k < 2 { // in the end it says nothing, which leaves the guess
				w[i] = rng.NormFloat64() / math.Sqrt(float64(in))
			}
		}
		n = append(n, matrix(in, widths[k+1], w), matrix(1, widths[k+1], make([]float64, widths[k+1])))
	}
	return n
}

func matrix(rows, columns int, x []float64) *tensor.Dense {
	return tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(x))
}

func node(g *gorgonia.ExprGraph, name string, t *tensor.Dense) *gorgonia.Node {
	return gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName(name), gorgonia.WithShape(t.Shape()...), gorgonia.WithValue(t))
}

// graph makes the network's nodes, from B × inputs to θ, B × outputs: the guess, and by how many of its errors it is to be mended.
func (n network) graph(in *gorgonia.Node) (theta *gorgonia.Node, weights gorgonia.Nodes) {
	g, rows := in.Graph(), in.Shape()[0]
	ones := node(g, "ones", tensor.Ones(tensor.Float64, rows, 1))
	for k, w := range n {
		weights = append(weights, node(g, fmt.Sprint("w", k), w))
	}
	out := in
	for k := 0; k < len(weights); k += 2 {
		if k > 0 {
			out = gorgonia.Must(gorgonia.Tanh(out))
		}
		out = gorgonia.Must(gorgonia.Add(gorgonia.Must(gorgonia.Mul(out, weights[k])), gorgonia.Must(gorgonia.Mul(ones, weights[k+1]))))
	}
	guess := gorgonia.Must(gorgonia.Slice(in, nil, gorgonia.S(features, features+outputs)))
	errors := gorgonia.Must(gorgonia.Slice(in, nil, gorgonia.S(features+outputs, inputs)))
	return gorgonia.Must(gorgonia.Add(guess, gorgonia.Must(gorgonia.HadamardProd(errors, out)))), weights
}

// answer is θ of each of the series, one after the other: of the answers to its guesses that with the largest ELBO.
func (n network) answer(judge *expect.Rows, series []float64) (best []float64, err error) {
	rows := len(series) / length * guesses
	x, data, elbo := make([]float64, rows*inputs), make([]float64, rows*length), make([]float64, rows)
	for b := range rows {
		counts := series[b/guesses*length:][:length]
		copy(data[b*length:], counts)
		read(x[b*inputs:][:inputs], counts, b%guesses)
	}
	in := node(gorgonia.NewGraph(), "in", matrix(rows, inputs, x))
	out, _ := n.graph(in)
	machine := gorgonia.NewTapeMachine(in.Graph())
	defer machine.Close()
	if err := machine.RunAll(); err != nil {
		return nil, err
	}
	theta := out.Value().(*tensor.Dense).Float64s()
	if err := judge.Run(0, theta, data, elbo, make([]float64, len(theta))); err != nil {
		return nil, err
	}
	for b := 0; b < rows; b += guesses {
		at := b + floats.MaxIdx(elbo[b:][:guesses])
		best = append(best, theta[at*outputs:][:outputs]...)
	}
	return best, nil
}
