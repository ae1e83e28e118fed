package vi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
)

// LatentVariances are the gradient of the ELBO and the variance of its estimates,
// by latent.
type LatentVariances struct {
	Estimator string
	Samples   int // samples in each estimate
	// Latents are those with the largest variance first.
	Latents []LatentVariance
}

// LatentVariance is the gradient with respect to a latent's mean μ and to its ρ,
// where the scale is softplus(ρ): the mean of the estimates, and the variance of
// one of them.
type LatentVariance struct {
	Name          string
	Mu, Rho       Estimate
	VarMu, VarRho float64
}

// VarianceByLatent draws gradient estimates at q, as Gradient does, and says
// which latents their variance comes from.
func VarianceByLatent(d *graph.Density, q MeanField, e Estimator, s GradientSettings) (LatentVariances, error) {
	orSet[Estimator](&e, Boundary{})
	s.fill()
	g, err := Gradient(d, q, e, s)
	if err != nil {
		return LatentVariances{}, err
	}
	v := LatentVariances{Estimator: e.Name(), Samples: s.Samples}
	n := float64(s.Draws)
	for i, name := range d.Latents() {
		mu, rho := Estimate{g.Mean[2*i], g.SE[2*i]}, Estimate{g.Mean[2*i+1], g.SE[2*i+1]}
		v.Latents = append(v.Latents, LatentVariance{name, mu, rho, mu.SE * mu.SE * n, rho.SE * rho.SE * n})
	}
	slices.SortStableFunc(v.Latents, func(a, b LatentVariance) int { return cmp.Compare(b.VarMu+b.VarRho, a.VarMu+a.VarRho) })
	return v, nil
}

// latentsShown is the number of latents that String lists.
const latentsShown = 20

// String is a table of the latents with the largest variance, and each one's
// share of the sum.
func (v LatentVariances) String() string {
	total := 0.0
	for _, l := range v.Latents {
		total += l.VarMu + l.VarRho
	}
	rows := [][]string{{"latent", "by μ", "variance", "by ρ", "variance", "share"}}
	for _, l := range v.Latents[:min(latentsShown, len(v.Latents))] {
		share := 0.0
		if total > 0 {
			share = (l.VarMu + l.VarRho) / total
		}
		rows = append(rows, []string{l.Name, plusMinus(l.Mu), fmt.Sprintf("%.2g", l.VarMu), plusMinus(l.Rho), fmt.Sprintf("%.2g", l.VarRho), percent(share)})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "gradient by %s, samples an estimate: %d\n", v.Estimator, v.Samples)
	b.WriteString(table(rows, 1))
	if n := len(v.Latents) - latentsShown; n > 0 {
		fmt.Fprintf(&b, "%d more latents\n", n)
	}
	return b.String()
}
