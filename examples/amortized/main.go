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
// automatic differentiation would have it, the network unlearns what it can guess of the change.
//
// Afterwards new series are given to the network, and each to a fit of its own, of the same family. The exact posterior of the change is known as
// well, for the rates can be integrated out. Where two changes are about as likely, or none is, the one normal is at one of the
// possibilities, and network and fit may choose differently.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
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

// What a network is given, B × inputs: features, then a guess of θ, and how wrong each number of that may be.
const (
	splits   = length - 1
	outputs  = 6 // θ: μ and log s of the change's logit, and of the logarithms of both rates
	features = 2*splits + outputs + 1
	inputs   = features + 2*outputs
)

// read is what a network is given of a series. The guess is the change for which the counts are likeliest, with the rates that they have then.
// The network sees how likely all other changes are in comparison, from there.
func read(dst, counts []float64) {
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
	all, best := floats.LogSumExp(ratio[:]), floats.MaxIdx(ratio[:])
	clear(dst)
	square := 1.0 / 12
	for k, l := range ratio {
		p := math.Exp(l - all)
		square += p * float64((k-best)*(k-best))
		if at := k - best + splits/2; at >= 0 && at < splits {
			dst[at], dst[splits+at] = p, math.Exp(0.3*(l-ratio[best]))
		}
	}
	n, m := float64(best+1), float64(splits-best)
	before, after := sums[best], total-sums[best]
	s := [3]float64{min(0.5, math.Sqrt(square)*length/(n*m)), 1 / math.Sqrt(before+1), 1 / math.Sqrt(after+1)}
	guess := dst[features:]
	for i, mu := range []float64{math.Log(n / m), logMean(before, n), logMean(after, m)} {
		guess[2*i], guess[2*i+1] = mu, math.Log(s[i])
		guess[outputs+2*i], guess[outputs+2*i+1] = s[i], 1
	}
	copy(dst[2*splits:], guess[:outputs])
	dst[features-1] = 0.1 * min(30, ratio[best]-side(total, length)) // is there a change at all?
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

// graph makes the network's nodes, from B × inputs to θ, B × outputs: the guess, and by how many of its errors it is to be mended.
func (n network) graph(in *gorgonia.Node) (theta *gorgonia.Node, weights gorgonia.Nodes) {
	g, rows := in.Graph(), in.Shape()[0]
	node := func(name string, t *tensor.Dense) *gorgonia.Node {
		return gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName(name), gorgonia.WithShape(t.Shape()...), gorgonia.WithValue(t))
	}
	ones := node("ones", tensor.Ones(tensor.Float64, rows, 1))
	for k, w := range n {
		weights = append(weights, node(fmt.Sprint("w", k), w))
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

// answer is θ of each of the series, one after the other.
func (n network) answer(series []float64) ([]float64, error) {
	rows := len(series) / length
	x := make([]float64, rows*inputs)
	for b := range rows {
		read(x[b*inputs:][:inputs], series[b*length:][:length])
	}
	in := gorgonia.NewMatrix(gorgonia.NewGraph(), tensor.Float64, gorgonia.WithName("in"), gorgonia.WithShape(rows, inputs), gorgonia.WithValue(matrix(rows, inputs, x)))
	theta, _ := n.graph(in)
	machine := gorgonia.NewTapeMachine(in.Graph())
	defer machine.Close()
	if err := machine.RunAll(); err != nil {
		return nil, err
	}
	return theta.Value().(*tensor.Dense).Float64s(), nil
}

// train has the network climb the mean ELBO of series that are drawn.
func (n network) train(ctx context.Context, rows *expect.Rows, steps int, seed uint64, progress io.Writer) error {
	g := gorgonia.NewGraph()
	in := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("in"), gorgonia.WithShape(batch, inputs))
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
	x, series := make([]float64, batch*inputs), make([]float64, batch*length)
	mean := 0.0
	var solver *gorgonia.AdamSolver
	for step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if phase := 1 + steps/8; step%phase == 0 { // a smaller step size
			size := 3e-3 * math.Pow(0.55, float64(step/phase))
			solver = gorgonia.NewAdamSolver(gorgonia.WithLearnRate(size), gorgonia.WithClip(5))
		}
		for b := range batch {
			counts := draw(rng)
			copy(series[b*length:], counts)
			read(x[b*inputs:][:inputs], counts)
		}
		if err := gorgonia.Let(in, matrix(batch, inputs, x)); err != nil {
			return err
		}
		if err := gorgonia.Let(data, matrix(batch, length, series)); err != nil {
			return err
		}
		if err := machine.RunAll(); err != nil {
			return err
		}
		mean += (-cost.Value().Data().(float64) - mean) / float64(min(step+1, 500))
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

// fit climbs the ELBO of one series, to a few thousandths of a nat: a fiftieth is a fifth of a standard deviation of a mean.
func fit(ctx context.Context, d *graph.Density, counts []float64) (family.Q, error) {
	d, err := d.WithObservations(counts)
	if err != nil {
		return nil, err
	}
	p, err := vi.Fit(ctx, d, vi.Settings{Seed: 1, Method: vi.Climb{Family: family.MeanField{}, Samples: 64, Tolerance: 0.004}})
	if err != nil {
		return nil, err
	}
	return p.Q, nil
}

// exact is the posterior of the change given a series: its density is constant between t − ½ and t + ½, where the first t counts come before it.
func exact(counts []float64) (mean, sd float64) {
	marginal := func(counts []float64) float64 { // log ∫ Π λ^c e^−λ·0.1·e^−0.1λ dλ
		a, _ := math.Lgamma(floats.Sum(counts) + 1)
		return a - (floats.Sum(counts)+1)*math.Log(float64(len(counts))+rate)
	}
	var logs, middle, square []float64
	for t := range length + 1 {
		lo, hi := max(0, float64(t)-0.5), min(length, float64(t)+0.5)
		logs = append(logs, math.Log(hi-lo)+marginal(counts[:t])+marginal(counts[t:]))
		middle, square = append(middle, (lo+hi)/2), append(square, (lo*lo+lo*hi+hi*hi)/3)
	}
	all, second := floats.LogSumExp(logs), 0.0
	for t, l := range logs {
		mean += math.Exp(l-all) * middle[t]
		second += math.Exp(l-all) * square[t]
	}
	return mean, math.Sqrt(second - mean*mean)
}

// meanChange is the mean of the change at θ, between quantiles of the normal.
func meanChange(theta []float64) (mean float64) {
	const n = 200
	for k := range n {
		z := theta[0] + math.Exp(theta[1])*distuv.UnitNormal.Quantile((float64(k)+0.5)/n)
		mean += length / (1 + math.Exp(-z)) / n
	}
	return mean
}

// An answer is θ, and the ELBO, of each of the series.
type answer struct {
	what        string
	theta, elbo []float64
}

// gap is by how much the mean ELBO is below that of the fits.
func (a answer) gap(fits answer) float64 { return stat.Mean(fits.elbo, nil) - stat.Mean(a.elbo, nil) }

// off is by how much mean i is off that of each fit, in the fit's standard deviations.
func (a answer) off(fits answer, i int) (off []float64) {
	for k := range a.elbo {
		own := fits.theta[k*outputs:]
		off = append(off, math.Abs(a.theta[k*outputs+2*i]-own[2*i])/math.Exp(own[2*i+1]))
	}
	return off
}

// offExact is by how much the change's mean is off the exact one of each series, in exact standard deviations.
func (a answer) offExact(series []float64) (off []float64) {
	for k := range a.elbo {
		mean, sd := exact(series[k*length:][:length])
		off = append(off, math.Abs(meanChange(a.theta[k*outputs:])-mean)/sd)
	}
	return off
}

// compare has new series answered by fits of their own, and then by each network.
func compare(ctx context.Context, d *graph.Density, q family.Q, series []float64, names []string, networks []network) (answers []answer, err error) {
	judge, err := expect.NewRows(d, q, 2000, 1)
	if err != nil {
		return nil, err
	}
	n := len(series) / length
	add := func(what string, theta []float64) error {
		elbo := make([]float64, n)
		answers = append(answers, answer{what, theta, elbo})
		return judge.Run(0, theta, series, elbo, make([]float64, len(theta)))
	}
	fits := make([]float64, n*outputs)
	for k := range n {
		own, err := fit(ctx, d, series[k*length:][:length])
		if err != nil {
			return nil, err
		}
		judge.Free(fits[k*outputs:], own)
	}
	if err := add("fit of its own", fits); err != nil {
		return nil, err
	}
	for k, net := range networks {
		theta, err := net.answer(series)
		if err != nil {
			return nil, err
		}
		if err := add(names[k], theta); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := cli.New("amortized")
	seed, steps := flags.Seed(), flags.Steps(6000, "steps of the training")
	count := flags.Count("series", 50, 1, "new series")
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
	names := []string{"network, through the ifs", "without the boundary part", "network at the start"}
	var networks []network
	for k, name := range names {
		n := newNetwork(64, rand.New(rand.NewPCG(*seed, 1)))
		networks = append(networks, n)
		if k == 2 {
			break
		}
		rows, err := expect.NewRows(d, q, 4, *seed)
		if err != nil {
			return err
		}
		steps := *steps
		if k == 1 {
			rows.WithoutBoundary()
			steps = (steps + 8) / 9 // it gets no better
		}
		start := cli.CPU()
		if err := n.train(ctx, rows, steps, *seed, progress); err != nil {
			return err
		}
		fmt.Fprintf(out, "%-26s trained by %d steps of %d series in %.1f CPU s\n", name+":", steps, batch, cli.CPU()-start)
	}
	rng, series := rand.New(rand.NewPCG(*seed, 3)), []float64{}
	for range *count {
		series = append(series, draw(rng)...)
	}
	answers, err := compare(ctx, d, q, series, names, networks)
	if err != nil {
		return err
	}
	report(out, series, answers)
	return nil
}

// report prints the change of the first ten series, and how far the answers are off those of the fits, and off what is exact.
func report(out io.Writer, series []float64, answers []answer) {
	n := len(series) / length
	fmt.Fprintf(out, "\nmean of the change   exact")
	for _, a := range answers {
		fmt.Fprintf(out, "  %s", a.what)
	}
	for k := range min(n, 10) {
		mean, _ := exact(series[k*length:][:length])
		fmt.Fprintf(out, "\nseries %-13d %6.2f", k+1, mean)
		for _, a := range answers {
			fmt.Fprintf(out, "  %*.2f", len(a.what), meanChange(a.theta[k*outputs:]))
		}
	}
	fmt.Fprintf(out, "\n\n%d series: mean ELBO; means off the fit's, in its sd, and the change's off the exact one, in exact sd: median (mean)\n", n)
	fmt.Fprintf(out, "%-26s %8s %12s %13s %13s %13s %13s\n", "", "ELBO", "below fits'", "change", "before", "after", "off exact")
	typical := func(x []float64) string {
		slices.Sort(x)
		return fmt.Sprintf("%.2f (%.2f)", x[len(x)/2], stat.Mean(x, nil))
	}
	for k, a := range answers {
		var off [3]string
		for i := range off {
			if k > 0 {
				off[i] = typical(a.off(answers[0], i))
			}
		}
		fmt.Fprintf(out, "%-26s %8.2f %12.3f %13s %13s %13s %13s\n", a.what, stat.Mean(a.elbo, nil), a.gap(answers[0]), off[0], off[1], off[2], typical(a.offExact(series)))
	}
}
