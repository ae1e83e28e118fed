package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/vi"
)

// The page takes series of so many numbers.
const least, most = 3, 200

// An Answer is what the page shows of a series.
type Answer struct {
	Change float64   `json:"change"` // the probability that there is one
	Gap    []float64 `json:"gap"`    // the probability that it is between number i and the next, given that there is one
	Before Band      `json:"before"` // the levels, given that there is one
	After  Band      `json:"after"`
	Mean   []float64 `json:"mean"` // the level at each number, averaged over both programs, and its band of 90 %
	Low    []float64 `json:"low"`
	High   []float64 `json:"high"`
	Trust  bool      `json:"trust"` // the verdict on both fits
}

// A Band is a mean, and between which numbers something is with probability 0.9.
type Band struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// answer is that of both programs, which are as probable as each other beforehand.
func answer(ctx context.Context, y []float64, seed uint64) (*Answer, error) {
	if len(y) < least || len(y) > most {
		return nil, fmt.Errorf("%d numbers: the page takes %d to %d", len(y), least, most)
	}
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("number %d is %v", i+1, v)
		}
	}
	mean, sd := stat.MeanStdDev(y, nil)
	if sd == 0 {
		return nil, errors.New("all numbers are the same")
	}
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = (v - mean) / sd
	}
	fits, err := fitBoth(ctx, z, seed)
	if err != nil {
		return nil, err
	}
	models, err := vi.Compare(fits...)
	if err != nil {
		return nil, err
	}
	a := &Answer{Change: models.Models[1].Prob.Value, Trust: len(models.Warnings) == 0}
	scale := func(x float64) float64 { return mean + sd*x }
	return a, errors.Join(a.gaps(fits[1]), a.sides(fits[1], scale), a.levels(models, seed, scale))
}

// gaps finds when the change was.
func (a *Answer) gaps(fit *vi.Posterior) error {
	ahead, err := fit.Probs(fit.Density.Named("ahead"))
	for i := range len(ahead) - 1 {
		a.Gap = append(a.Gap, max(0, ahead[i].Value-ahead[i+1].Value))
	}
	return err
}

// sides finds the levels before and after.
func (a *Answer) sides(fit *vi.Posterior, scale func(float64) float64) error {
	for name, band := range map[string]*Band{"before": &a.Before, "after": &a.After} {
		mean, err1 := fit.Mean(name)
		low, err2 := fit.Quantile(name, 0.05)
		high, err3 := fit.Quantile(name, 0.95)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		*band = Band{scale(mean.Value), scale(low.Value), scale(high.Value)}
	}
	return nil
}

// levels finds the level at each number.
func (a *Answer) levels(models vi.Comparison, seed uint64, scale func(float64) float64) error {
	predicted, err := models.Predict(1000, seed)
	if err != nil {
		return err
	}
	mean, err1 := predicted.Mean("level")
	low, err2 := predicted.Quantile("level", 0.05)
	high, err3 := predicted.Quantile("level", 0.95)
	for _, v := range [][]float64{mean, low, high} {
		for i := range v {
			v[i] = scale(v[i])
		}
	}
	a.Mean, a.Low, a.High = mean, low, high
	return errors.Join(err1, err2, err3)
}
