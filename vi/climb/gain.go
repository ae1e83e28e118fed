package climb

import (
	"math"
	"slices"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/mc"
)

// gain estimates ELBO(b) − ELBO(a) from gradients at points spread evenly on the
// line between them. The standard error counts the change of the gradient along
// the line as noise. Random numbers are those of step t, and the streams of the
// fit stay where they are.
func (f *fitter) gain(a, b []float64, t int) (mc.Estimate, error) {
	was := f.g.Streams()
	defer func() { _ = f.g.SetStreams(was) }() // they fit: they are its own
	f.g.Restart(parallel.Mix(f.s.Seed, streams.Gain+uint64(t)))
	theta, l := make([]float64, len(a)), &f.line
	var m mc.Moments
	points := max(16, compareSamples/f.s.Samples)
	l.least, l.most = slices.Repeat([]float64{math.Inf(1)}, len(a)), slices.Repeat([]float64{math.Inf(-1)}, len(a))
	for k := range points {
		u := (float64(k) + 0.5) / float64(points)
		for i := range theta {
			theta[i] = a[i] + u*(b[i]-a[i])
		}
		l.q.Set(theta)
		g, err := f.g.Estimate(l.q)
		if err != nil {
			return mc.Estimate{}, err
		}
		slope := 0.0
		for i, x := range g {
			slope += x * (b[i] - a[i])
			l.least[i], l.most[i] = min(l.least[i], x), max(l.most[i], x)
		}
		m.Add(slope)
	}
	return m.Estimate(), nil
}

// travels reports whether a parameter has moved from a to b by more than half of
// what n steps could have moved it.
func (f *fitter) travels(a, b []float64, n int) bool {
	most := 0.5 * orDefault(f.Base, 0.001) * float64(n)
	for k, u := range f.units.of {
		if math.Abs(b[k]-a[k]) > most*u {
			return true
		}
	}
	return false
}

// When the ELBO is steep in a parameter, in nats a unit, and when the optimiser is too slow for it: where
// its running mean is below so many times the root of the running mean square.
const (
	steepest = 2
	slow     = 1e-2
	frozen   = 1e-4
)

// steep names a parameter with which the ELBO rises steeply at all points of the line of the last
// gain; empty if there is none. Unless the steps are over it frees those that are slow.
func (f *fitter) steep() (label string) {
	units, q := make([]float64, len(f.units.of)), f.line.q
	q.Units(units)
	for k, u := range units {
		p := q.Param(k)
		if sd := q.SD(p.Latent); p.Symbol == "μ" && sd > 0 {
			u = min(u, sd) // that of the paper's family is 1
		}
		if max(f.line.least[k], -f.line.most[k])*u < steepest || f.isHeld(k) {
			continue
		}
		label = p.Label(f.d.Latents())
		if !f.units.plain && f.Adam.isSlow(k, slow) {
			f.Adam.forget(k)
		}
	}
	return label
}

// isFrozen reports whether the optimiser hardly moves some parameter.
func (f *fitter) isFrozen() bool {
	for k := range f.Adam.M {
		if !f.units.plain && f.Adam.isSlow(k, frozen) {
			return true
		}
	}
	return false
}
