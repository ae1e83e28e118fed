// The network, by Gorgonia, and what it is given.

package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

// normals is the family of the answers: for each latent a normal on the whole line, to which the program's coordinates map it.
func normals(d *graph.Density) (family.Q, error) { return family.MeanField{}.New(d) }

// draw draws a series.
func draw(rng *rand.Rand) (counts []float64) {
	change, before, after := length*rng.Float64(), rng.ExpFloat64()/rate, rng.ExpFloat64()/rate
	for t := range length {
		mean := after
		if float64(t)+0.5 < change {
			mean = before
		}
		counts = append(counts, distuv.Poisson{Lambda: mean, Src: rng}.Rand())
	}
	return counts
}

// What a network is given, B × inputs: features, then a guess of θ, and how wrong each number of that may be.
const (
	splits   = length - 1
	peaks    = 4
	guesses  = 2 * peaks
	outputs  = 6 // θ: μ and log s of the change's logit, and of the logarithms of both rates
	features = 2*splits + outputs + 1
	inputs   = features + 2*outputs
)

// read is what a network is given of a series. The guess is a change, with the rates that the counts have then; the network sees
// from there how likely all other changes are in comparison. Guesses 0 to 3 are the highest peaks of the likelihood of the
// change. Guesses 4 to 7 are the same, but the network sees only what is on that peak.
func read(dst, counts []float64, guess int) {
	var sums, ratio [splits]float64
	floats.CumSum(sums[:], counts[:splits])
	total := floats.Sum(counts)
	side := func(sum, n float64) float64 { // the log likelihood of n counts, with half of a degree of freedom
		return sum*logMean(sum, n) - n*math.Exp(logMean(sum, n)) - 0.5*math.Log(sum+1)
	}
	for k, sum := range sums { // the density of the change's logit
		n, m := float64(k+1), float64(splits-k)
		ratio[k] = side(sum, n) + side(total-sum, m) + math.Log(n*m/length)
	}
	best, lo, hi := peak(ratio[:], guess%peaks)
	if guess < peaks {
		lo, hi = 0, splits-1
	}
	all := floats.LogSumExp(ratio[lo : hi+1])
	clear(dst)
	square := 1.0 / 12
	for k := lo; k <= hi; k++ {
		p := math.Exp(ratio[k] - all)
		square += p * float64((k-best)*(k-best))
		if at := k - best + splits/2; at >= 0 && at < splits {
			dst[at], dst[splits+at] = p, math.Exp(0.3*min(3, ratio[k]-ratio[best]))
		}
	}
	n, m := float64(best+1), float64(splits-best)
	before, after := sums[best], total-sums[best]
	s := [3]float64{min(0.5, math.Sqrt(square)*length/(n*m)), 1 / math.Sqrt(before+1), 1 / math.Sqrt(after+1)}
	theta := dst[features:]
	for i, mu := range []float64{math.Log(n / m), logMean(before, n), logMean(after, m)} {
		theta[2*i], theta[2*i+1] = mu, math.Log(s[i])
		theta[outputs+2*i], theta[outputs+2*i+1] = s[i], 1
	}
	copy(dst[2*splits:], theta[:outputs])
	dst[features-1] = 0.1 * min(30, ratio[best]-side(total, length)) // is there a change at all?
}

// peak is where x has its highest peak, or the next highest if n is 1, and so on, and from where to where it falls to both sides.
func peak(x []float64, n int) (top, lo, hi int) {
	var tops []int
	for k := range x {
		if (k == 0 || x[k] > x[k-1]) && (k == len(x)-1 || x[k] >= x[k+1]) {
			tops = append(tops, k)
		}
	}
	slices.SortFunc(tops, func(i, j int) int { return cmp.Compare(x[j], x[i]) })
	top = tops[min(n, len(tops)-1)] // the last one, if there are fewer
	for lo = top; lo > 0 && x[lo-1] <= x[lo]; lo-- {
	}
	for hi = top; hi < len(x)-1 && x[hi+1] <= x[hi]; hi++ {
	}
	return top, lo, hi
}

func logMean(sum, n float64) float64 { return math.Log((sum + 1) / (n + rate)) }

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
