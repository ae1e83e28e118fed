package evaluation

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// variances fills Table 1 and the comparison of guards.
func (s *summary) variances() {
	for _, step := range s.Settings.StepSizes {
		for _, m := range s.Settings.Models {
			for _, e := range s.Settings.Estimators {
				if row, ok := s.varianceRow(m, step, e); ok {
					s.Table1 = append(s.Table1, row)
				}
			}
			if row, ok := s.guardsRow(m, step); ok {
				s.Guards = append(s.Guards, row)
			}
		}
	}
}

// own is the averages over the run of an estimator at N = 1; NaN if there is
// none.
func (s *summary) own(model string, step float64, estimator string) ratio {
	r := s.run(model, step, 1, estimator)
	if r == nil {
		return ratio{math.NaN(), math.NaN()}
	}
	avg, norm := averages(r.Variance, estimator)
	return ratio{avg, norm}
}

// same is the averages of an estimator along facet's run.
func (s *summary) same(model string, step float64, estimator string) ratio {
	r := s.run(model, step, 1, "facet")
	if r == nil {
		return ratio{math.NaN(), math.NaN()}
	}
	avg, norm := averages(r.Same, estimator)
	return ratio{avg, norm}
}

func (r ratio) over(o ratio) numRatio { return numRatio{num(r.Avg / o.Avg), num(r.Norm / o.Norm)} }

func (s *summary) varianceRow(model string, step float64, estimator string) (varianceRow, bool) {
	if s.run(model, step, 1, estimator) == nil {
		return varianceRow{}, false
	}
	own := s.own(model, step, estimator)
	row := varianceRow{
		StepSize: step, Model: model, Estimator: estimator, AvgVar: num(own.Avg), NormVar: num(own.Norm),
		Own:   own.over(s.own(model, step, "score")),
		Same:  s.same(model, step, estimator).over(s.same(model, step, "score")),
		Paper: unknown,
	}
	if p, ok := paperRatios[step][estimator][model]; ok {
		row.Paper = numRatio{num(p.Avg), num(p.Norm)}
	}
	return row, true
}

func (s *summary) guardsRow(model string, step float64) (guardsRow, bool) {
	r := s.run(model, step, 1, "facet")
	if r == nil {
		return guardsRow{}, false
	}
	all, one := of(r.Same, "facet"), of(r.Same, "ours")
	var avg, norm []float64
	for k := range all {
		avg, norm = append(avg, all[k].Avg/one[k].Avg), append(norm, all[k].Norm/one[k].Norm)
	}
	return guardsRow{
		StepSize: step, Model: model,
		Own:    s.own(model, step, "facet").over(s.own(model, step, "ours")),
		Same:   s.same(model, step, "facet").over(s.same(model, step, "ours")),
		Median: numRatio{num(median(avg)), num(median(norm))},
	}, true
}

// of returns the points of one estimator.
func of(points []variancePoint, estimator string) []variancePoint {
	return slices.DeleteFunc(slices.Clone(points), func(p variancePoint) bool { return p.Estimator != estimator })
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return stat.Quantile(0.5, stat.LinInterp, x, nil)
}
