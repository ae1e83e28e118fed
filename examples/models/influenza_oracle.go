package models

// InfluenzaOracle is the Oracle of influenza, monthly mortality with an epidemic state f, for T = len(obs) months:
//
//	f_0 ~ N(0, 1), a_0 = b_0 = c_0 = 0, and for i = 1, …, T
//	v_i ~ N(0, 0.023), w_i ~ N(0, 0.112), f_i ~ N(0.67 if f_{i−1} > 0 else −0.67, 1)
//	a_i = 1.406 a_{i−1} − 0.622 b_{i−1} + v_i, b_i = a_{i−1}, c_i = −0.312 c_{i−1} + 0.21 + w_i
//	obs_i ~ N(a_i if f_i > 0 else a_i + c_i, 0.002)
//
// The latents are f_0, v_1, w_1, f_1, v_2, …; there is one hyperplane for each f. It keeps obs and panics if obs is empty.
func InfluenzaOracle(obs []float64) Oracle {
	if len(obs) == 0 {
		panic("models: influenza without observations")
	}
	return closedForm{influenza{obs}}
}

type influenza struct{ obs []float64 }

// f, v and w are the indices of f_i, v_i and w_i.
func (influenza) f(i int) int { return 3 * i }
func (influenza) v(i int) int { return 3*i - 2 }
func (influenza) w(i int) int { return 3*i - 1 }

// Dim implements Oracle.
func (m influenza) Dim() int { return 3*len(m.obs) + 1 }

// Guards implements Oracle.
func (m influenza) Guards() []Guard {
	guards := make([]Guard, len(m.obs)+1)
	for i := range guards {
		guards[i] = Guard{m.f(i), 0}
	}
	return guards
}

// LogDensity implements Oracle. It runs the recurrences.
func (m influenza) LogDensity(z []float64, side Side) float64 {
	sum := logNormal(z[0], 0, 1)
	var a, b, c float64
	for i, obs := range m.obs {
		f, v, w := z[m.f(i+1)], z[m.v(i+1)], z[m.w(i+1)]
		a, b = 1.406*a-0.622*b+v, a
		c = -0.312*c + 0.21 + w
		sum += logNormal(v, 0, 0.023) + logNormal(w, 0, 0.112)
		sum += logNormal(f, choose(side(m.f(i), 0), 0.67, -0.67), 1)
		sum += logNormal(obs, choose(side(m.f(i+1), 0), a, a+c), 0.002)
	}
	return sum
}

// expect solves the recurrences instead: a_i = Σ h_k v_{i−k} and c_i = Σ (−0.312)^k (w_{i−k} + 0.21), k = 0, …, i−1, with
// the impulse response h_0 = 1, h_k = 1.406 h_{k−1} − 0.622 h_{k−2}.
func (m influenza) expect(e *expectation) {
	e.add(e.normal(latent(0), 1))
	for i := 1; i <= len(m.obs); i++ {
		e.add(e.normal(latent(m.v(i)), 0.023))
		e.add(e.normal(latent(m.w(i)), 0.112))
		f := latent(m.f(i))
		e.branch(e.above(m.f(i-1), 0),
			e.normal(affine{constant: -0.67}.plus(1, f), 1),
			e.normal(affine{constant: 0.67}.plus(1, f), 1))
		healthy := affine{constant: -m.obs[i-1]}.plus(1, m.level(i))
		e.branch(e.above(m.f(i), 0), e.normal(healthy, 0.002), e.normal(healthy.plus(1, m.excess(i)), 0.002))
	}
}

// level is a_i as a function of v.
func (m influenza) level(i int) affine {
	var a affine
	h, before := 1.0, 0.0
	for j := i; j >= 1; j-- {
		a = a.plus(h, latent(m.v(j)))
		h, before = 1.406*h-0.622*before, h
	}
	return a
}

// excess is c_i as a function of w.
func (m influenza) excess(i int) affine {
	var c affine
	h := 1.0
	for j := i; j >= 1; j-- {
		c = c.plus(h, affine{constant: 0.21}.plus(1, latent(m.w(j))))
		h *= -0.312
	}
	return c
}
