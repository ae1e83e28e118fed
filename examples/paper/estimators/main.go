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
	"github.com/facetvi/facet/vi/report"
)

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

func run(out io.Writer, model string, draws int, seed uint64, asJSON bool, html string) error {
	p, err := problem.Named(model)
	if err != nil {
		return err
	}
	c, err := compare(p, draws, seed)
	if err != nil {
		return err
	}
	head, rows := []string{"estimator", "Avg(V(·))", "of score's", "V(‖·‖₂)", "of score's", "µs a draw", "unbiased"}, c.rows()
	elbo := fmt.Sprintf("%s at its initial θ: ELBO %.8g ± %.2g (exactly %.8g)", c.Model, c.ELBO, c.ELBOSE, p.Oracle.ELBO(p.ThetaInit))
	note := fmt.Sprintf("%d draws, each a gradient from one sample: the mean variance of its components, and the variance of its norm. boundary uses all guards, boundary_single one at random, reparam sees none.", draws)
	if html != "" {
		err := report.SaveTable(html, head, rows, 1, report.Options{Title: "Estimators of the gradient of the ELBO", About: elbo + ". " + note})
		if err != nil {
			return err
		}
	}
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", " ")
		return enc.Encode(c)
	}
	fmt.Fprintf(out, "%s\n\n", elbo)
	for _, r := range append([][]string{head}, rows...) {
		fmt.Fprintf(out, "%-15s  %11s  %10s  %9s  %10s  %9s  %s\n", r[0], r[1], r[2], r[3], r[4], r[5], r[6])
	}
	fmt.Fprintf(out, "\n%s\n", note)
	return nil
}

func compare(p *problem.Problem, draws int, seed uint64) (*comparison, error) {
	q := p.Start()
	elbo, err := check.ELBO(p.Density, q, draws, seed)
	if err != nil {
		return nil, err
	}
	c := &comparison{p.Name, p.ThetaInit, elbo.Value, elbo.SE, map[string]stats{}}
	for _, e := range problem.Estimators {
		g, err := check.Gradient(p.Density, q, e, check.GradientSettings{Draws: draws, Seed: seed})
		if err != nil {
			return nil, err
		}
		c.Estimators[e.Name()] = stats{g.Mean, g.SE, g.AvgVar, g.NormVar, float64(g.PerDraw.Nanoseconds()) / 1000}
	}
	return c, nil
}

// rows are those of the table.
func (c *comparison) rows() (list [][]string) {
	score := c.Estimators["score"]
	for _, e := range problem.Estimators {
		s, unbiased := c.Estimators[e.Name()], "yes"
		if e.Name() == "reparam" {
			unbiased = "no"
		}
		list = append(list, []string{e.Name(), fmt.Sprintf("%.3g", s.AvgVar), fmt.Sprintf("%.2g", s.AvgVar/score.AvgVar),
			fmt.Sprintf("%.3g", s.NormVar), fmt.Sprintf("%.2g", s.NormVar/score.NormVar), fmt.Sprintf("%.2f", s.USPerDraw), unbiased})
	}
	return list
}

func main() {
	model := flag.String("model", "temperature", "proposition, temperature, textmsg or influenza")
	draws := flag.Int("draws", 10000, "gradients of each estimator, of one sample each")
	seed, asJSON := flag.Uint64("seed", 1, "of random numbers"), flag.Bool("json", false, "print JSON")
	html := flag.String("html", "", "`file` for a page with the table")
	flag.Parse()
	if err := run(os.Stdout, *model, *draws, *seed, *asJSON, *html); err != nil {
		log.Fatal(err)
	}
}
