package models

import "math/rand/v2"

// SimulateTemperature draws steps + 1 observations of a room from the temperature model itself (see [TemperatureOracle]), so that
// the model can be built at any length. The same steps and seed give the same observations. It panics if steps is negative.
func SimulateTemperature(steps int, seed uint64) []float64 {
	obs, _, _ := simulateTemperature(steps, seed)
	return obs
}

// simulateTemperature also returns the room's true temperatures and the air conditioner's true states, both of length
// steps + 1.
func simulateTemperature(steps int, seed uint64) (obs, room []float64, on []bool) {
	if steps < 0 {
		panic("models: negative number of steps")
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	normal := func(mean, sd float64) float64 { return mean + sd*rng.NormFloat64() }

	obs, room, on = make([]float64, steps+1), make([]float64, steps+1), make([]bool, steps+1)
	room[0] = normal(20, 0.001)
	obs[0] = normal(room[0], 1)
	for i := 1; i <= steps; i++ {
		mean := choose(on[i-1], 1, 0)
		if room[i-1] < 18 {
			mean = 0
		} else if room[i-1] > 22 {
			mean = 1
		}
		on[i] = normal(mean, 0.001) > 0.5
		drift := (32 - (room[i-1] + choose(on[i], 21, 0))) / 15
		room[i] = normal(room[i-1]+drift, 2*choose(on[i], 0.22, 0.2))
		obs[i] = normal(room[i], 1)
	}
	return obs, room, on
}
