package calibration

import "math"

// A tally adds up a posterior: weights in logs, and moments of latents and
// probabilities of guards under them.
type tally struct {
	top, total   float64 // the sum of weights is total·e^top
	mean, square []float64
	guard        []float64
}

// newTally is the empty sum, for so many latents and guards.
func newTally(latents, guards int) *tally {
	return &tally{
		top: math.Inf(-1), mean: make([]float64, latents), square: make([]float64, latents),
		guard: make([]float64, guards),
	}
}

// weight makes room for a weight e^log, and returns it as a multiple of e^top.
func (t *tally) weight(log float64) float64 {
	if log <= t.top {
		return math.Exp(log - t.top)
	}
	shrink := math.Exp(t.top - log)
	t.top = log
	t.total *= shrink
	for _, list := range [][]float64{t.mean, t.square, t.guard} {
		for i := range list {
			list[i] *= shrink
		}
	}
	return 1
}

// add adds a part of the posterior with its conditional moments. Each of the
// lists of moments may come in two pieces.
func (t *tally) add(log float64, mean, square [2][]float64, guard []float64) {
	if math.IsInf(log, -1) || log < t.top-60 {
		return
	}
	w := t.weight(log)
	t.total += w
	k := 0
	for p := range mean {
		for i, m := range mean[p] {
			t.mean[k] += w * m
			t.square[k] += w * square[p][i]
			k++
		}
	}
	for i, g := range guard {
		t.guard[i] += w * g
	}
}

func (t *tally) logTotal() float64 { return t.top + math.Log(t.total) }

// moments are the mean and the mean square of each latent.
func (t *tally) moments() (mean, square []float64) {
	for i := range t.mean {
		mean, square = append(mean, t.mean[i]/t.total), append(square, t.square[i]/t.total)
	}
	return mean, square
}

// A guardList are guards that share a name.
type guardList struct {
	name string
	n    int
}

// exact is the posterior. Latents with an empty name are left out.
func (t *tally) exact(latents []string, guards []guardList) Exact {
	e := Exact{
		LogEvidence: t.logTotal(),
		Mean:        map[string]float64{}, SD: map[string]float64{}, Guards: map[string][]float64{},
	}
	mean, square := t.moments()
	for i, name := range latents {
		if name != "" {
			e.Mean[name] = mean[i]
			e.SD[name] = math.Sqrt(max(square[i]-mean[i]*mean[i], 0))
		}
	}
	k := 0
	for _, f := range guards {
		for range f.n {
			e.Guards[f.name] = append(e.Guards[f.name], min(t.guard[k]/t.total, 1))
			k++
		}
	}
	return e
}
