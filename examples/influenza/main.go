// Influenza asks which of two types of influenza was dominant in each month,
// given nothing but the monthly mortality. In a month of type 1 the mortality is
// a level that follows the seasons, in one of type 2 there is an excess on top.
// The type is the sign of a latent f, on which two ifs branch: the mortality of
// its month, and the f of the next. Without the boundary term the fit would be
// wrong.
//
// The model is from Lee, Yu and Yang (NeurIPS 2018), after Shumway and Stoffer.
// The paper's latents are each month's noises, of the level and of the excess;
// here they are the mortalities that follow from them, one for each type. The
// posterior is the same, but not the best mean-field normal: it is better by 18
// nats, since a month's mortality says what one latent is and not what a sum of
// all noises until then is. With the noises as latents the fit is sure that
// October to December are of type 1. The exact posterior, by enumeration of all
// 8192 regions, gives them 0.02 to 0.006, May to September 0.34 to 0.18, and the
// months before next to nothing. The weights by ELBO that this program prints are
// rougher than that, but sure of nothing that is not so.
package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/restarts"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// epidemic builds the model. Its guards "type1" say that a month is of type 1.
func epidemic(obs []float64) *graph.Model {
	m := graph.NewModel()
	f := m.Sample("f0", graph.Normal(0, 1))
	one := graph.Greater(f, 0)

	var level, before, excess graph.Expr // 0
	for i, x := range obs {
		next := graph.Sum(graph.Mul(1.406, level), graph.Mul(-0.622, before))
		level, before = m.Sample(fmt.Sprintf("level%d", i+1), graph.Normal(next, 0.023)), level
		mean := graph.Add(0.21, graph.Sum(level, graph.Mul(-0.312, excess)))
		raised := m.Sample(fmt.Sprintf("raised%d", i+1), graph.Normal(mean, 0.112)) // level + excess
		excess = graph.Sub(raised, level)

		f = m.Sample(fmt.Sprintf("f%d", i+1), graph.Normal(graph.If(one, 0.67, -0.67), 1))
		one = m.Name("type1", graph.Greater(f, 0))
		m.Observe("mortality", graph.Normal(graph.If(one, level, raised), 0.002), x)
	}
	return m
}

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("influenza")
	steps, seed := flags.Steps(2000, "steps of each of thirty fits"), flags.Seed()
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	density, err := epidemic(mortality).Compile()
	if err != nil {
		return err
	}
	// A fit keeps to the types that it starts with: thirty fits, weighed by their
	// ELBO, say more than the best of them.
	fit, err := vi.Fit(ctx, density, vi.Settings{Restarts: 30, Steps: *steps, Seed: *seed})
	if err != nil && !cli.Interrupted(err) {
		return err
	}
	return report(out, restarts.Of(fit))
}

func report(out io.Writer, fits []restarts.Explanation) error {
	best := fits[0]
	fmt.Fprintln(out, "month  mortality                        P(type 1)  type")
	kinds := map[string][]string{}
	for i, g := range best.Density.Named("type1") {
		p, err := restarts.Prob(fits, g)
		if err != nil {
			return err
		}
		month, kind := time.Month(i + 1).String()[:3], "open"
		if p < 0.01 {
			kind = "2"
		} else if p > 0.99 {
			kind = "1"
		}
		kinds[kind] = append(kinds[kind], month)
		bar := strings.Repeat("█", int(30*mortality[i]+0.5))
		fmt.Fprintf(out, "%-5s     %.4f  %-20s  %9.3f  %4s\n", month, mortality[i], bar, p, kind)
	}
	fmt.Fprintln(out, "\nexplanation   ELBO  weight")
	for _, e := range fits {
		path, err := e.MostProbablePath(e.Density.Named("type1"), 10000, 0)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s  %.2f  %6.3f\n", types(path.Holds), e.ELBO.Mean, e.Weight)
	}
	fmt.Fprintln(out)
	for _, k := range []struct{ kind, text string }{
		{"2", "Months with an epidemic, type 2"}, {"1", "Months of type 1"}, {"open", "Open, as explanations differ"},
	} {
		if kinds[k.kind] != nil {
			fmt.Fprintf(out, "%s: %s.\n", k.text, strings.Join(kinds[k.kind], ", "))
		}
	}
	weighted, err := best.Importance(10000, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "After %d steps. Of the best alone: k-hat %.2f, %s.\n", best.Steps, weighted.K, weighted.Verdict())
	return nil
}

// types are those of the months, January first.
func types(one []bool) string {
	var b strings.Builder
	for _, is := range one {
		if is {
			b.WriteByte('1')
		} else {
			b.WriteByte('2')
		}
	}
	return b.String()
}
