// Estimators compares gradient estimators on one of the paper's models at its
// initial θ: their variance and their time. What counts is how long it takes to know
// the gradient to some precision,
//
//	cost = Σ_k Var(g_k) · seconds an estimate.
//
// The estimators are those of package gradient, the models those of examples/models.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/facetvi/facet/examples/paper/problem"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/gradient"
)

// names are the estimators in the order of the table.
var names = []string{"score", "reparam", "boundary", "boundary_single"}

// comparison is what -json prints. θ is (μ_0, ρ_0, μ_1, …).
type comparison struct {
	Model      string           `json:"model"`
	Theta      []float64        `json:"theta"`
	ELBO       float64          `json:"elbo"`
	ELBOSE     float64          `json:"elbo_se"`
	Estimators map[string]stats `json:"estimators"`
}

type stats struct {
	Mean      []float64 `json:"mean"`
	SE        []float64 `json:"se"`
	AvgVar    float64   `json:"avg_var"`
	NormVar   float64   `json:"norm_var"`
	USPerDraw float64   `json:"us_per_draw"`
}

func run(out io.Writer, model string, draws int, seed uint64, asJSON bool) error {
	p, err := problem.Named(model)
	if err != nil {
		return err
	}
	c, err := compare(p, draws, seed)
	if err != nil {
		return err
	}
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", " ")
		return enc.Encode(c)
	}
	c.print(out, p.Oracle.ELBO(p.ThetaInit), draws)
	return nil
}

func compare(p *problem.Problem, draws int, seed uint64) (*comparison, error) {
	q := p.Start()
	elbo, err := check.ELBO(p.Density, q, draws, seed)
	if err != nil {
		return nil, err
	}
	c := &comparison{p.Name, p.ThetaInit, elbo.Value, elbo.SE, map[string]stats{}}
	for _, name := range names {
		e, err := gradient.Named(name)
		if err != nil {
			return nil, err
		}
		g, err := check.Gradient(p.Density, q, e, check.GradientSettings{Draws: draws, Seed: seed})
		if err != nil {
			return nil, err
		}
		c.Estimators[name] = stats{g.Mean, g.SE, g.AvgVar, g.NormVar, float64(g.PerDraw.Nanoseconds()) / 1000}
	}
	return c, nil
}

func (c *comparison) print(out io.Writer, exact float64, draws int) {
	fmt.Fprintf(out, "%s at its initial θ: ELBO %.8g ± %.2g (exactly %.8g)\n\n",
		c.Model, c.ELBO, c.ELBOSE, exact)
	fmt.Fprintln(out, "estimator          Avg(V(·))  of score's    V(‖·‖₂)  of score's  µs a draw  unbiased")
	score := c.Estimators["score"]
	for _, name := range names {
		s := c.Estimators[name]
		unbiased := "yes"
		if name == "reparam" {
			unbiased = "NO: this model has guards"
		}
		fmt.Fprintf(out, "%-15s  %11.4g  %10.2g  %9.4g  %10.2g  %9.2f  %s\n",
			name, s.AvgVar, s.AvgVar/score.AvgVar, s.NormVar, s.NormVar/score.NormVar, s.USPerDraw, unbiased)
	}
	fmt.Fprintf(out, "\nA draw is a gradient from one sample; %d draws. boundary uses all guards, boundary_single one at random.\n", draws)
}

func main() {
	model := flag.String("model", "temperature", "proposition, temperature, textmsg or influenza")
	draws := flag.Int("draws", 10000, "gradients of each estimator, of one sample each")
	seed, asJSON := flag.Uint64("seed", 1, "of random numbers"), flag.Bool("json", false, "print JSON")
	flag.Parse()
	if err := run(os.Stdout, *model, *draws, *seed, *asJSON); err != nil {
		log.Fatal(err)
	}
}
