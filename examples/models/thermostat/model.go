// Package thermostat is a heater with hysteresis whose thresholds are parameters: nobody knows them, and a fit learns them.
//
//	on_1 = true;   on_t = on_t−1, but true where T_t−1 < lower, and false where T_t−1 > upper
//	T_t ~ Normal(0.99·T_t−1 + 0.5·on_t, 0.1),   T_0 = 25
//	y_t ~ Normal(T_t, 1)
//
// It is after the thermostat of the case studies of DeGAS (2026), which learns such thresholds by smoothing.
package thermostat

import (
	"fmt"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
)

// The numbers of the program.
const (
	initial     = 25.0
	kept, heat  = 0.99, 0.5
	noise, blur = 0.1, 1.0
)

// Model is the program for readings y, with thresholds that start at the given values, and a scale of 1. Its guards "on" say of each step
// but the first whether the heater is on.
func Model(y []float64, lower, upper float64) *graph.Model {
	m := graph.NewModel()
	low, high := m.Param("lower", lower, graph.Scale(1)), m.Param("upper", upper, graph.Scale(1))
	var temperature graph.Expr
	var on graph.Guard
	for t, v := range y {
		mean := graph.Add(kept*initial+heat, 0)
		if t > 0 {
			stays := graph.Not(graph.Greater(temperature, high))
			if t > 1 {
				on = m.Name("on", graph.And(stays, graph.Or(graph.Less(temperature, low), on)))
			} else {
				on = m.Name("on", stays)
			}
			mean = graph.Add(graph.Mul(kept, temperature), graph.If(on, heat, 0))
		}
		temperature = m.Sample(fmt.Sprintf("T[%d]", t), graph.Normal(mean, noise))
		m.Observe("y", graph.Normal(temperature, blur), v)
	}
	return m
}

// Simulate draws n readings.
func Simulate(n int, lower, upper float64, rng *rand.Rand) []float64 {
	temperature, on := initial, true
	y := make([]float64, n)
	for t := range y {
		if t > 0 {
			on = next(on, temperature, lower, upper)
		}
		temperature = kept*temperature + noise*rng.NormFloat64()
		if on {
			temperature += heat
		}
		y[t] = temperature + blur*rng.NormFloat64()
	}
	return y
}

// next is whether the heater is on after a step.
func next(on bool, temperature, lower, upper float64) bool {
	switch {
	case temperature > upper:
		return false
	case temperature < lower:
		return true
	}
	return on
}
