package verdict

import (
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/mc"
)

// How it is seen that nothing holds a parameter: by so many draws of the posterior, from one unit of the parameter to as many
// as doubling that so often makes.
const (
	heldDraws   = 200
	heldDoubles = 40
	heldRise    = 0.1  // in nats, of the evidence by one unit: more is a better value
	heldFall    = 1e-3 // in nats: with less it does not fall
	mostGain    = 100  // in nats, that is told from more
)

// parameters asks whether the evidence has a maximum where the parameters of the program are: it does not rise within a unit, and
// falls on the way to ±∞. The evidence at other values is that of the draws, weighed again, so what draws move with is held.
func (j *judgement) parameters() {
	d := j.s.Density()
	if d.Params() == 0 {
		return
	}
	_, units := d.PriorStart()
	draws := make([][]float64, 0, heldDraws)
	for _, k := range j.s.Resample(heldDraws, parallel.NewRand(parallel.Mix(j.fit.Seed, streams.Judge))) {
		draws = append(draws, j.s.Point(k))
	}
	for i, name := range d.Latents()[:d.Params()] {
		lo, hi := d.Coordinate(i).Bounds()
		for side, end := range [2]float64{lo, hi} {
			unit := units[i] * float64(2*side-1)
			gain := gainAt(d, draws, i, unit)
			beyond := "as good"
			if gain.Value > heldRise+scoutErrors*gain.SE {
				beyond = "higher"
			} else if !math.IsInf(end, 0) || falls(d, draws, i, unit) {
				continue
			}
			j.refuse("more Climb.Steps, bounds for the parameter (graph.Between), or a prior in place of it",
				"the evidence is %s on one side of parameter %q (%s) = %.4g: it has no maximum there, or the fit is not where that is",
				beyond, name, d.Coordinate(i).Place(), j.n.Moments[i].Mean.Value)
			break
		}
	}
}

// falls reports whether the evidence falls on the way to the end of parameter i that unit points to.
func falls(d *graph.Density, draws [][]float64, i int, unit float64) bool {
	for k := range heldDoubles {
		if !(gainAt(d, draws, i, math.Ldexp(unit, k)).Value > -heldFall) {
			return true
		}
	}
	return false
}

// gainAt is the gain in log evidence of moving parameter i, by draws of the posterior where it is. It is −∞ where log r has no
// value there.
func gainAt(d *graph.Density, draws [][]float64, i int, by float64) mc.Estimate {
	var m mc.Moments
	for _, z := range draws {
		was, err := d.LogProb(z)
		at := z[i]
		z[i] += by
		is, errThere := d.LogProb(z)
		z[i] = at
		if err != nil || errThere != nil || math.IsNaN(is) {
			return mc.Estimate{Value: math.Inf(-1)}
		}
		m.Add(math.Exp(min(is-was, mostGain)))
	}
	ratio := m.Estimate()
	return mc.Estimate{Value: math.Log(ratio.Value), SE: ratio.SE / ratio.Value}
}
