package lang

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// Distributions of categories 0, 1, …, K − 1: observations only.

// Categorical is the law of k categories.
func Categorical(k int) *Law {
	return &Law{
		name: fmt.Sprintf("Categorical of %d", k), params: numbered("weight", k, Positive),
		support: Support{lo: 0, hi: float64(k - 1), whole: true},
		check:   atLeast(k, "category"),
		logProb: func(x Expr, p []Expr) Expr {
			var chosen Expr
			for j, w := range p {
				chosen = Add(chosen, times(is(x, float64(j)), Log(w)))
			}
			return Sub(chosen, logTotal(p))
		},
		rand: func(p []float64, rng *rand.Rand) float64 { return float64(Choice(p, rng)) },
		tails: tails{
			weighted: true,
			logCDF: func(x Expr, p []Expr) Expr {
				return categoriesUpTo(p, func(j float64) Expr { return Sub(x, j) })
			},
			logCCDF: func(x Expr, p []Expr) Expr {
				return categoriesUpTo(p, func(j float64) Expr { return Sub(j-1, x) })
			},
		},
		moments: moments{
			mean: func(p []Expr) Expr { return categoryMoment(1, p) },
			variance: func(p []Expr) Expr {
				return Sub(categoryMoment(2, p), Square(categoryMoment(1, p)))
			},
		},
	}
}

// numbered are n parameters name 0, name 1, …, all with one rule.
func numbered(name string, n int, r Rule) []param {
	list := make([]param, n)
	for i := range list {
		list[i] = param{fmt.Sprint(name, " ", i), r}
	}
	return list
}

// atLeast is the check that n, a number of things, is not 0.
func atLeast(n int, what string) func([]Expr) error {
	return func([]Expr) error {
		if n == 0 {
			return errors.New("needs at least one " + what)
		}
		return nil
	}
}

// logTotal is log Σ weights.
func logTotal(weights []Expr) Expr {
	logs := make([]Expr, len(weights))
	for i, w := range weights {
		logs[i] = Log(w)
	}
	return LogSumExp(logs...)
}

// categoriesUpTo is the log probability of the categories j with upTo(j) ≥ 0.
func categoriesUpTo(weights []Expr, upTo func(j float64) Expr) Expr {
	logs := make([]Expr, len(weights))
	for j, w := range weights {
		logs[j] = applyPair(kernel.IfNonNegative, upTo(float64(j)), Log(w))
	}
	return Sub(LogSumExp(logs...), logTotal(weights))
}

// categoryMoment is the mean of kⁿ.
func categoryMoment(n int, weights []Expr) Expr {
	var sum Expr
	for k, w := range weights {
		sum = Add(sum, Mul(math.Pow(float64(k), float64(n)), w))
	}
	return Div(sum, Sum(weights...))
}

// Choice draws an index in proportion to weights.
func Choice(weights []float64, rng *rand.Rand) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	u, last := unitRand(rng)*total, 0
	for k, w := range weights {
		if w > 0 {
			last = k
			if u -= w; u < 0 {
				break
			}
		}
	}
	return last
}

// OrderedLogistic is the law with n cuts.
func OrderedLogistic(n int) *Law {
	top := float64(n)
	return &Law{
		name: fmt.Sprintf("OrderedLogistic of %d cuts", n), params: append([]param{{"eta", AnyReal}}, numbered("cut", n, AnyReal)...),
		support: Support{lo: 0, hi: top, whole: true},
		check:   func(p []Expr) error { return increasing(p[1:], "cut") },
		// P(k) = sigmoid(b)·sigmoid(−a)·(1 − exp(a − b)) for cuts a < b less eta.
		logProb: func(x Expr, p []Expr) Expr {
			eta, cuts := p[0], p[1:]
			first, last := is(x, 0), is(x, top)
			below, above := cutOf(x, cuts, 1), cutOf(x, cuts, 0)
			sides := Add(times(Sub(1, last), Softplus(Sub(eta, above))), times(Sub(1, first), Softplus(Sub(below, eta))))
			var between Expr
			for k := 1; k < n; k++ {
				between = Add(between, times(is(x, float64(k)), Apply(kernel.Log1mExp, Sub(cuts[k-1], cuts[k]))))
			}
			return Sub(between, sides)
		},
		rand: func(p []float64, rng *rand.Rand) float64 {
			x, k := p[0]+logitRand(rng), 0
			for _, c := range p[1:] {
				k += int(ir.Indicator(x > c))
			}
			return float64(k)
		},
		tails: tails{
			logCDF: func(x Expr, p []Expr) Expr {
				return Neg(times(Sub(1, is(x, top)), Softplus(Sub(p[0], cutOf(x, p[1:], 0)))))
			},
			logCCDF: func(x Expr, p []Expr) Expr {
				return applyPair(kernel.IfNonNegative, Sub(top-1, x), Neg(Softplus(Sub(cutOf(x, p[1:], 0), p[0]))))
			},
		},
		moments: moments{
			mean: func(p []Expr) Expr { return categoriesAbove(p, func(int) float64 { return 1 }) },
			variance: func(p []Expr) Expr {
				square := categoriesAbove(p, func(k int) float64 { return float64(2*k + 1) }) // Σ (2k + 1)·P(X > k)
				return Sub(square, Square(categoriesAbove(p, func(int) float64 { return 1 })))
			},
		},
	}
}

// cutOf is cuts[x − back], and 0 where there is none.
func cutOf(x Expr, cuts []Expr, back int) Expr {
	var chosen Expr
	for k, c := range cuts {
		chosen = Add(chosen, times(is(x, float64(k+back)), c))
	}
	return chosen
}

// categoriesAbove is Σ weight(k)·P(X > k) of an ordered logistic X.
func categoriesAbove(p []Expr, weight func(k int) float64) Expr {
	var sum Expr
	for k, c := range p[1:] {
		sum = Add(sum, Mul(weight(k), Sigmoid(Sub(p[0], c))))
	}
	return sum
}

// increasing is an error if there are none, or numbers among them do not increase.
func increasing(xs []Expr, what string) error {
	if len(xs) == 0 {
		return errors.New("needs at least one " + what)
	}
	for i, x := range xs[1:] {
		a, aKnown := xs[i].IsConst()
		if b, known := x.IsConst(); known && aKnown && !(a < b) {
			return fmt.Errorf("%s %v comes before %v: they must increase", what, a, b)
		}
	}
	return nil
}
