package sumout

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/residuals"
)

// Among reports whether latent i is one of the switches.
func Among(switches []derive.SwitchLatent, i int) bool {
	return slices.ContainsFunc(switches, func(w derive.SwitchLatent) bool { return w.Latent == i })
}

// Without are the latents but for switches.
func Without(dim int, switches []derive.SwitchLatent) (list []int) {
	for i := range dim {
		if !Among(switches, i) {
			list = append(list, i)
		}
	}
	return list
}

// masses are the thresholds of switches at n samples, and what the switches' priors have in the intervals between them.
type masses struct {
	Switches []derive.SwitchLatent
	N        int
	cuts     []*derive.Thresholds // nil where they are the same for all samples
	cut      [][]float64          // by switch: its thresholds, planes × n, or one for all samples
	prior    *residuals.Batch
	mass     [][]float64 // by switch: log P_ij, intervals × n
	vary     []int       // switches of which these are not always the same
	below    float64     // of the others: the sum of the log priors where they are put
	inside   [][]float64 // by switch: quantiles of each interval, one after the other; nil where within computes them
}

// Where a discrete latent is between its thresholds says nothing, so it is put between quantiles there, if they are the same for all samples.
const (
	quantileSteps = 32
	mostTabled    = 64   // intervals
	firstQuantile = 1e-4 // and the last one is as near to the end
)

// fixed reports whether thresholds and prior of a switch are the same for all samples.
func (m *masses) fixed(w derive.SwitchLatent) bool {
	return len(w.Index) == 0 && m.prior.Fixed(w.Latent)
}

// find finds what is the same for all samples.
func (m *masses) find(d *graph.Density) {
	for i, w := range m.Switches {
		if len(w.Index) == 0 {
			m.cuts, m.cut = append(m.cuts, nil), append(m.cut, make([]float64, len(w.Planes)))
			w.Thresholds(1).Fill(m.cut[i], make([]float64, d.Dim()))
		} else {
			m.cuts, m.cut = append(m.cuts, w.Thresholds(m.N)), append(m.cut, make([]float64, len(w.Planes)*m.N))
		}
		m.mass = append(m.mass, make([]float64, (len(w.Planes)+1)*m.N))
		if !m.fixed(w) {
			m.vary = append(m.vary, i)
			continue
		}
		m.weigh(i)
		m.prior.Z[w.Latent*m.N] = m.put(i, 0)
		m.below += m.prior.LogPriorOf(w.Latent, 0)
	}
	m.inside = make([][]float64, len(m.Switches))
	for i, w := range m.Switches {
		if values, _ := d.Values(w.Latent); values == nil || !m.fixed(w) || len(w.Planes) >= mostTabled {
			continue
		}
		for j := range len(w.Planes) + 1 {
			lo, hi := m.between(i, j, 0)
			for q := range quantileSteps + 1 {
				u := min(max(float64(q)/quantileSteps, firstQuantile), 1-firstQuantile)
				m.inside[i] = append(m.inside[i], m.prior.Within(w.Latent, 0, u, lo, hi))
			}
		}
	}
}

// within is a place of switch i of sample k in its interval j, by a uniform number.
func (m *masses) within(i, j, k int, u float64) float64 {
	if table := m.inside[i]; table != nil {
		u *= quantileSteps
		at := min(int(u), quantileSteps-1) // u may be rounded to 1
		q := table[j*(quantileSteps+1)+at:][:2]
		return q[0] + (u-float64(at))*(q[1]-q[0])
	}
	lo, hi := m.between(i, j, k)
	return m.prior.Within(m.Switches[i].Latent, k, u, lo, hi)
}

// follow moves the priors to samples z whose switches are put, and weighs the intervals there.
func (m *masses) follow(z []float64) {
	if len(m.vary) == 0 {
		return
	}
	copy(m.prior.Z, z)
	m.prior.Invert()
	for _, i := range m.vary {
		m.weigh(i)
	}
}

// put is where a Sum puts switch i of sample k, below all thresholds.
func (m *masses) put(i, k int) float64 { return m.finiteCut(i, 0, k) - 1 }

// weigh computes what the prior has in the intervals of switch i: once for all samples, if it is the same.
func (m *masses) weigh(i int) {
	w := m.Switches[i]
	for j := range len(w.Planes) + 1 {
		row := m.mass[i][j*m.N:][:m.N]
		for k := range row {
			if m.fixed(w) && k > 0 {
				row[k] = row[0]
				continue
			}
			lo, hi := m.between(i, j, k)
			row[k] = m.prior.LogMass(w.Latent, k, lo, hi)
		}
	}
}

// threshold is threshold j of switch i at sample k.
func (m *masses) threshold(i, j, k int) float64 {
	if m.cuts[i] == nil {
		return m.cut[i][j]
	}
	return m.cut[i][j*m.N+k]
}

// finiteCut is threshold j of switch i at sample k, or if that is not finite a number
// between those that are and it.
func (m *masses) finiteCut(i, j, k int) float64 {
	at := func(j int) float64 { return m.threshold(i, j, k) }
	planes, low := len(m.Switches[i].Planes), j
	for low < planes && math.IsInf(at(low), -1) {
		low++
	}
	switch {
	case low < planes && !math.IsInf(at(low), 1):
		return at(low) - float64(low-j)
	case low == planes || j == 0: // none is finite
		return 0
	}
	return m.finiteCut(i, j-1, k) + 1
}

// between is interval j between the thresholds of switch i at sample k.
func (m *masses) between(i, j, k int) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if j > 0 {
		lo = m.threshold(i, j-1, k)
	}
	if j < len(m.Switches[i].Planes) {
		hi = m.threshold(i, j, k)
	}
	return lo, hi
}

// logWithin is the log density of the prior of switch i at x, in interval j.
func (m *masses) logWithin(i, j, k int, x float64) float64 {
	at := &m.prior.Z[m.Switches[i].Latent*m.N+k]
	was := *at
	*at = x
	log := m.prior.LogPriorOf(m.Switches[i].Latent, k)
	*at = was
	return log - m.mass[i][j*m.N+k]
}
