package calibration

import (
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
)

// A cell is a part of the space of the switch latents, which are those that the
// likelihood sees through guards only.
type cell struct {
	log          float64   // prior mass
	mean, square []float64 // of the switch latents in the cell
	side         []int     // for each observation, which of the data's regimes it is in
	guard        []float64 // for each named guard 1 or 0
}

// Data are observations that the switch latents divide into regimes.
type data interface {
	// names are the names of the parameters: the latents that are not switches.
	names() []string
	// given is the log evidence of the data with these sides, and the posterior
	// mean and mean square of each parameter. Noise is integrated in steps
	// divided by fine.
	given(side []int, fine int) (log float64, mean, square []float64)
	// logPrior and logProb are those of parameters and of the data given them.
	logPrior(param []float64) float64
	logProb(side []int, param []float64) float64
}

// A switched model has switch latents and parameters that are conjugate given
// the sides of the guards.
type switched struct {
	model    *graph.Model
	switches []string
	prior    func(at []float64) float64
	cells    func(fine int) []cell
	sides    func(at []float64) []int
	guards   []guardList
	data     data
}

func (s switched) problem() problem {
	n := len(s.switches)
	names := slices.Concat(s.switches, s.data.names())
	return problem{
		model:   s.model,
		latents: names,
		joint: func(x []float64) (prior, likelihood float64) {
			prior = s.prior(x[:n]) + s.data.logPrior(x[n:])
			return prior, s.data.logProb(s.sides(x[:n]), x[n:])
		},
		solve: func(fine int) Exact { return s.sum(names, fine) },
	}
}

// sum adds up the cells.
func (s switched) sum(names []string, fine int) Exact {
	guards := 0
	for _, f := range s.guards {
		guards += f.n
	}
	t := newTally(len(names), guards)
	patterns := map[string]float64{} // log masses
	var best []float64
	top := math.Inf(-1)
	for _, c := range s.cells(fine) {
		if math.IsInf(c.log, -1) {
			continue
		}
		log, mean, square := s.data.given(c.side, fine)
		log += c.log
		t.add(log, [2][]float64{c.mean, mean}, [2][]float64{c.square, square}, c.guard)
		key := make([]byte, len(c.guard))
		for i, g := range c.guard {
			key[i] = byte(g)
		}
		total := log
		if before, ok := patterns[string(key)]; ok {
			total = logAdd(before, log)
		}
		patterns[string(key)] = total
		if total > top {
			top, best = total, c.guard
		}
	}
	e := t.exact(names, s.guards)
	if guards == 0 {
		return e
	}
	e.Likeliest, e.LikeliestProb = map[string][]bool{}, math.Exp(top-e.LogEvidence)
	k := 0
	for _, f := range s.guards {
		for range f.n {
			e.Likeliest[f.name] = append(e.Likeliest[f.name], best[k] > 0)
			k++
		}
	}
	return e
}

// logAdd is log(eᵃ + eᵇ), where a may be −∞.
func logAdd(a, b float64) float64 {
	if math.IsInf(a, -1) {
		return b
	}
	return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
}

// An interval is a piece of one latent's line.
type interval struct{ log, mean, square float64 }

// intervals cuts the line of a latent with prior l at the cuts, which ascend.
func intervals(l law, cuts []float64) (all []interval) {
	edges := slices.Concat([]float64{math.Inf(-1)}, cuts, []float64{math.Inf(1)})
	for k := range len(edges) - 1 {
		var i interval
		i.log, i.mean, i.square = l.within(edges[k], edges[k+1])
		all = append(all, i)
	}
	return all
}

// distinct are the values of x, ascending.
func distinct(x []float64) []float64 {
	return slices.Compact(slices.Sorted(slices.Values(x)))
}

// above is 1 where x is above t, else 0.
func above(x []float64, t float64) []int {
	side := make([]int, len(x))
	for i, v := range x {
		if v > t {
			side[i] = 1
		}
	}
	return side
}

// one is the cells of the guards x_i > t of one switch latent t.
func one(x []float64, l law) (cells []cell) {
	cuts := distinct(x)
	for k, i := range intervals(l, cuts) {
		t := math.Inf(1)
		if k < len(cuts) {
			t = cuts[k] - 1e-9*(1+math.Abs(cuts[k]))
		}
		side := above(x, t)
		cells = append(cells, cell{
			log: i.log, mean: []float64{i.mean}, square: []float64{i.square}, side: side, guard: numbers(side),
		})
	}
	return cells
}

// two is the cells of the guards x_i > t and x_i > u of two switch latents. An
// observation's side is how many of the two hold, if either may come first, as
// side tells.
func two(x []float64, l law) (cells []cell) {
	single := one(x, l)
	for _, a := range single {
		for _, b := range single {
			if math.IsInf(a.log, -1) || math.IsInf(b.log, -1) {
				continue
			}
			side := make([]int, len(x))
			for i := range side {
				side[i] = a.side[i] + b.side[i]
			}
			cells = append(cells, cell{
				log: a.log + b.log, side: side, guard: slices.Concat(a.guard, b.guard),
				mean: []float64{a.mean[0], b.mean[0]}, square: []float64{a.square[0], b.square[0]},
			})
		}
	}
	return cells
}

func numbers(side []int) []float64 {
	f := make([]float64, len(side))
	for i, s := range side {
		f[i] = float64(s)
	}
	return f
}
