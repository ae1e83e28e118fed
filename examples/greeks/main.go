// Greeks prices three options whose payoffs jump, and differentiates the prices through the jumps:
//
//	log S_k   = log S_{k−1} − σ²/2n + σ/√n·ε_k,   k = 1..n dates in a year, σ = 0.2, no interest
//	digital     1 if log S_n > 0
//	barrier     1 if log S_n > 0, knocked out if log S_k < −0.15 on one of the n − 1 dates before
//	autocall    1 + 0.01·k on the first date k with S_k > 1.02, and the end; at last 1 if S_n > 0.75, else S_n
//
// A price and its delta, ∂price/∂log S_0, are exact by quadrature over the price on each date. Automatic differentiation
// says 0 of the first two. Beside the surface integral there are three other ways to the barrier's delta:
//
//	likelihood ratio    payoff·ε_1·√n/σ                            no bias, and a variance that grows with n
//	differences         (payoff at log S_0 + h − at −h)/2h, ε the same for both
//	smoothed ifs        ifs by 1/(1 + exp(−Φ/h)), differentiated
//
// The last two have a bias, which is exact by the same quadrature, and a step h: the table takes that with the least error.
// All are as fast as a loop by hand is, on one processor.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
)

const (
	sigma  = 0.2
	knock  = -0.15
	floor  = 0.75
	coupon = 0.01

	digital, barrier, autocall = "digital", "barrier", "autocall"
)

var call = math.Log(1.02)

// An option pays on the dates 1 to n.
type option struct {
	name  string
	dates int
	pays  func(x []graph.Expr) graph.Expr // given the log prices on all dates
}

func options(dates ...int) (list []option) {
	list = append(list, option{digital, 1, func(x []graph.Expr) graph.Expr { return graph.If(graph.Greater(x[0], 0), 1, 0) }})
	for _, n := range dates {
		list = append(list, option{barrier, n, func(x []graph.Expr) graph.Expr {
			wins := graph.Greater(x[n-1], 0)
			for _, at := range x[:n-1] {
				wins = graph.And(wins, graph.Greater(at, knock))
			}
			return graph.If(wins, 1, 0)
		}})
	}
	n := dates[0]
	return append(list, option{autocall, n, func(x []graph.Expr) graph.Expr {
		f := graph.If(graph.Greater(x[n-1], math.Log(floor)), 1, graph.Exp(x[n-1]))
		for k := n; k > 0; k-- {
			f = graph.If(graph.Greater(x[k-1], call), 1+coupon*float64(k), f)
		}
		return f
	}})
}

// expectation is the option's price, a function of log S_0.
func (o option) expectation() (*expect.Expectation, error) {
	m := graph.NewSimulation()
	at := m.Param("log S_0", 0)
	dt := 1 / float64(o.dates)
	var x []graph.Expr
	for k := range o.dates {
		noise := m.Sample(fmt.Sprint("noise", k), graph.Normal(0, 1))
		at = graph.Add(at, graph.Add(-0.5*sigma*sigma*dt, graph.Mul(sigma*math.Sqrt(dt), noise)))
		x = append(x, at)
	}
	return expect.Of(m, o.pays(x))
}

// A quadrature has exact prices.
type quadrature struct {
	dates int
	// worth is what an option is worth on date k at log price x, given what it is worth if it goes on, and cuts are where that jumps.
	worth func(k int, x, goesOn float64) float64
	cuts  []float64
}

func (o option) quadrature() quadrature {
	switch n := o.dates; o.name {
	case digital:
		return quadrature{n, func(_ int, x, _ float64) float64 { return step(x) }, []float64{0}}
	case barrier:
		return quadrature{n, knockedOut(n, step), []float64{knock, 0}}
	}
	return quadrature{o.dates, func(k int, x, goesOn float64) float64 {
		switch {
		case x > call:
			return 1 + coupon*float64(k)
		case k < o.dates:
			return goesOn
		}
		return math.Exp(x) + step(x-math.Log(floor))*(1-math.Exp(x))
	}, []float64{math.Log(floor), call}}
}

func step(x float64) float64 {
	if x > 0 {
		return 1
	}
	return 0
}

