package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/lang"
)

// LogLikelihoods are the log densities at z of the elements of Data, one by one and in that order: of a step of a chain, given
// the steps before it. Together they are what the observations add to log r. Those that the program does not make at z, in an If
// block that z does not enter, are NaN, and so are missing ones. It allocates if dst is nil, and otherwise panics unless len(dst) is the number of
// observations.
func (d *Density) LogLikelihoods(dst, z []float64) []float64 {
	dst = sized(dst, len(d.made().m.obs), "observations")
	ev := d.evaluate(z)
	defer ev.Release()
	terms, k := d.terms, 0
	for i := 0; i < len(dst); k++ {
		o := &d.m.obs[i]
		switch made := ev.holds(o.where); {
		case !terms[k].observes():
			continue
		case o.hidden != nil:
			steps := dst[i:][:o.hidden.steps]
			_, logs := o.hidden.filter(o.hidden.values(ev, d.missing))
			copy(steps, logs)
			if !made {
				floats.AddConst(math.NaN(), steps)
			}
			i += len(steps)
			continue
		case made:
			dst[i] = ev.Value(terms[k].id)
		default:
			dst[i] = math.NaN()
		}
		i++
	}
	for i := range dst {
		if d.isMissing(i) {
			dst[i] = math.NaN()
		}
	}
	return dst
}

// LogPriors are the log densities at z of the latents' priors, by latent on the program's own scale, each given the latents that its
// prior depends on. Those of parameters are 0. It allocates if dst is nil, and otherwise panics unless len(dst) is Dim().
func (d *Density) LogPriors(dst, z []float64) []float64 {
	dst = sized(dst, d.Dim(), "latents")
	ev := d.evaluate(z)
	defer ev.Release()
	clear(dst)
	i := d.m.params
	for _, t := range d.m.terms {
		name, ofPrior := strings.CutPrefix(t.what, priorOf(""))
		switch {
		case t.prior:
			if k := d.m.latents[i].discrete; k == nil {
				dst[i] = ev.Value(t.id)
				if d.Coordinate(i).Transformed() {
					dst[i] -= math.Log(math.Abs(d.Coordinate(i).Slope(z[i])))
				}
			} else if k.Dist.Fixed() {
				dst[i], _ = k.Dist.LogProb(lang.Number(d.Coordinate(i).Value(z[i]))).IsConst()
			}
			i++
		case ofPrior: // of a discrete latent whose prior depends on others
			k, _ := d.Latent(name)
			dst[k] = ev.Value(t.id) - math.Log(float64(len(d.m.latents[k].discrete.Values)))
		}
	}
	return dst
}

// NonFinite evaluates the terms of log r at z one by one, in the region of z,
// and returns the first one that is not finite: what it is and where the
// program says so, its value, and the latents that it depends on.
func (d *Density) NonFinite(z []float64) (term string, value float64, latents []int, found bool) {
	ev := d.evaluate(z)
	defer ev.Release()
	for _, t := range d.m.terms {
		if v := ev.Value(t.id); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprintf("the %s (%v)", t.what, t.place), v, slices.Compact(slices.Sorted(slices.Values(d.m.guards.LatentsOf(t.id)))), true
		}
	}
	return "", 0, nil, false
}
