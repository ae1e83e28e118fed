package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A network has three layers of weights with biases, and weights from what it sees to what it says.
type network struct {
	weights []*tensor.Dense // and biases, in turns
	skip    *tensor.Dense
}

const features = 2*(length-1) + 9

// read is what the network sees of a series: how likely it makes a change after each of its counts, in comparison, the logarithms of the mean
// counts before and after that, averaged so and where it is likeliest, and how many counts there are.
func read(dst, counts []float64) {
	total, sum := floats.Sum(counts), 0.0
	var ratio, before, after [length - 1]float64
	side := func(sum, n float64) (ratio, mean float64) {
		mean = math.Log((sum + 1) / (n + rate))
		return sum*mean - n*math.Exp(mean) - 0.5*math.Log(sum+1), mean
	}
	for t := range ratio {
		sum += counts[t]
		var l, r float64
		l, before[t] = side(sum, float64(t+1))
		r, after[t] = side(total-sum, float64(length-t-1))
		ratio[t] = l + r
	}
	all, best := floats.LogSumExp(ratio[:]), floats.MaxIdx(ratio[:])
	rest := dst[2*(length-1):]
	clear(rest)
	var mean, square float64
	for t, l := range ratio {
		w := math.Exp(l - all)
		dst[t], dst[length-1+t] = w, math.Exp(0.3*(l-ratio[best]))
		rest[0] += w * before[t]
		rest[1] += w * after[t]
		mean += w * float64(t+1)
		square += w * float64(t+1) * float64(t+1)
	}
	logit := func(t float64) float64 { return math.Log(t / (length - t)) }
	rest[2], rest[3] = logit(mean), math.Sqrt(max(0, square-mean*mean))/3
	rest[4], rest[5], rest[6] = before[best], after[best], logit(float64(best+1))
	none, _ := side(total, length)
	rest[7] = 0.1 * min(30, ratio[best]-none)
	rest[8] = 0.3 * math.Log(total+1)
}

func newNetwork(hidden, outputs int, rng *rand.Rand) network {
	var n network
	widths := []int{features, hidden, hidden, outputs}
	for k, in := range widths[:len(widths)-1] {
		w := make([]float64, in*widths[k+1])
		for i := range w {
			w[i] = rng.NormFloat64() / math.Sqrt(float64(in))
			if k == len(widths)-2 {
				w[i] *= 0.1
			}
		}
		n.weights = append(n.weights, tensor.New(tensor.WithShape(in, widths[k+1]), tensor.WithBacking(w)),
			tensor.New(tensor.WithShape(1, widths[k+1]), tensor.WithBacking(make([]float64, widths[k+1]))))
	}
	n.skip = tensor.New(tensor.WithShape(features, outputs), tensor.WithBacking(make([]float64, features*outputs)))
	return n
}

// graph makes the network's nodes, from B × features to B × outputs.
func (n network) graph(in *gorgonia.Node) (out *gorgonia.Node, weights gorgonia.Nodes) {
	g, rows := in.Graph(), in.Shape()[0]
	ones := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("ones"), gorgonia.WithValue(tensor.Ones(tensor.Float64, rows, 1)), gorgonia.WithShape(rows, 1))
	for k, w := range n.weights {
		weights = append(weights, gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName(fmt.Sprint("w", k)), gorgonia.WithShape(w.Shape()...), gorgonia.WithValue(w)))
	}
	out = in
	for k := 0; k < len(weights); k += 2 {
		out = gorgonia.Must(gorgonia.Add(gorgonia.Must(gorgonia.Mul(out, weights[k])), gorgonia.Must(gorgonia.Mul(ones, weights[k+1]))))
		if k+2 < len(weights) {
			out = gorgonia.Must(gorgonia.Tanh(out))
		}
	}
	skip := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("skip"), gorgonia.WithShape(n.skip.Shape()...), gorgonia.WithValue(n.skip))
	out = gorgonia.Must(gorgonia.Add(out, gorgonia.Must(gorgonia.Mul(in, skip))))
	return out, append(weights, skip)
}

// answer is θ of the posterior that the network sees in a series.
func (n network) answer(counts []float64) ([]float64, error) {
	g := gorgonia.NewGraph()
	x := make([]float64, features)
	read(x, counts)
	out, _ := n.graph(gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("in"), gorgonia.WithShape(1, features),
		gorgonia.WithValue(tensor.New(tensor.WithShape(1, features), tensor.WithBacking(x)))))
	machine := gorgonia.NewTapeMachine(g)
	defer machine.Close()
	if err := machine.RunAll(); err != nil {
		return nil, err
	}
	return append([]float64(nil), out.Value().(*tensor.Dense).Float64s()...), nil
}
