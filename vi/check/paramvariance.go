package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// ParamVariances are the gradient of the ELBO and the variance of its estimates,
// by parameter.
type ParamVariances struct {
	Estimator string
	Samples   int // samples in each estimate
	// Params are those with the largest variance first, in the family's units: a
	// parameter that moves in large steps counts more.
	Params []ParamVariance
}

// ParamVariance is the gradient with respect to a parameter, in units of the
// family (see family.Q): the mean of the estimates, and the variance of one.
type ParamVariance struct {
	Name     string // "theta3 μ"
	Latent   int
	Gradient mc.Estimate
	Variance float64
}

// VarianceByParam draws gradient estimates at q, as Gradient does, and says
// which parameters their variance comes from.
func VarianceByParam(d *graph.Density, q family.Q, e gradient.Estimator, s GradientSettings) (ParamVariances, error) {
	e = orBoundary(e)
	s.fill()
	g, err := Gradient(d, q, e, s)
	if err != nil {
		return ParamVariances{}, err
	}
	v := ParamVariances{Estimator: e.Name(), Samples: s.Samples}
	units := make([]float64, len(g.Mean))
	q.Units(units)
	for k, u := range units {
		p := q.Param(k)
		x := mc.Estimate{Value: u * g.Mean[k], SE: u * g.SE[k]}
		v.Params = append(v.Params, ParamVariance{p.Label(d.Latents()), p.Latent, x, x.SE * x.SE * float64(s.Draws)})
	}
	slices.SortStableFunc(v.Params, func(a, b ParamVariance) int { return cmp.Compare(b.Variance, a.Variance) })
	return v, nil
}

// paramsShown is the number of parameters that String lists.
const paramsShown = 20

// String is a table of the parameters with the largest variance, and each one's
// share of the sum.
func (v ParamVariances) String() string {
	total := 0.0
	for _, p := range v.Params {
		total += p.Variance
	}
	rows := [][]string{{"parameter", "gradient", "variance", "share"}}
	for _, p := range v.Params[:min(paramsShown, len(v.Params))] {
		share := 0.0
		if total > 0 {
			share = p.Variance / total
		}
		rows = append(rows, []string{p.Name, p.Gradient.Short(), fmt.Sprintf("%.2g", p.Variance), text.Percent(share)})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "gradient by %s, samples an estimate: %d\n", v.Estimator, v.Samples)
	b.WriteString(text.Table(rows, 1))
	if n := len(v.Params) - paramsShown; n > 0 {
		fmt.Fprintf(&b, "%d more parameters\n", n)
	}
	return b.String()
}
