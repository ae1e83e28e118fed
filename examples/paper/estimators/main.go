// Estimators compares gradient estimators on one of the paper's models at its
// initial θ: their variance and their time. What counts is how long it takes to know
// the gradient to some precision,
//
//	cost = Σ_k Var(g_k) · seconds an estimate.
//
// The estimators are those of package gradient, the models those of examples/models.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
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

func main() { cli.Main(run) }

func run(_ context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("estimators")
	model := flags.String("model", "temperature", "`name` of the model: proposition, temperature, textmsg or influenza")
	draws := flags.Count("draws", 10000, 2, "gradient draws of each estimator, of one sample each")
	seed := flags.Seed()
	asJSON := flags.Bool("json", false, "print JSON")
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	spec, err := models.ByName(*model)
	if err != nil {
		return flags.Wrong(err)
	}
	c, err := compare(spec, *draws, *seed)
	if err != nil {
		return err
	}
	if *asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", " ")
		return enc.Encode(c)
	}
	c.print(out, spec, *draws)
	return nil
}

func compare(spec models.Spec, draws int, seed uint64) (*comparison, error) {
	d, err := compile(spec)
	if err != nil {
		return nil, err
	}
	q := family.Softplus{}.At(spec.ThetaInit)
	elbo, err := check.ELBO(d, q, draws, seed)
	if err != nil {
		return nil, err
	}
	c := &comparison{
		Model: spec.Name, Theta: spec.ThetaInit, ELBO: elbo.Value, ELBOSE: elbo.SE,
		Estimators: map[string]stats{},
	}
	for _, name := range names {
		e, err := gradient.Named(name)
		if err != nil {
			return nil, err
		}
		g, err := check.Gradient(d, q, e, check.GradientSettings{Draws: draws, Seed: seed})
		if err != nil {
			return nil, err
		}
		c.Estimators[name] = stats{g.Mean, g.SE, g.AvgVar, g.NormVar, float64(g.PerDraw.Nanoseconds()) / 1000}
	}
	return c, nil
}

// compile makes sure that θ and the density have the latents in the same order.
func compile(spec models.Spec) (*graph.Density, error) {
	d, err := spec.Model().Compile()
	if err != nil {
		return nil, err
	}
	if !slices.Equal(d.Latents(), spec.Latents) {
		return nil, errors.New("the model's latents are not in the order of θ")
	}
	return d, nil
}

func (c *comparison) print(out io.Writer, spec models.Spec, draws int) {
	fmt.Fprintf(out, "%s at its initial θ: ELBO %.8g ± %.2g (exactly %.8g)\n\n",
		c.Model, c.ELBO, c.ELBOSE, spec.Oracle.ELBO(spec.ThetaInit))
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
