// Amortized trains a network of Gorgonia that reads a series of 20 counts and answers with the posterior of a change of their rate:
//
//	change        ~ Uniform(0, 20)
//	before, after ~ Exponential(0.1)
//	count_t       ~ Poisson(before if t + ½ < change, else after)
//
//	counts ─▶ network ─▶ (μ, log s) of change, before and after ─▶ ELBO of the series, by the program
//
// In each step it reads series that are drawn from the program itself, no two alike, and climbs the mean ELBO. The gradient goes
// through the program's ifs, with the surface integral: of the change's posterior all is in the ifs. Without it, as
// automatic differentiation would have it, the same network learns little of the change.
//
// Afterwards new series are given to the network, and each to a fit of its own, of the same family. The exact mean of the change is known as well, for
// the rates can be integrated out. Where two changes are about as likely the one normal is at one of them, and network and fit
// may choose differently.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/expect/layer"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

const (
	length = 20
	batch  = 128
	rate   = 0.1 // of the exponential prior
)

// program is the model, without data.
func program() (*graph.Density, error) {
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(0, length))
	before, after := m.Sample("before", graph.Exponential(rate)), m.Sample("after", graph.Exponential(rate))
	for t := range length {
		m.Observe("count", graph.Poisson(graph.If(graph.Less(float64(t)+0.5, change), before, after)), 0)
	}
	return m.Compile()
}

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

// exact is the mean of the change given a series: its density is constant between t − ½ and t + ½, where the first t counts come before it.
func exact(counts []float64) float64 {
	var logs, middle []float64
	marginal := func(counts []float64) float64 { // ∫ Π λ^c e^−λ·0.1·e^−0.1λ dλ
		a, _ := math.Lgamma(floats.Sum(counts) + 1)
		return a - (floats.Sum(counts)+1)*math.Log(float64(len(counts))+rate)
	}
	for t := range length + 1 {
		lo, hi := max(0, float64(t)-0.5), min(length, float64(t)+0.5)
		logs = append(logs, math.Log(hi-lo)+marginal(counts[:t])+marginal(counts[t:]))
		middle = append(middle, (lo+hi)/2)
	}
	all, mean := floats.LogSumExp(logs), 0.0
	for t, l := range logs {
		mean += math.Exp(l-all) * middle[t]
	}
	return mean
}

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

// train has the network climb the mean ELBO of series that are drawn.
func (n network) train(ctx context.Context, rows *expect.Rows, steps int, seed uint64, progress io.Writer) error {
	g := gorgonia.NewGraph()
	in := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("in"), gorgonia.WithShape(batch, features))
	data := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("data"), gorgonia.WithShape(batch, length))
	theta, weights := n.graph(in)
	elbo, err := layer.Of(rows).Apply(theta, nil, data)
	if err != nil {
		return err
	}
	cost := gorgonia.Must(gorgonia.Neg(gorgonia.Must(gorgonia.Mean(elbo))))
	if _, err := gorgonia.Grad(cost, weights...); err != nil {
		return err
	}
	machine := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(weights...))
	defer machine.Close()
	rng := rand.New(rand.NewPCG(seed, 2))
	inputs, series := make([]float64, batch*features), make([]float64, batch*length)
	mean := 0.0
	var solver *gorgonia.AdamSolver
	for step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step%(1+steps/8) == 0 { // a smaller step size
			size := 3e-3 * math.Pow(0.55, float64(step/(1+steps/8)))
			solver = gorgonia.NewAdamSolver(gorgonia.WithLearnRate(size), gorgonia.WithClip(5))
		}
		fill(inputs, series, rng)
		if err := gorgonia.Let(in, tensor.New(tensor.WithShape(batch, features), tensor.WithBacking(inputs))); err != nil {
			return err
		}
		if err := gorgonia.Let(data, tensor.New(tensor.WithShape(batch, length), tensor.WithBacking(series))); err != nil {
			return err
		}
		if err := machine.RunAll(); err != nil {
			return err
		}
		mean += 0.01 * (-cost.Value().Data().(float64) - mean)
		if step%500 == 499 {
			fmt.Fprintf(progress, "step %d: mean ELBO %.3f\n", step+1, mean)
		}
		if err := solver.Step(gorgonia.NodesToValueGrads(weights)); err != nil {
			return err
		}
		machine.Reset()
	}
	return nil
}

