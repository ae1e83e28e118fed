package models

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func TestSimulateTemperatureIsReproducible(t *testing.T) {
	for _, steps := range []int{0, 1, 20, 2000} {
		obs := SimulateTemperature(steps, 7)
		if len(obs) != steps+1 {
			t.Errorf("%d observations of %d steps", len(obs), steps)
		}
		if !slices.Equal(obs, SimulateTemperature(steps, 7)) {
			t.Errorf("%d steps: the same seed gives other observations", steps)
		}
		if slices.Equal(obs, SimulateTemperature(steps, 8)) {
			t.Errorf("%d steps: another seed gives the same observations", steps)
		}
	}
}

// The standardised residuals of a long simulation have mean 0 and mean square 1, in each state of the air conditioner.
func TestSimulateTemperatureMoments(t *testing.T) {
	obs, room, on := simulateTemperature(40_000, *seed)
	var seen, heating, cooling []float64
	for i := 1; i < len(obs); i++ {
		seen = append(seen, obs[i]-room[i])
		if on[i] {
			cooling = append(cooling, (room[i]-room[i-1]-(11-room[i-1])/15)/0.44)
		} else {
			heating = append(heating, (room[i]-room[i-1]-(32-room[i-1])/15)/0.4)
		}
	}
	for name, residuals := range map[string][]float64{"observation": seen, "heating": heating, "cooling": cooling} {
		count := float64(len(residuals))
		if count < 10_000 {
			t.Fatalf("inconclusive: %v residuals of %s", count, name)
		}
		mean, sd := stat.MeanStdDev(residuals, nil)
		if math.Abs(mean) > 5/math.Sqrt(count) {
			t.Errorf("%s: mean residual %v", name, mean)
		}
		if math.Abs(sd*sd-1) > 5*math.Sqrt(2/count) {
			t.Errorf("%s: variance of residuals %v", name, sd*sd)
		}
	}
}

// The state switches as the thermostat says: noise of 0.001 never crosses 0.5.
func TestSimulateTemperatureThermostat(t *testing.T) {
	_, room, on := simulateTemperature(10_000, *seed)
	for i := 1; i < len(on); i++ {
		want := room[i-1] > 22 || (room[i-1] >= 18 && on[i-1])
		if on[i] != want {
			t.Fatalf("step %d: state %v after %.2f degrees and state %v", i, on[i], room[i-1], on[i-1])
		}
	}
}
