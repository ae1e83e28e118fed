package models

import "fmt"

// PropositionThetaInit is q = N(0, 1), interleaved (μ, ρ).
func PropositionThetaInit() []float64 {
	return []float64{0, softplusInverse(1)}
}

// TemperatureThetaInit is the authors' starting point, interleaved (μ_0, ρ_0, μ_1, …): θ_0 ~ N(20, 0.001),
// noise_i ~ N(0.5, 0.001), and θ_i ~ N(obs_{i−1}, 0.4). The observation is that of the step before, as in their program.
// It panics if obs is empty.
func TemperatureThetaInit(obs []float64) []float64 {
	narrow, wide := softplusInverse(0.001), softplusInverse(0.4)
	theta := []float64{20, narrow}
	for _, before := range obs[:len(obs)-1] {
		theta = append(theta, 0.5, narrow, before, wide)
	}
	return theta
}

// InfluenzaThetaInit is the authors' starting point for the given number of months: μ = ρ = 0 throughout.
func InfluenzaThetaInit(months int) []float64 {
	return make([]float64, 2*(3*months+1))
}

// temperatureLatents names the latents of the given number of steps, in order.
func temperatureLatents(steps int) []string {
	names := []string{"theta0"}
	for i := 1; i <= steps; i++ {
		names = append(names, fmt.Sprintf("q%d-noise", i), fmt.Sprintf("theta%d", i))
	}
	return names
}

// influenzaLatents names the latents of the given number of months, in order.
func influenzaLatents(months int) []string {
	names := []string{"f0"}
	for i := 1; i <= months; i++ {
		names = append(names, fmt.Sprintf("v%d", i), fmt.Sprintf("w%d", i), fmt.Sprintf("f%d", i))
	}
	return names
}