// fill draws a batch of series.
func fill(inputs, series []float64, rng *rand.Rand) {
	for b := range batch {
		counts := draw(rng)
		copy(series[b*length:], counts)
		read(inputs[b*features:][:features], counts)
	}
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

// meanChange is the mean of the change of which θ is the posterior, between quantiles of the normal.
func meanChange(theta []float64) (mean float64) {
	const n = 200
	for k := range n {
		z := theta[0] + math.Exp(theta[1])*distuv.UnitNormal.Quantile((float64(k)+0.5)/n)
		mean += length / (1 + math.Exp(-z)) / n
	}
	return mean
}

// A comparison is of answers with the fit of each series.
type comparison struct {
	elbo, gap float64      // mean, and by how much it is below the fits'
	off       [3][]float64 // by how much the means are off, in standard deviations of the fit, by series
}

// An examiner gives series to networks and to fits.
type examiner struct {
	d     *graph.Density
	judge *expect.Rows // with many draws a row
	own   []float64    // scratch: gradient
}

func (x *examiner) elbo(theta, counts []float64) (float64, error) {
	value := make([]float64, 1)
	err := x.judge.Run(0, theta, counts, value, x.own)
	return value[0], err
}

// fit climbs the ELBO of one series.
func (x *examiner) fit(ctx context.Context, counts []float64) ([]float64, error) {
	d, err := x.d.WithObservations(counts)
	if err != nil {
		return nil, err
	}
	p, err := vi.Fit(ctx, d, vi.Settings{Seed: 1, Method: vi.Climb{Family: family.MeanField{}}})
	if err != nil {
		return nil, err
	}
	theta := make([]float64, len(x.judge.Labels()))
	x.judge.Free(theta, p.Q)
	return theta, nil
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := cli.New("amortized")
	seed, steps := flags.Seed(), flags.Steps(2500, "steps of the training")
	series := flags.Count("series", 50, 1, "new series")
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	d, err := program()
	if err != nil {
		return err
	}
	q, err := family.MeanField{}.New(d)
	if err != nil {
		return err
	}
	judge, err := expect.NewRows(d, q, 2000, *seed)
	if err != nil {
		return err
	}
	x := &examiner{d, judge, make([]float64, len(judge.Labels()))}

	var networks []network
	for _, through := range []bool{true, false} {
		rows, err := expect.NewRows(d, q, 4, *seed)
		if err != nil {
			return err
		}
		steps := *steps
		if !through {
			rows.WithoutBoundary()
			steps = (steps + 2) / 3 // it gets no better
		}
		n := newNetwork(64, len(rows.Labels()), rand.New(rand.NewPCG(*seed, 1)))
		start := time.Now()
		if err := n.train(ctx, rows, steps, *seed, progress); err != nil {
			return err
		}
		fmt.Fprintf(out, "trained %-25s %d steps of %d series in %.1f s\n", what(through)+":", steps, batch, time.Since(start).Seconds())
		networks = append(networks, n)
	}
	fmt.Fprintf(out, "\nmean of the change  exact  fit of its own  %s  %s\n", what(true), what(false))
	of, fits, err := x.compare(ctx, networks, *series, *seed, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nmean of %3d series          ELBO   below the fits'   means off, in sd, median: change  before  after\n", *series)
	fmt.Fprintf(out, "%-24s %8.3f\n", "fit of its own", fits)
	for k, c := range of {
		fmt.Fprintf(out, "%-24s %8.3f   %8.3f %39.2f %7.2f %6.2f\n", what(k == 0), c.elbo, c.gap, median(c.off[0]), median(c.off[1]), median(c.off[2]))
	}
	return nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

func what(through bool) string {
	if through {
		return "through the ifs"
	}
	return "without the boundary part"
}

// compare gives new series to the networks and to fits, and prints what they say of the first ten.
func (x *examiner) compare(ctx context.Context, networks []network, series int, seed uint64, out io.Writer) (of []comparison, fits float64, err error) {
	rng := rand.New(rand.NewPCG(seed, 3))
	of = make([]comparison, len(networks))
	for k := range series {
		counts := draw(rng)
		own, err := x.fit(ctx, counts)
		if err != nil {
			return nil, 0, err
		}
		best, err := x.elbo(own, counts)
		if err != nil {
			return nil, 0, err
		}
		fits += best / float64(series)
		said := []any{exact(counts), meanChange(own)}
		for i, n := range networks {
			theta, err := n.answer(counts)
			if err != nil {
				return nil, 0, err
			}
			elbo, err := x.elbo(theta, counts)
			if err != nil {
				return nil, 0, err
			}
			c := &of[i]
			c.elbo += elbo / float64(series)
			c.gap += (best - elbo) / float64(series)
			for j := range c.off {
				c.off[j] = append(c.off[j], math.Abs(theta[2*j]-own[2*j])/math.Exp(own[2*j+1]))
			}
			said = append(said, meanChange(theta))
		}
		if k < 10 {
			fmt.Fprintf(out, "series %-11d %6.2f %15.2f %16.2f %26.2f\n", append([]any{k + 1}, said...)...)
		}
	}
	return of, fits, nil
}
