package models

// TemperatureOracle is the Oracle of temperature, a room whose air conditioner q switches itself, for len(obs) − 1 steps:
//
//	θ_0 ~ N(20, 0.001), q_0 = 0
//	noise_i ~ N(0 if θ_{i−1} < 18, else 1 if θ_{i−1} > 22, else q_{i−1}; 0.001),  q_i = 1 if noise_i > 0.5 else 0
//	θ_i ~ N(θ_{i−1} + (32 − (θ_{i−1} + 21 q_i))/15, 2·(0.22 if noise_i > 0.5 else 0.2))
//	obs_i ~ N(θ_i, 1)
//
// The latents are θ_0, noise_1, θ_1, noise_2, …; there are three hyperplanes for each step. It keeps obs and panics if
// obs is empty.
func TemperatureOracle(obs []float64) Oracle {
	if len(obs) == 0 {
		panic("models: temperature without observations")
	}
	return closedForm{temperature{obs}}
}

type temperature struct{ obs []float64 }

func (m temperature) steps() int { return len(m.obs) - 1 }

// room and noise are the indices of θ_i and noise_i.
func (temperature) room(i int) int  { return 2 * i }
func (temperature) noise(i int) int { return 2*i - 1 }

// Dim implements Oracle.
func (m temperature) Dim() int { return 2*m.steps() + 1 }

// Guards implements Oracle.
func (m temperature) Guards() []Guard {
	var guards []Guard
	for i := 1; i <= m.steps(); i++ {
		before := m.room(i - 1)
		guards = append(guards, Guard{before, 18}, Guard{before, 22}, Guard{m.noise(i), 0.5})
	}
	return guards
}

// LogDensity implements Oracle.
func (m temperature) LogDensity(z []float64, side Side) float64 {
	v := logNormal(z[0], 20, 0.001) + logNormal(m.obs[0], z[0], 1)
	on := false
	for i := 1; i <= m.steps(); i++ {
		before, noise, after := z[m.room(i-1)], z[m.noise(i)], z[m.room(i)]
		switch {
		case !side(m.room(i-1), 18):
			v += logNormal(noise, 0, 0.001)
		case side(m.room(i-1), 22):
			v += logNormal(noise, 1, 0.001)
		default:
			v += logNormal(noise, choose(on, 1, 0), 0.001)
		}
		on = side(m.noise(i), 0.5)
		if on {
			v += logNormal(after, before+(32-before-21)/15, 0.44)
		} else {
			v += logNormal(after, before+(32-before)/15, 0.4)
		}
		v += logNormal(m.obs[i], after, 1)
	}
	return v
}

func (m temperature) expect(e *expectation) {
	e.add(e.normal(affine{constant: -20}.plus(1, latent(0)), 0.001))
	e.add(m.seen(e, 0))
	on := probability{not: 1}
	for i := 1; i <= m.steps(); i++ {
		called := e.cascade(m.room(i-1), 18, 22, on)
		noise := latent(m.noise(i))
		e.branch(called, e.normal(affine{constant: -1}.plus(1, noise), 0.001), e.normal(noise, 0.001))

		on = e.above(m.noise(i), 0.5)
		e.branch(on, m.drift(e, i, 21, 0.44), m.drift(e, i, 0, 0.4))
		e.add(m.seen(e, i))
	}
}

// drift is the expected log density of θ_i when the air conditioner cools at the given rate.
func (m temperature) drift(e *expectation, i int, cooling, sd float64) moment {
	residual := affine{constant: -(32 - cooling) / 15}.plus(1, latent(m.room(i))).plus(-14.0/15, latent(m.room(i-1)))
	return e.normal(residual, sd)
}

// seen is the expected log density of obs_i.
func (m temperature) seen(e *expectation, i int) moment {
	return e.normal(affine{constant: -m.obs[i]}.plus(1, latent(m.room(i))), 1)
}
