package climb

// influenzaFloor is the floor of influenza with its 12 months: the recurrences
// forward, and their adjoints backward.
type influenzaFloor struct {
	guards bool
	obs    [influenzaMonths]float64
	q      [influenzaDim]struct{ mu, s float64 }
	sums   [influenzaDim]struct{ g, gEps float64 } // gradients, and times ε
	jump   [influenzaMonths + 1]float64            // at f_i = 0
}

const (
	influenzaMonths = 12
	influenzaDim    = 3*influenzaMonths + 1
)

func newInfluenzaFloor(obs []float64, guards bool) *influenzaFloor {
	return &influenzaFloor{guards: guards, obs: [influenzaMonths]float64(obs)}
}

func (f *influenzaFloor) locate(mu, s []float64) {
	for i := range f.q {
		f.q[i].mu, f.q[i].s = mu[i], s[i]
	}
	clear(f.sums[:])
	clear(f.jump[:])
}

func (f *influenzaFloor) add(eps []float64) {
	var adjA, adjC, vs, ws [influenzaMonths]float64
	for len(eps) >= influenzaDim {
		e := (*[influenzaDim]float64)(eps)
		eps = eps[influenzaDim:]

		state := f.q[0].mu + f.q[0].s*e[0]
		f.sums[0].g -= state
		f.sums[0].gEps -= state * e[0]
		sick := mask(state > 0)
		var a, b, c, jump float64
		for i := range influenzaMonths {
			v := f.q[3*i+1].mu + f.q[3*i+1].s*e[3*i+1]
			w := f.q[3*i+2].mu + f.q[3*i+2].s*e[3*i+2]
			state = f.q[3*i+3].mu + f.q[3*i+3].s*e[3*i+3]
			vs[i], ws[i] = v, w

			sum, g := &f.sums[3*i+3], choose(0.67, -0.67, sick)-state
			sum.g += g
			sum.gEps += g * e[3*i+3]

			a, b = 1.406*a-0.622*b+v, a
			c = 0.21 - 0.312*c + w
			sick = mask(state > 0)
			r := (f.obs[i] - a) * 250000
			rc := c * 250000
			adjA[i] = r - keep(rc, ^sick)
			adjC[i] = keep(r-rc, ^sick)
			if f.guards {
				f.jump[i] += jump + 1.34*state
				jump = c * (0.5*rc - r)
			}
		}
		f.jump[influenzaMonths] += jump

		var a1, a2, c1 float64
		for i := influenzaMonths - 1; i >= 0; i-- {
			a1, a2 = adjA[i]+1.406*a1-0.622*a2, a1
			c1 = adjC[i] - 0.312*c1
			gv := a1 - vs[i]*(1/(0.023*0.023))
			gw := c1 - ws[i]*(1/(0.112*0.112))
			v, w := &f.sums[3*i+1], &f.sums[3*i+2]
			v.g += gv
			v.gEps += gv * e[3*i+1]
			w.g += gw
			w.gEps += gw * e[3*i+2]
		}
	}
}

func (f *influenzaFloor) gradient(gMu, gScale []float64) {
	for i, sum := range f.sums {
		gMu[i], gScale[i] = sum.g, sum.gEps
	}
	if !f.guards {
		return
	}
	for i, jump := range f.jump {
		q := &f.q[3*i]
		w, t := floorWeight(0, q.mu, q.s)
		gMu[3*i] += w * jump
		gScale[3*i] += w * t * jump
	}
}
