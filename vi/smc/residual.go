package smc

import (
	"math/rand/v2"

	"github.com/facetvi/facet/internal/vec"
)

// The kinds of moves of residuals.
const (
	anew   = iota // one from the prior
	few           // one or two by a multiple of the difference of two states
	across        // all by that
)

// residual moves the points of s in the residuals that the priors leave of the latents, with
// all that follows in the program; see scout.
func (m *mover) residual(s *states, kind int, rng *rand.Rand) error {
	r := &m.res
	copy(r.Z, s.z)
	if kind != anew {
		copy(r.Z, m.pool[rng.IntN(len(m.pool))].z)
		r.Invert()
		copy(m.res.other, r.E)
		copy(r.Z, s.z)
	}
	r.Invert()
	r.LogScale(m.energy)
	for i := range m.energy {
		m.energy[i] += m.logPath(s.logR[i], s.logQ[i], s.broken[i])
	}
	for c := range m.res.which {
		m.res.which[c] = m.pick(rng)
	}
	if kind == anew {
		r.Renew(m.res.which, m.tmp, rng)
		vec.Add(m.energy, m.energy, m.tmp)
	} else {
		m.difference(kind, rng)
		r.Follow()
	}
	copy(m.to.value.Z, r.Z)
	copy(m.to.value.Signs, r.Signs)
	if err := m.to.value.Run(); err != nil {
		return err
	}
	if m.beta < 1 {
		m.toStart(m.to.logQ, r.Z)
	}
	m.to.count(m.to.broken, m.path)
	r.LogScale(m.tmp)
	for i, e := range m.energy {
		m.tmp[i] += m.logPath(m.to.value.Out[i], m.to.logQ[i], m.to.broken[i]) - e
	}
	m.to.accept(s, m.tmp, rng)
	return nil
}

// pick is a random latent, mostly one by how many priors of others and guards depend on it. Those are moved with all that
// depends on them, which is where trajectories are slow.
func (m *mover) pick(rng *rand.Rand) int {
	if k := len(m.hubs); k > 0 && rng.IntN(4) > 0 {
		return m.hubs[rng.IntN(k)]
	}
	return rng.IntN(len(m.start.mean))
}

// difference adds to the residuals of each point a multiple of the difference of two states.
func (m *mover) difference(kind int, rng *rand.Rand) {
	n, e := m.n, m.res.E
	multiple := []float64{1, 0.3}[rng.IntN(2)]
	for c := range m.res.which {
		a, b := m.res.other[rng.IntN(n):], m.res.other[rng.IntN(n):]
		if kind == across {
			for i := 0; i < len(e); i += n {
				e[i+c] += multiple * (b[i] - a[i])
			}
			continue
		}
		i, j := m.res.which[c]*n, m.pick(rng)*n
		e[i+c] += multiple * (b[i] - a[i])
		if i != j && rng.IntN(2) == 0 {
			e[j+c] += multiple * (b[j] - a[j])
		}
	}
}
