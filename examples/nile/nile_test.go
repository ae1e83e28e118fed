package main

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

type exact struct {
	first      []float64 // by the last year of the first level
	shift1898  float64
	two, large float64
	evidence   float64
}

func exactly() exact {
	n := len(flow)
	sum, square := make([]float64, n+1), make([]float64, n+1)
	for i, v := range flow {
		d := v/100 - 9
		sum[i+1], square[i+1] = sum[i]+d, square[i]+d*d
	}
	const sd = 2.0
	seg := func(i, j int, v float64) (logp, mean, variance float64) {
		m := float64(j - i)
		w := 1 / (1/(sd*sd) + m/v)
		s, q := sum[j]-sum[i], square[j]-square[i]
		return -m/2*math.Log(2*math.Pi*v) - q/2/v + 0.5*math.Log(w/(sd*sd)) + w*s*s/(2*v*v), w * s / v, w
	}
	var logs []float64
	type cell struct {
		i, j  int
		large float64
	}
	var cells []cell
	const h = 0.03
	for s := 0.9; s < 2.0; s += h {
		v := s * s
		prior := math.Log(h) + math.Ln2 + distuv.Normal{Mu: 0, Sigma: 2}.LogProb(s)
		for i := 1; i < n; i++ {
			a, _, _ := seg(0, i, v)
			b, _, _ := seg(i, n, v)
			cells = append(cells, cell{i, 0, 0})
			logs = append(logs, prior+a+b+math.Log(float64(i)-0.5)-2*math.Log(float64(n-1)))
			cells = append(cells, cell{i, i, 0})
			logs = append(logs, prior+a+b+math.Log(0.5)-2*math.Log(float64(n-1)))
			for j := i + 1; j < n; j++ {
				b, mb, vb := seg(i, j, v)
				c, mc, vc := seg(j, n, v)
				d := distuv.Normal{Mu: mc - mb, Sigma: math.Sqrt(vb + vc)}
				cells = append(cells, cell{i, j, d.CDF(-1) + d.Survival(1)})
				logs = append(logs, prior+a+b+c-2*math.Log(float64(n-1)))
			}
		}
	}
	e := exact{first: make([]float64, n)}
	e.evidence = floats.LogSumExp(logs)
	for k, c := range cells {
		p := math.Exp(logs[k] - e.evidence)
		e.first[c.i-1] += p
		if c.j > c.i {
			e.two += p
			e.large += p * c.large
		}
		if firstYear+c.i-1 == 1898 || c.j > c.i && firstYear+c.j-1 == 1898 {
			e.shift1898 += p
		}
	}
	return e
}

func TestX(t *testing.T) {
	e := exactly()
	fmt.Println(e.evidence, e.shift1898, e.two, e.large)
	for i, p := range e.first {
		if p > .01 {
			fmt.Println(firstYear+i, p)
		}
	}
}
