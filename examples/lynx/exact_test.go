package main

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// evidence is the log probability of the years on one side of a threshold, with
// the coefficients integrated out in closed form and the noise by quadrature.
func evidence(x []float64, in func(lag float64) bool, centre float64) float64 {
	xx, xy, yy, n := mat.NewSymDense(3, nil), mat.NewVecDense(3, nil), 0.0, 0.0
	for t := 2; t < len(x); t++ {
		if !in(x[t-2]) {
			continue
		}
		v := mat.NewVecDense(3, []float64{1, x[t-1] - x[t-2], x[t-2] - centre})
		y := x[t] - x[t-1]
		xx.SymRankOne(xx, 1, v)
		xy.AddScaledVec(xy, y, v)
		yy += y * y
		n++
	}
	const h = 0.02
	var logs []float64
	for u := math.Log(0.05); u < math.Log(1.5); u += h {
		s := math.Exp(u)
		v := s * s
		a := mat.NewSymDense(3, nil)
		a.ScaleSym(1/v, xx)
		for i := range 3 {
			a.SetSym(i, i, a.At(i, i)+1)
		}
		var chol mat.Cholesky
		if !chol.Factorize(a) {
			panic("not positive definite")
		}
		var b mat.VecDense
		if err := chol.SolveVecTo(&b, xy); err != nil {
			panic(err)
		}
		quad := mat.Dot(&b, xy) / (v * v)
		logs = append(logs, math.Log(h)+u+math.Ln2+distuv.Normal{Sigma: 0.5}.LogProb(s)-
			n/2*math.Log(2*math.Pi*v)-yy/2/v-0.5*chol.LogDet()+0.5*quad)
	}
	return floats.LogSumExp(logs)
}

func TestX(t *testing.T) {
	x := logs(trapped)
	var w, at []float64
	const h = 0.002
	memo := map[int]float64{}
	for c := 1.5 + h/2; c < 4; c += h {
		k := 0
		for _, v := range x[:len(x)-2] {
			if v > c {
				k++
			}
		}
		if _, ok := memo[k]; !ok {
			memo[k] = evidence(x, func(l float64) bool { return l > c }, 3.5) + evidence(x, func(l float64) bool { return l <= c }, 2.6)
		}
		w = append(w, memo[k]+distuv.Normal{Mu: 3, Sigma: .5}.LogProb(c)+math.Log(h))
		at = append(at, c)
	}
	z := floats.LogSumExp(w)
	m, q := 0., 0.
	bins := map[int]float64{}
	for i, c := range at {
		p := math.Exp(w[i] - z)
		m += p * c
		q += p * c * c
		bins[int(c*20)] += p
	}
	fmt.Println(z, m, math.Sqrt(q-m*m))
	for b := 30; b < 80; b++ {
		if bins[b] > .003 {
			fmt.Printf("%.2f %.3f\n", float64(b)/20, bins[b])
		}
	}
}
