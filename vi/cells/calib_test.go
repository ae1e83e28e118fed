package cells

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/calibration"
)

func TestCalib(t *testing.T) {
	for _, c := range calibration.Cases() {
		start := cpu()
		s, err := Find(context.Background(), c.Density, Settings{Points: priorPoints(c.Density, 30), Most: 2000, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		var e []float64
		se := 0.0
		for _, x := range s.Cells {
			e = append(e, x.ELBO.Mean)
			w := math.Exp(x.LogEvidence.Mean - s.total())
			se += w * w * x.LogEvidence.SE * x.LogEvidence.SE
		}
		elbo := math.NaN()
		if len(e) > 0 {
			elbo = floats.LogSumExp(e)
		}
		fmt.Printf("%-40s dim %3d planes %4d exact %9.3f found %9.3f ± %.3f elbo %9.3f tried %4d cells %4d cpu %v\n", c.Name, c.Density.Dim(), c.Density.Arrangement().Len(), c.Exact.LogEvidence, s.total(), math.Sqrt(se), elbo, s.Tried, len(s.Cells), cpu()-start)
	}
}
