// Influenza asks which of two types of influenza was dominant in each month,
// given nothing but the monthly mortality. In a month of type 1 the mortality is
// a level that follows the seasons, in one of type 2 there is an excess on top.
// The type is the sign of a latent f, on which two ifs branch: the mortality of
// its month, and the f of the next. Without the boundary term the fit would be
// wrong.
//
// The model is from Lee, Yu and Yang (NeurIPS 2018), after Shumway and Stoffer.
package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// epidemic builds the model and returns it with the guards "the month is of
// type 1".
func epidemic(obs []float64) (*graph.Model, []graph.Guard) {
	m := graph.NewModel()
	f := m.Sample("f0", graph.Normal(0, 1))
	one := graph.Greater(f, 0)

	var level, before, excess graph.Expr // 0
	var type1 []graph.Guard
	for i, x := range obs {
		v := m.Sample(fmt.Sprintf("v%d", i+1), graph.Normal(0, 0.023))
		w := m.Sample(fmt.Sprintf("w%d", i+1), graph.Normal(0, 0.112))
		level, before = graph.Sum(graph.Mul(1.406, level), graph.Mul(-0.622, before), v), level
		excess = graph.Sum(graph.Mul(-0.312, excess), graph.Add(0.21, w))

		f = m.Sample(fmt.Sprintf("f%d", i+1), graph.Normal(graph.If(one, 0.67, -0.67), 1))
		one = graph.Greater(f, 0)
		type1 = append(type1, one)
		m.Observe("mortality", graph.Normal(graph.If(one, level, graph.Add(level, excess)), 0.002), x)
	}
	return m, type1
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("influenza")
	steps, seed := flags.Steps(10000, "steps of the fit"), flags.Seed()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	m, type1 := epidemic(mortality)
	density, err := m.Compile()
	if err != nil {
		return err
	}
	fit, err := vi.Fit(ctx, density, vi.Settings{Steps: *steps, Seed: *seed})
	if err != nil && !cli.Interrupted(err) {
		return err
	}
	return report(out, fit, type1)
}

func report(out io.Writer, fit *vi.Posterior, type1 []graph.Guard) error {
	fmt.Fprintln(out, "month  mortality                        P(type 1)  type")
	var months []string
	for i, g := range type1 {
		p, err := fit.Prob(g)
		if err != nil {
			return err
		}
		month, kind := time.Month(i + 1).String()[:3], 2
		if p > 0.5 {
			kind = 1
			months = append(months, month)
		}
		bar := strings.Repeat("█", int(30*mortality[i]+0.5))
		fmt.Fprintf(out, "%-5s     %.4f  %-20s  %9.5f  %4d\n", month, mortality[i], bar, p, kind)
	}
	elbo, err := fit.ELBO(10000, 0)
	if err != nil {
		return err
	}
	if months == nil {
		months = []string{"none"}
	}
	fmt.Fprintf(out, "\nMonths of type 1: %s; after %d steps; ELBO %v.\n", strings.Join(months, ", "), fit.Steps, elbo)
	fmt.Fprintln(out, "The ELBO has local optima that no fit leaves: compare fits from other starts (vi.Settings.Start).")
	return nil
}
