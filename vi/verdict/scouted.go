package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/facetvi/facet/vi/mixture"
	"gonum.org/v1/gonum/floats"
)

// compare looks at a scout's draws, which are of the posterior, for where the posterior is much higher than the proposal q.
//
// missed is four times the part of them that q all but never draws. errors are the standard errors of each latent's moments as the
// other draws see them: an expectation of f by n draws of q with weights w = r/q has the variance E[w·(f − E[f])²]/n, where E is
// under the posterior, and draws of q estimate this too low where w has a heavy tail. Islands of the scout count by
// their evidences, so that one that is stuck in a poor place counts for little.
func (j *judgement) compare() (missed float64, errors []precision) {
	d, sample, n := j.s.Density(), j.sample, j.s.Len()
	q, total := j.s.Proposal(), floats.LogSumExp(sample.Islands)
	looked := mostScoutDraws
	if m, ok := q.(*mixture.Mixture); ok {
		looked = max(scoutDraws, looked*cheapParts/max(cheapParts, m.Len()))
	}
	step := max(1, len(sample.Z)/looked)
	all := make([]float64, len(sample.Islands))
	var points [][]float64
	for k := 0; k < len(sample.Z); k += step {
		all[sample.Island[k]]++
		points = append(points, sample.Z[k])
	}
	var inSight [][]float64 // points, by the fit
	var mass, variance []float64
	for l, logQ := range mixture.LogProbs(q, points) {
		k := l * step
		i := sample.Island[k]
		part := math.Exp(sample.Islands[i]-total) / all[i]
		over := sample.LogProb[k] - j.s.LogEvidence.Value - logQ
		if over > outOfSight {
			missed += 4 * part
			continue
		}
		inSight, mass = append(inSight, points[l]), append(mass, part)
		variance = append(variance, part*math.Exp(over)/float64(n))
	}
	square := make([]float64, len(inSight))
	for i, m := range j.n.Moments {
		for k, z := range inSight {
			off := (d.Coordinate(i).Value(z[i]) - m.Mean.Value) / m.SD.Value
			square[k] = off * off
		}
		errors = append(errors, momentErrors(square, mass, variance))
	}
	return min(1, missed), errors
}

// momentErrors are the standard errors of a mean and a standard deviation, in units of the latter. For each point it takes the squared
// distance from the mean, in squared units, its mass, and its part in the variance of the mean square. The points farthest
// out, as long as their mass together is no more than that of two draws or twice rareMass, are few: for the mean they count as all of the variance
// at most, for the standard deviation they do not count.
func momentErrors(square, mass, variance []float64) (e precision) {
	left := 2 * rareMass
	for _, m := range mass {
		left = max(left, 2*m)
	}
	order := make([]int, len(square))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(square[b], square[a]) })
	far, farMean := 0.0, 0.0
	for _, k := range order {
		if left -= mass[k]; left < 0 {
			e.mean += variance[k] * square[k]
			e.sd += variance[k] * (square[k] - 1) * (square[k] - 1)
			continue
		}
		far += mass[k] * square[k]
		farMean += variance[k] * square[k]
	}
	return precision{mean: math.Sqrt(e.mean + farMean/max(1, far)), sd: math.Sqrt(e.sd) / 2}
}

// rareMass is that of which a scout has too few draws to say how much there is.
const rareMass = 1e-3