// knockedOut is the worth of the barrier option, whose ifs are step or something smooth.
func knockedOut(n int, step func(x float64) float64) func(k int, x, goesOn float64) float64 {
	return func(k int, x, goesOn float64) float64 {
		if k == n {
			return step(x)
		}
		return step(x-knock) * goesOn
	}
}

// at is price and delta at log S_0 = x, by Gauss–Legendre rules between the cuts, date by date from the last.
func (o quadrature) at(x float64) (price, delta float64) {
	const far, points = 1.4, 8
	dt := 1 / float64(o.dates)
	sd, drift := sigma*math.Sqrt(dt), -0.5*sigma*sigma*dt
	var at, weight []float64
	lo := -far
	for _, hi := range append(append([]float64{}, o.cuts...), far) {
		if hi < lo+1e-9 {
			continue
		}
		panels := int((hi-lo)/sd) + 1
		for p := range panels {
			width := (hi - lo) / float64(panels)
			own, w := make([]float64, points), make([]float64, points)
			quad.Legendre{}.FixedLocations(own, w, lo+width*float64(p), lo+width*float64(p+1))
			at, weight = append(at, own...), append(weight, w...)
		}
		lo = hi
	}
	density := func(from, to float64) float64 {
		e := (to - from - drift) / sd
		return math.Exp(-e*e/2) / (sd * math.Sqrt(2*math.Pi))
	}
	moves := make([][]float64, len(at)) // density times weight
	for i := range moves {
		moves[i] = make([]float64, len(at))
		for j := range at {
			if math.Abs(at[j]-at[i]) < 9*sd {
				moves[i][j] = weight[j] * density(at[i], at[j])
			}
		}
	}
	worth := make([]float64, len(at))
	for i := range worth {
		worth[i] = o.worth(o.dates, at[i], 0)
	}
	for k := o.dates - 1; k > 0; k-- {
		next := make([]float64, len(at))
		for i := range next {
			goesOn := 0.0
			for j, p := range moves[i] {
				goesOn += p * worth[j]
			}
			next[i] = o.worth(k, at[i], goesOn)
		}
		worth = next
	}
	for j := range at {
		p := weight[j] * density(x, at[j]) * worth[j]
		price += p
		delta += p * (at[j] - x - drift) / (sd * sd)
	}
	return price, delta
}

// A way estimates the barrier's delta: by its own name, from one draw at a time.
type way struct {
	name string
	bias func(n int, h float64) float64 // at step h; nil if there is none
	draw func(noise []float64, h float64) float64
}

