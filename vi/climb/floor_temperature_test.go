package climb

// temperatureFloor is the floor of temperature with its 20 steps. Step i has the
// latents noise_i and θ_i; "before" is θ_{i−1}.
type temperatureFloor struct {
	guards bool
	obs    [temperatureSteps + 1]float64
	q      [temperatureDim]struct{ mu, s float64 }
	sums   [temperatureSteps + 1]temperatureSums
}

const (
	temperatureSteps = 20
	temperatureDim   = 2*temperatureSteps + 1
)

// temperatureSums are step i's sums over samples; they fill one line of cache.
type temperatureSums struct {
	noise, noiseEps   float64 // gradient by noise_i, and times its ε
	before, beforeEps float64 // gradient by θ_{i−1}
	cold, hot         float64 // jumps at θ_{i−1} = 18 and 22
	off               float64 // jump at noise_{i−1} = 0.5
	_                 float64
}

func newTemperatureFloor(obs []float64, guards bool) *temperatureFloor {
	return &temperatureFloor{guards: guards, obs: [temperatureSteps + 1]float64(obs)}
}

func (f *temperatureFloor) locate(mu, s []float64) {
	for i := range f.q {
		f.q[i].mu, f.q[i].s = mu[i], s[i]
	}
	clear(f.sums[:])
}

func (f *temperatureFloor) add(eps []float64) {
	if f.guards {
		f.boundary(eps)
	} else {
		f.reparam(eps)
	}
}

// Precisions and constants of the drift: θ_i − (14/15)θ_{i−1} − 32/15 is the
// residual if off, 1.4 more if on, with standard deviation 0.4 or 0.44.
const (
	decay               = 14.0 / 15
	warm                = 32.0 / 15
	cooling             = 21.0 / 15
	offPrec, onPrec     = 1 / (0.4 * 0.4), 1 / (0.44 * 0.44)
	jump2, jump1, jump0 = (offPrec - onPrec) / 2, -onPrec * cooling, -onPrec*cooling*cooling/2 - 0.0953101798043248600439521232807650922 // log 1.1
)

func (f *temperatureFloor) boundary(eps []float64) {
	for len(eps) >= temperatureDim {
		e := (*[temperatureDim]float64)(eps)
		eps = eps[temperatureDim:]
		epsBefore := e[0]
		before := f.q[0].mu + f.q[0].s*epsBefore
		grad := 1e6*(20-before) + f.obs[0] - before
		on, jump := uint64(0), 0.0
		for i := range temperatureSteps {
			sum, epsNoise, epsAfter := &f.sums[i], e[2*i+1], e[2*i+2]
			noise := f.q[2*i+1].mu + f.q[2*i+1].s*epsNoise
			after := f.q[2*i+2].mu + f.q[2*i+2].s*epsAfter

			hot := mask(before > 22)
			mild := mask(before > 18) &^ hot
			called := hot | mild&on
			x := 1e6 * (noise - 0.5) // log N(noise; 1, 0.001) − log N(noise; 0, 0.001)
			g := choose(5e5, -5e5, called) - x
			sum.noise += g
			sum.noiseEps += g * epsNoise
			stays := keep(x, on)
			sum.cold += stays
			sum.hot += x - stays
			sum.off += jump + keep(x, mild)

			on = mask(noise > 0.5)
			r := after - decay*before - warm
			jump = (jump2*r+jump1)*r + jump0
			g = (r + keep(cooling, on)) * choose(onPrec, offPrec, on)
			grad += decay * g
			sum.before += grad
			sum.beforeEps += grad * epsBefore
			grad = f.obs[i+1] - after - g
			before, epsBefore = after, epsAfter
		}
		last := &f.sums[temperatureSteps]
		last.off += jump
		last.before += grad
		last.beforeEps += grad * epsBefore
	}
}

// reparam is boundary without the jumps.
func (f *temperatureFloor) reparam(eps []float64) {
	for len(eps) >= temperatureDim {
		e := (*[temperatureDim]float64)(eps)
		eps = eps[temperatureDim:]
		epsBefore := e[0]
		before := f.q[0].mu + f.q[0].s*epsBefore
		grad := 1e6*(20-before) + f.obs[0] - before
		on := uint64(0)
		for i := range temperatureSteps {
			sum, epsNoise, epsAfter := &f.sums[i], e[2*i+1], e[2*i+2]
			noise := f.q[2*i+1].mu + f.q[2*i+1].s*epsNoise
			after := f.q[2*i+2].mu + f.q[2*i+2].s*epsAfter

			hot := mask(before > 22)
			called := hot | mask(before > 18)&on
			g := 1e6 * (keep(1, called) - noise)
			sum.noise += g
			sum.noiseEps += g * epsNoise

			on = mask(noise > 0.5)
			g = (after - decay*before - warm + keep(cooling, on)) * choose(onPrec, offPrec, on)
			grad += decay * g
			sum.before += grad
			sum.beforeEps += grad * epsBefore
			grad = f.obs[i+1] - after - g
			before, epsBefore = after, epsAfter
		}
		last := &f.sums[temperatureSteps]
		last.before += grad
		last.beforeEps += grad * epsBefore
	}
}

func (f *temperatureFloor) gradient(gMu, gScale []float64) {
	gMu, gScale = gMu[:temperatureDim], gScale[:temperatureDim]
	for i := range f.sums {
		sum := &f.sums[i]
		gMu[2*i], gScale[2*i] = sum.before, sum.beforeEps
		if i < temperatureSteps {
			gMu[2*i+1], gScale[2*i+1] = sum.noise, sum.noiseEps
		}
	}
	if !f.guards {
		return
	}
	for i := range temperatureSteps {
		q := &f.q[2*i]
		cold, t18 := floorWeight(18, q.mu, q.s)
		hot, t22 := floorWeight(22, q.mu, q.s)
		cold *= f.sums[i].cold
		hot *= f.sums[i].hot
		gMu[2*i] += cold + hot
		gScale[2*i] += cold*t18 + hot*t22

		q = &f.q[2*i+1]
		off, t := floorWeight(0.5, q.mu, q.s)
		off *= f.sums[i+1].off
		gMu[2*i+1] += off
		gScale[2*i+1] += off * t
	}
}
