// Prices and deltas by quadrature over the price on each date.

package main

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// A quadrature has exact prices.
type quadrature struct {
	dates int
	// worth is what an option is worth on date k at log price x, given what it is worth if it goes on, and cuts are where that jumps.
	worth func(k int, x, goesOn float64) float64
	cuts  []float64
}

func (o option) quadrature() quadrature {
	switch n := o.dates; o.name {
	case digital:
		return quadrature{n, func(_ int, x, _ float64) float64 { return step(x) }, []float64{0}}
	case barrier:
		return quadrature{n, knockedOut(n, step), []float64{knock, 0}}
	}
	return quadrature{o.dates, func(k int, x, goesOn float64) float64 {
		switch {
		case x > call:
			return 1 + coupon*float64(k)
		case k < o.dates:
			return goesOn
		}
		return math.Exp(x) + step(x-math.Log(floor))*(1-math.Exp(x))
	}, []float64{math.Log(floor), call}}
}

func step(x float64) float64 {
	if x > 0 {
		return 1
	}
	return 0
}

// knockedOut is the worth of the barrier option, whose ifs are step or something smooth.
func knockedOut(n int, step func(x float64) float64) func(k int, x, goesOn float64) float64 {
	return func(k int, x, goesOn float64) float64 {
		if k == n {
			return step(x)
		}
		return step(x-knock) * goesOn
	}
}

// at is price and delta at log S_0 = x, by Gauss–Legendre rules between the cuts, date by date from the last.
func (o quadrature) at(x float64) (price, delta float64) {
	const far, points = 1.4, 8
	dt := 1 / float64(o.dates)
	sd, drift := sigma*math.Sqrt(dt), -0.5*sigma*sigma*dt
	var at, weight []float64
	lo := -far
	for _, hi := range append(append([]float64{}, o.cuts...), far) {
		if hi < lo+1e-9 {
			continue
		}
		panels := int((hi-lo)/sd) + 1
		for p := range panels {
			width := (hi - lo) / float64(panels)
			own, w := make([]float64, points), make([]float64, points)
			quad.Legendre{}.FixedLocations(own, w, lo+width*float64(p), lo+width*float64(p+1))
			at, weight = append(at, own...), append(weight, w...)
		}
		lo = hi
	}
	density := func(from, to float64) float64 {
		e := (to - from - drift) / sd
		return math.Exp(-e*e/2) / (sd * math.Sqrt(2*math.Pi))
	}
	moves := make([][]float64, len(at)) // density times weight
	for i := range moves {
		moves[i] = make([]float64, len(at))
		for j := range at {
			if math.Abs(at[j]-at[i]) < 9*sd {
				moves[i][j] = weight[j] * density(at[i], at[j])
			}
		}
	}
	worth := make([]float64, len(at))
	for i := range worth {
		worth[i] = o.worth(o.dates, at[i], 0)
	}
	for k := o.dates - 1; k > 0; k-- {
		next := make([]float64, len(at))
		for i := range next {
			goesOn := 0.0
			for j, p := range moves[i] {
				goesOn += p * worth[j]
			}
			next[i] = o.worth(k, at[i], goesOn)
		}
		worth = next
	}
	for j := range at {
		p := weight[j] * density(x, at[j]) * worth[j]
		price += p
		delta += p * (at[j] - x - drift) / (sd * sd)
	}
	return price, delta
}
