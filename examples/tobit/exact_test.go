package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/restarts"
)

// logLik of (level, age, liquidity, log spread, limit), with what is desired
// integrated out.
func logLik(z []float64, wrong float64) float64 {
	s := math.Exp(z[3])
	sum := 0.0
	for _, h := range households {
		d := distuv.Normal{Mu: z[0] + z[1]*(h.age-48)/10 + z[2]*(h.liquidity-245)/25, Sigma: s}
		switch {
		case h.spent == 0:
			sum += math.Log(wrong + (1-2*wrong)*d.CDF(z[4]))
		case h.spent > z[4]:
			sum += d.LogProb(h.spent) + math.Log(1-wrong)
		default:
			sum += d.LogProb(h.spent) + math.Log(wrong)
		}
	}
	return sum
}

func logPost(z []float64) float64 {
	n := distuv.Normal{Sigma: 5}
	return logLik(z, 0.01) + n.LogProb(z[0]) + n.LogProb(z[1]) + n.LogProb(z[2]) + math.Ln2 + n.LogProb(math.Exp(z[3])) + z[3] +
		distuv.UnitNormal.LogProb(z[4])
}

func TestX(t *testing.T) {
	r, err := optimize.Minimize(optimize.Problem{Func: func(z []float64) float64 {
		return -logLik([]float64{z[0], z[1], z[2], z[3], 0}, 0)
	}}, []float64{0, 0, 0, 1}, &optimize.Settings{MajorIterations: 3000}, &optimize.NelderMead{})
	fmt.Println(err, -r.F, r.X[0]-r.X[1]*4.8-r.X[2]*245/25, r.X[1]/10, r.X[2]/25, math.Exp(r.X[3]))

	mu, cov := []float64{-2, -1, -1, 1.7, 0}, mat.NewSymDense(5, nil)
	for i := range 5 {
		cov.SetSym(i, i, []float64{4, 4, 4, .2, 1}[i])
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		const n = 30000
		q, _ := distmv.NewStudentsT(mu, cov, 5, rng)
		x := mat.NewDense(n, 5, nil)
		w := make([]float64, n)
		for k := range n {
			q.Rand(x.RawRowView(k))
			w[k] = logPost(x.RawRowView(k)) - q.LogProb(x.RawRowView(k))
		}
		z := floats.LogSumExp(w)
		ess := 0.
		for k := range w {
			w[k] = math.Exp(w[k] - z)
			ess += w[k] * w[k]
		}
		var c mat.SymDense
		for k := range w {
			w[k] *= n
		}
		stat.CovarianceMatrix(&c, x, w)
		for i := range 5 {
			mu[i] = stat.Mean(mat.Col(nil, i, x), w)
		}
		cov = &c
		fmt.Println(z-math.Log(n), 1/ess, mu)
		for i := range 5 {
			fmt.Print(math.Sqrt(c.At(i, i)), " ")
		}
		fmt.Println()
	}
	d, err := survey(households).Compile()
	if err != nil {
		panic(err)
	}
	for _, W = range []float64{.1, .5, 1, 9} {
		for _, st := range []int{1000, 2000, 5000} {
			f, err := restarts.Fit(context.Background(), d, starts(d), st, 1)
			fmt.Println(err, f[0].ELBO)
			for i, n := range d.Latents()[:7] {
				m, s := f[0].Q.Mu[i], f[0].Q.Scale(nil)[i]
				fmt.Printf("%s %.2f±%.2f ", n, m, s)
			}
			fmt.Println(W, st)
		}
	}
}
