package models

import (
	"math"
	"testing"
)

// at forces the sides of the guards named in up to +, all others to −.
func at(up ...Guard) Side {
	return func(latent int, threshold float64) bool {
		for _, g := range up {
			if g == (Guard{latent, threshold}) {
				return true
			}
		}
		return false
	}
}

// n is a normal density's logarithm as a textbook has it.
func n(x, mean, sd float64) float64 {
	return math.Log(math.Exp(-(x-mean)*(x-mean)/(2*sd*sd)) / math.Sqrt(2*math.Pi*sd*sd))
}

// Forced signs override the latents' values, written out by hand.
func TestLogDensityOfForcedSigns(t *testing.T) {
	temp := TemperatureOracle([]float64{19, 20.5})
	cold, hot, on := Guard{0, 18}, Guard{0, 22}, Guard{1, 0.5} // cold > 18 is "not cold"
	z := []float64{20.001, 0.002, 20.4}
	base := n(20.001, 20, 0.001) + n(19, 20.001, 1) + n(20.5, 20.4, 1)
	off, cooled := n(20.4, 20.001+11.999/15, 0.4), n(20.4, 20.001-9.001/15, 0.44)
	toOff, toOn := -2+n(0, 0, 0.001), -0.998*0.998*5e5+n(0, 0, 0.001)

	flu := InfluenzaOracle([]float64{0.29, 0.57})
	f := []float64{0.3, 0.288, 0.1, -0.4, 0.17, -0.2, 0.9}
	a1, a2, c1, c2 := 0.288, 1.406*0.288+0.17, 0.31, -0.312*0.31+0.01
	fluBase := n(0.3, 0, 1) + 0
	for _, i := range []int{1, 4} {
		fluBase += -f[i]*f[i]/(2*0.023*0.023) + n(0, 0, 0.023) + n(f[i+1], 0, 0.112)
	}
	obs := func(x, mean float64) float64 { return -(x-mean)*(x-mean)/(2*0.002*0.002) + n(0, 0, 0.002) }

	tests := []struct {
		name   string
		oracle Oracle
		z      []float64
		side   Side
		want   float64
	}{
		{"proposition above", PropositionOracle(), []float64{-0.3}, at(Guard{0, 0}), n(-0.3, 0, 1) + n(0, 5, 1)},
		{"proposition below", PropositionOracle(), []float64{0.3}, at(), n(0.3, 0, 1) + n(0, -2, 1)},
		{"temperature cold", temp, z, at(), base + toOff + off},
		{"temperature cold wins over hot", temp, z, at(hot), base + toOff + off},
		{"temperature between", temp, z, at(cold), base + toOff + off},
		{"temperature hot", temp, z, at(cold, hot), base + toOn + off},
		{"temperature on", temp, z, at(cold, on), base + toOff + cooled},
		{"temperature hot and on", temp, z, at(cold, hot, on), base + toOn + cooled},
		{"influenza all below", flu, f, at(), fluBase + n(-0.4, -0.67, 1) + n(0.9, -0.67, 1) + obs(0.29, a1+c1) + obs(0.57, a2+c2)},
		{"influenza f0 above", flu, f, at(Guard{0, 0}), fluBase + n(-0.4, 0.67, 1) + n(0.9, -0.67, 1) + obs(0.29, a1+c1) + obs(0.57, a2+c2)},
		{"influenza f1 above", flu, f, at(Guard{3, 0}), fluBase + n(-0.4, -0.67, 1) + n(0.9, 0.67, 1) + obs(0.29, a1) + obs(0.57, a2+c2)},
		{"influenza f2 above", flu, f, at(Guard{6, 0}), fluBase + n(-0.4, -0.67, 1) + n(0.9, -0.67, 1) + obs(0.29, a1+c1) + obs(0.57, a2)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.oracle.LogDensity(tt.z, tt.side); math.Abs(got-tt.want) > 1e-12*math.Abs(tt.want) {
				t.Errorf("log r = %.15g, want %.15g", got, tt.want)
			}
		})
	}
}

// The days' signs of textmsg are separate: flipping one day moves that day's count between the two rates.
func TestTextMsgJumpIsOneDaysCount(t *testing.T) {
	o := TextMsgOracle()
	days, counts := TextMsgData()
	z := []float64{2, 3.5, 0.1}
	for i, guard := range o.Guards() {
		jump := o.LogDensity(z, forced(z, guard, true)) - o.LogDensity(z, forced(z, guard, false))
		want := counts[i]*(2-3.5) - math.Exp(2) + math.Exp(3.5)
		if math.Abs(jump-want) > 1e-11 {
			t.Errorf("day %d: jump %v, want %v", days[i], jump, want)
		}
	}
}

// A coincident guard flips as one: the noise's sign moves the state, its scale and the next step's cascade together.
func TestTemperatureSignsActTogether(t *testing.T) {
	o := TemperatureOracle([]float64{20, 20, 20})
	z := []float64{20, 0.5, 20, 0.5, 20}
	on := Guard{1, 0.5}
	jump := o.LogDensity(z, forced(z, on, true)) - o.LogDensity(z, forced(z, on, false))
	want := n(20, 20-9.0/15, 0.44) - n(20, 20+12.0/15, 0.4) // the next noise is as far from 1 as from 0
	if math.Abs(jump-want) > 1e-9 {
		t.Errorf("jump %v, want %v", jump, want)
	}
}

func TestWrongLengthsPanic(t *testing.T) {
	calls := map[string]func(){
		"latents":           func() { PropositionOracle().LogDensity([]float64{1, 2}, at()) },
		"ELBO":              func() { PropositionOracle().ELBO([]float64{1}) },
		"gradient":          func() { PropositionOracle().Gradient([]float64{1}) },
		"empty temperature": func() { TemperatureOracle(nil) },
		"empty influenza":   func() { InfluenzaOracle(nil) },
		"negative steps":    func() { SimulateTemperature(-1, 1) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}
