package smc

import (
	"math"

	"github.com/facetvi/facet/internal/vec"
)

// Levels are the walls Φ(z) = c of functions Φ of the latents. A function has thresholds c, ascending and between −∞ and ∞, and a point is between two of
// them.
type levels struct {
	from  []int     // by function: the number of its −∞
	at    []float64 // the thresholds of all functions
	walls []int     // by threshold: the plane; −1 at −∞ and ∞
	below []float64 // functions × points: the number of the threshold that a point is above
	n     int       // points
}

// add adds a function.
func (v *levels) add(walls []int, thresholds []float64) {
	v.from = append(v.from, len(v.at))
	v.at = append(append(append(v.at, math.Inf(-1)), thresholds...), math.Inf(1))
	v.walls = append(append(append(v.walls, -1), walls...), -1)
}

// begin finds where points are by the signs of all planes.
func (v *levels) begin(signs []float64) {
	for k, from := range v.from {
		below := v.below[k*v.n:][:v.n]
		vec.Fill(below, float64(from))
		for _, wall := range v.walls[from+1:] {
			if wall < 0 {
				break
			}
			vec.Add(below, below, signs[wall*v.n:][:v.n])
		}
	}
}

// between stores the thresholds of function k that points are between.
func (v *levels) between(lo, hi []float64, k int) {
	at := v.at[v.from[k]:]
	for i, below := range v.below[k*v.n:][:v.n] {
		j := int(below) - v.from[k]
		lo[i], hi[i] = at[j], at[j+1]
	}
}

// of is the number of the threshold that a point is above, of function k.
func (v *levels) of(point, k int) int { return int(v.below[k*v.n+point]) }

// put puts a point above a threshold of function k.
func (v *levels) put(point, k, below int) { v.below[k*v.n+point] = float64(below) }

// ahead is the wall that a point meets first as function k goes up or down, by the sign of up, −1 if there is none; and the threshold that it is above
// behind that.
func (v *levels) ahead(point, k int, up float64) (below, wall int) {
	at, down := v.of(point, k), int(math.Float64bits(up)>>63)
	return at + 1 - 2*down, v.walls[at+1-down]
}

// leaves is 1 or −1 if Φ = x is above or below the thresholds that a point is between, 0 if not.
func (v *levels) leaves(point, k int, x float64) float64 {
	switch at := v.of(point, k); {
	case x > v.at[at+1]:
		return 1
	case x <= v.at[at] && v.walls[at] >= 0:
		return -1
	}
	return 0
}
