//go:build long

package main

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// exact is the probability of a change, and of it in each gap, by going through the gaps and through the noise, with the levels
// integrated out.
func exact(y []float64) (change float64, gap []float64) {
	mean, sd := stat.MeanStdDev(y, nil)
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = (v - mean) / sd
	}
	segment := func(z []float64, s float64) float64 { // rows around a level of Normal(0, 1.5)
		n, sum, squares := float64(len(z)), floats.Sum(z), floats.Dot(z, z)
		precision := 1/(1.5*1.5) + n/(s*s)
		at := sum / (s * s) / precision
		return -n*math.Log(s*math.Sqrt(2*math.Pi)) - math.Log(1.5*math.Sqrt(precision)) - (squares/(s*s)-at*at*precision)/2
	}
	const step = 0.02
	var none []float64
	gaps := make([][]float64, len(z)-1)
	for u := -4.0; u < 1.5; u += step {
		s := math.Exp(u)
		prior := math.Log(2/math.Sqrt(2*math.Pi)) - s*s/2 + u + math.Log(step)
		none = append(none, prior+segment(z, s))
		for i := range gaps {
			gaps[i] = append(gaps[i], prior+segment(z[:i+1], s)+segment(z[i+1:], s)-math.Log(float64(len(gaps))))
		}
	}
	logs := make([]float64, len(gaps))
	for i := range gaps {
		logs[i] = floats.LogSumExp(gaps[i])
	}
	one := floats.LogSumExp(logs)
	for _, l := range logs {
		gap = append(gap, math.Exp(l-one))
	}
	return 1 / (1 + math.Exp(floats.LogSumExp(none)-one)), gap
}

func TestExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, size := range []float64{1, 0, 3} {
		y := make([]float64, 24)
		for i := range y {
			y[i] = 50 + 4*rng.NormFloat64()
			if i > 15 {
				y[i] += 4 * size
			}
		}
		a, err := answer(context.Background(), y, 1)
		require.NoError(t, err)
		change, gap := exact(y)
		t.Logf("a change of %v: probability %.4f, exactly %.4f", size, a.Change, change)
		require.True(t, a.Trust)
		require.InDelta(t, change, a.Change, 0.01)
		require.InDeltaSlice(t, gap, a.Gap, 0.01)
		require.Len(t, a.Mean, len(y))
		for i := range y {
			require.Less(t, a.Low[i], a.Mean[i])
			require.Greater(t, a.High[i], a.Mean[i])
		}
	}
}

func TestRefused(t *testing.T) {
	for text, y := range map[string][]float64{
		"2 numbers: the page takes 3 to 200": {1, 2},
		"all numbers are the same":           {4, 4, 4},
		"number 2 is NaN":                    {4, math.NaN(), 4},
	} {
		_, err := answer(context.Background(), y, 1)
		require.EqualError(t, err, text)
	}
}
