package vi

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
)

// BenchmarkCalibrate is a thousand fits, or a hundred with -short, to data from the prior of a change point, with their ranks.
func BenchmarkCalibrate(b *testing.B) {
	d := changing(b, 20, 2, false)
	for b.Loop() {
		_, err := Calibrate(context.Background(), d, Calibrating{Fits: long.Brief(100, 1000), Fit: Settings{Seed: 1, Method: Cells{Quick: true}}})
		require.NoError(b, err)
	}
}

// BenchmarkHowMany is of 100 counts with no, one and two changes: the fits with all that HowMany says of them (fit), the weights by predictions
// alone (stacking), the average of a latent (average), and 4000 draws of the programs together (predict).
func BenchmarkHowMany(b *testing.B) {
	counts := series(parallel.NewRand(1), long.Brief(20, 100))
	var programs []Program
	for k := range 3 {
		programs = append(programs, Program{Name: fmt.Sprint(k), Density: changes(b, k, counts)})
	}
	s := Settings{Seed: 1, Method: Cells{Quick: true}}
	c, err := HowMany(context.Background(), programs, s)
	require.NoError(b, err)
	for name, do := range map[string]func() error{
		"fit":      func() error { _, err := HowMany(context.Background(), programs, s); return err },
		"stacking": func() error { c.stack(); return nil },
		"average":  func() error { _, err := c.Moments("rate[0]"); return err },
		"predict":  func() error { _, err := c.Predict(4000, 1); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, do())
			}
		})
	}
}

// BenchmarkPredict is of 4000 draws of a series of 100 numbers with a change, of which the last 20 are missing: forecasts of a fit (posterior), by
// another program with the same latents (with), and the prior predictive (prior).
func BenchmarkPredict(b *testing.B) {
	d := changing(b, 100, 2, false)
	data := d.Data()
	for i := range data {
		if data[i] = float64(i / 40); i >= 80 {
			data[i] = math.NaN()
		}
	}
	d, err := d.WithObservations(data)
	require.NoError(b, err)
	p, err := Fit(context.Background(), d, Settings{Seed: 1})
	require.NoError(b, err)
	for name, predict := range map[string]func() (Predictive, error){
		"posterior": func() (Predictive, error) { return p.Predict(4000, 1) },
		"with":      func() (Predictive, error) { return p.PredictWith(d, 4000, 1) },
		"prior":     func() (Predictive, error) { return PredictPrior(d, 4000, 1) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := predict()
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkLOO and BenchmarkSensitivity ask a fit of the eight schools.
func BenchmarkLOO(b *testing.B) {
	p, err := Fit(context.Background(), schools(b), Settings{Seed: 1})
	require.NoError(b, err)
	for b.Loop() {
		_, err := p.LOO()
		require.NoError(b, err)
	}
}

func BenchmarkSensitivity(b *testing.B) {
	p, err := Fit(context.Background(), schools(b), Settings{Seed: 1})
	require.NoError(b, err)
	for b.Loop() {
		_, err := p.Sensitivity()
		require.NoError(b, err)
	}
}
