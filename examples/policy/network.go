// The network, by Gorgonia.

package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A policy is a network with one hidden layer: weights and biases.
type policy struct{ in, bias, out, base *tensor.Dense }

func newPolicy(rng *rand.Rand) policy {
	random := func(rows, columns int, scale float64) *tensor.Dense {
		x := make([]float64, rows*columns)
		for i := range x {
			x[i] = scale * rng.NormFloat64()
		}
		return tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(x))
	}
	p := policy{random(2, hidden, 0.7), random(1, hidden, 0.5), random(hidden, 2, 0.05), random(1, 2, 0)}
	copy(p.base.Float64s(), []float64{20, 8})
	return p
}

// forecasts draws a batch of what a morning may bring.
func forecasts(rng *rand.Rand) *tensor.Dense {
	x := make([]float64, 2*batch)
	for i := range x {
		x[i] = 4 + 12*rng.Float64()
	}
	return tensor.New(tensor.WithShape(batch, 2), tensor.WithBacking(x))
}

// answer is stock and trigger for a forecast.
func (p policy) answer(first, second float64) (stock, trigger float64) {
	x := []float64{(first - 10) / 6, (second - 10) / 6}
	out := append([]float64(nil), p.base.Float64s()...)
	for k := range hidden {
		h := math.Tanh(x[0]*p.in.Float64s()[k] + x[1]*p.in.Float64s()[hidden+k] + p.bias.Float64s()[k])
		for i := range out {
			out[i] += 10 * h * p.out.Float64s()[2*k+i]
		}
	}
	return out[0], out[1]
}

// A graphed policy is a policy in Gorgonia, for a batch.
type graphed struct {
	forecast, scaled, says *gorgonia.Node
	weights                gorgonia.Nodes
}

func (p policy) graph() (n graphed) {
	g := gorgonia.NewGraph()
	node := func(name string, t *tensor.Dense) *gorgonia.Node {
		return gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName(name), gorgonia.WithShape(t.Shape()...), gorgonia.WithValue(t))
	}
	all := func(name string, columns int, x float64) *gorgonia.Node {
		return node(name, tensor.New(tensor.WithShape(batch, columns), tensor.WithBacking(slices.Repeat([]float64{x}, batch*columns))))
	}
	mul := func(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Mul(a, b)) }
	add := func(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Add(a, b)) }
	n.forecast, n.scaled = all("forecast", 2, 0), all("scaled", 2, 0)
	ones := all("ones", 1, 1)
	in, bias, out, base := node("in", p.in), node("bias", p.bias), node("out", p.out), node("base", p.base)
	h := gorgonia.Must(gorgonia.Tanh(add(mul(n.scaled, in), mul(ones, bias))))
	n.says = add(gorgonia.Must(gorgonia.HadamardProd(mul(h, out), all("ten", 2, 10))), mul(ones, base))
	n.weights = gorgonia.Nodes{in, bias, out, base}
	return n
}

// read makes x the forecasts.
func (n graphed) read(x *tensor.Dense) error {
	z := x.Clone().(*tensor.Dense)
	for i := range z.Float64s() {
		z.Float64s()[i] = (z.Float64s()[i] - 10) / 6
	}
	if err := gorgonia.Let(n.forecast, x); err != nil {
		return err
	}
	return gorgonia.Let(n.scaled, z)
}