// pays is the barrier's payoff from log S_0 = x.
func pays(x float64, noise []float64) float64 {
	n := len(noise)
	dt := 1 / float64(n)
	drift, sd := -0.5*sigma*sigma*dt, sigma*math.Sqrt(dt)
	for _, e := range noise[:n-1] {
		if x += drift + sd*e; x < knock {
			return 0
		}
	}
	return step(x + drift + sd*noise[n-1])
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// smooth is the derivative of the payoff with smoothed ifs.
func smooth(noise []float64, h float64) float64 {
	n := len(noise)
	dt := 1 / float64(n)
	drift, sd := -0.5*sigma*sigma*dt, sigma*math.Sqrt(dt)
	x, value, slope := 0.0, 1.0, 0.0
	for k, e := range noise {
		x += drift + sd*e
		p := sigmoid((x - knock) / h)
		if k == n-1 {
			p = sigmoid(x / h)
		}
		value *= p
		slope += (1 - p) / h
	}
	return value * slope
}

var ways = []way{
	{"likelihood ratio", nil, func(noise []float64, _ float64) float64 {
		return pays(0, noise) * noise[0] * math.Sqrt(float64(len(noise))) / sigma
	}},
	{"differences", func(n int, h float64) float64 {
		o := option{name: barrier, dates: n}.quadrature()
		up, _ := o.at(h)
		down, _ := o.at(-h)
		_, delta := o.at(0)
		return (up-down)/(2*h) - delta
	}, func(noise []float64, h float64) float64 { return (pays(h, noise) - pays(-h, noise)) / (2 * h) }},
	{"smoothed ifs", func(n int, h float64) float64 {
		var cuts []float64 // where the smoothed ifs are steep
		for _, at := range []float64{knock, 0} {
			for _, far := range []float64{-40, -16, -8, -4, -2, 0, 2, 4, 8, 16, 40} {
				cuts = append(cuts, at+h*far)
			}
		}
		slices.Sort(cuts)
		_, got := quadrature{n, knockedOut(n, func(x float64) float64 { return sigmoid(x / h) }), cuts}.at(0)
		_, delta := option{name: barrier, dates: n}.quadrature().at(0)
		return got - delta
	}, smooth},
}

// A measured way has the error of a second of one processor: √(variance·seconds a draw + bias²).
type measured struct {
	name                                string
	step, mean, variance, seconds, bias float64
}

func (m measured) error() float64 { return math.Sqrt(m.variance*m.seconds + m.bias*m.bias) }

// ours measures the surface integral, from so many draws.
func ours(ctx context.Context, e *expect.Expectation, draws int, seed uint64) (measured, error) {
	start := cli.CPU()
	got, err := e.Estimate(ctx, draws, seed)
	if err != nil {
		return measured{}, err
	}
	n, se := float64(got.Samples), got.Gradient[0].SE
	return measured{"surface integral", 0, got.Gradient[0].Value, se * se * n, (cli.CPU() - start) / n, 0}, nil
}

// measure measures a way at step h.
func (w way) measure(dates, draws int, h float64, seed uint64) measured {
	rng, noise := rand.New(rand.NewPCG(seed, 1)), make([]float64, dates)
	sum, squares := 0.0, 0.0
	start := cli.CPU()
	for range draws {
		for k := range noise {
			noise[k] = rng.NormFloat64()
		}
		g := w.draw(noise, h)
		sum += g
		squares += g * g
	}
	n := float64(draws)
	m := measured{w.name, h, sum / n, squares/n - sum*sum/(n*n), (cli.CPU() - start) / n, 0}
	if w.bias != nil {
		m.bias = w.bias(dates, h)
	}
	return m
}

// best is the way at its best step.
func (w way) best(dates, draws int, seed uint64) (best measured) {
	steps := []float64{0}
	if w.bias != nil {
		steps = []float64{0.001, 0.002, 0.003, 0.005, 0.01, 0.015, 0.02, 0.03}
	}
	for k, h := range steps {
		if m := w.measure(dates, draws, h, seed); k == 0 || m.error() < best.error() {
			best = m
		}
	}
	return best
}

// compare prints how well each way finds the barrier's delta, on one processor.
func compare(ctx context.Context, list []option, draws int, seed uint64, out io.Writer) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	fmt.Fprintf(out, "\nThe barrier's delta, on one processor:\n%-18s %6s %7s %15s %13s %9s %18s %14s\n",
		"", "dates", "step", "a draw's var.", "CPU µs a draw", "bias", "error of a second", "its square is")
	for _, o := range list {
		if o.name != barrier {
			continue
		}
		e, err := o.expectation()
		if err != nil {
			return err
		}
		m, err := ours(ctx, e, draws, seed)
		if err != nil {
			return err
		}
		all := []measured{m}
		for _, w := range ways {
			all = append(all, w.best(o.dates, draws, seed))
		}
		for _, m := range all {
			fmt.Fprintf(out, "%-18s %6d %7.3g %15.4g %13.3f %9.4f %18.5f %8.1f times\n",
				m.name, o.dates, m.step, m.variance, 1e6*m.seconds, m.bias, m.error(), math.Pow(m.error()/all[0].error(), 2))
		}
	}
	return nil
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("greeks")
	seed, draws := flags.Seed(), flags.Count("draws", 200_000, 128, "draws of each estimate")
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "%-10s %6s  %-24s %-14s %-22s %s\n", "", "dates", "price", "exact", "delta", "exact")
	list := options(12, 50)
	for _, o := range list {
		e, err := o.expectation()
		if err != nil {
			return err
		}
		got, err := e.Estimate(ctx, *draws, *seed)
		if err != nil {
			return err
		}
		price, delta := o.quadrature().at(0)
		fmt.Fprintf(out, "%-10s %6d  %.6f ± %.6f      %.10f   %.6f ± %.6f    %.10f\n", o.name, o.dates, got.Value.Value, got.Value.SE, price,
			got.Gradient[0].Value, got.Gradient[0].SE, delta)
	}
	return compare(ctx, list, *draws, *seed, out)
}
