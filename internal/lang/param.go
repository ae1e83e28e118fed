package lang

import (
	"math/rand/v2"
)

// newParamLaw is the law of parameters with the given support. Its parameters are the
// coordinate where it starts, the coordinate's unit, and the bounds of an interval.
func newParamLaw(name string, s Support) *Law {
	f := &Law{
		name: name, params: []param{{"start", AnyReal}, {"unit", AnyReal}}, support: s,
		logProb: func(Expr, []Expr) Expr { return Expr{} },
		rand:    func(p []float64, _ *rand.Rand) float64 { return p[0] },
		coordinate: coordinate{
			start:    func(p []float64) (center, scale float64) { return p[0], p[1] },
			residual: func(_, _, _ float64, _ []float64) float64 { return 0 },
		},
	}
	return f
}

// The laws of parameters: real ones, positive ones, and those in an interval.
var (
	RealParam     = newParamLaw("parameter", reals)
	PositiveParam = newParamLaw("positive parameter", Positives)
	IntervalParam = func() *Law {
		f := newParamLaw("parameter in an interval", Support{transform: scaledLogisticMap})
		f.params = append(f.params, param{"lo", bound}, param{"hi", bound})
		f.supportAt = func(p []Expr) Support {
			return Support{lo: p[2].constValue(), hi: p[3].constValue(), transform: scaledLogisticMap}
		}
		return f
	}()
)
