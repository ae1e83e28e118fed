package calibration

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// cases are the collection, the level shifts, and the large cases, with -exhaustive; or one in
// six of them, and without -tags long one in eighteen.
var cases = sync.OnceValue(func() []Case {
	if long.Exhaustive() {
		return slices.Concat(Cases(), LevelShifts(), []Case{Hierarchy24(true), Hierarchy24(false), LongChangePoint(200)})
	}
	var some []entry
	for k, e := range collection() {
		if k%long.Or(18, 6) == 3 { // which are of all kinds
			some = append(some, e)
		}
	}
	list := append(buildAll(some), LevelShift(4), LongChangePoint(200))
	if long.On() {
		list = append(list, Hierarchy24(false)) // as the one of 15 groups, in seconds
	}
	return list
})

// supports are the ends of the latents' supports.
func supports(d *graph.Density) (lo, hi []float64) {
	for i := range d.Dim() {
		lo, hi = append(lo, math.Inf(-1)), append(hi, math.Inf(1))
		if d.Coordinate(i).Transformed() {
			lo[i], hi[i] = d.Coordinate(i).Value(-800), d.Coordinate(i).Value(800)
		}
	}
	return lo, hi
}

// logJacobian is Σ log|dx/dz| at the latents x, from the ends of their supports.
func logJacobian(lo, hi, x []float64) (sum float64) {
	for i, v := range x {
		switch {
		case math.IsInf(lo[i], -1):
		case math.IsInf(hi[i], 1):
			sum += math.Log(v)
		default:
			sum += math.Log((v - lo[i]) / (hi[i] - lo[i]) * (hi[i] - v))
		}
	}
	return sum
}

// The program's density is the oracle's joint density, at draws from the prior.
func TestJointAgainstDensity(t *testing.T) {
	rng := source(1)
	for _, c := range cases() {
		finite := 0
		lo, hi := supports(c.Density)
		for range 40 {
			z := c.Density.PriorDraw(nil, rng)
			x := c.Density.Constrain(z)
			want := c.LogJoint(x) + logJacobian(lo, hi, x)
			got, err := c.Density.LogProb(z)
			require.NoError(t, err, c.Name)
			if math.IsInf(want, -1) || math.IsNaN(want) {
				continue
			}
			finite++
			assert.InDelta(t, want, got, 1e-9*(1+math.Abs(want)), c.Name)
		}
		assert.Greater(t, finite, 30, c.Name)
	}
}

// Half the steps of quadrature, in wider ranges, give the same posterior.
func TestConverged(t *testing.T) {
	long.Skip(t) // TestJointAgainstDensity and the fits would see it, too
	for _, c := range cases() {
		fine := c.solve(2)
		assert.InDelta(t, fine.LogEvidence, c.Exact.LogEvidence, 1e-8, c.Name)
		require.NotEmpty(t, c.Exact.Mean, c.Name)
		for name, mean := range c.Exact.Mean {
			sd := c.Exact.SD[name]
			require.Greater(t, sd, 0.0, c.Name)
			assert.InDelta(t, fine.Mean[name], mean, 1e-6*sd, "%s: mean of %s", c.Name, name)
			assert.InEpsilon(t, fine.SD[name], sd, 1e-6, "%s: sd of %s", c.Name, name)
		}
		for name, p := range c.Exact.Guards {
			assert.InDeltaSlice(t, fine.Guards[name], p, 1e-8, "%s: %s", c.Name, name)
		}
	}
}

// Names, guards and latents of the answers are those of the programs.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cases() {
		assert.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
		for name := range c.Exact.Mean {
			_, ok := c.Density.Latent(name)
			assert.True(t, ok, "%s: %s", c.Name, name)
		}
		assert.Len(t, c.Exact.Guards, len(c.Density.GuardNames()), c.Name)
		for name, p := range c.Exact.Guards {
			assert.Len(t, p, len(c.Density.Named(name)), c.Name)
			for _, v := range p {
				assert.True(t, v >= 0 && v <= 1, "%s: %s: %v", c.Name, name, v)
			}
		}
		t.Logf("%-32s %3d %4d %14.6f", c.Name, c.Density.Dim(), c.Density.Arrangement().Len(), c.Exact.LogEvidence)
	}
}

// The best interval of each level shift is at the change, and the best one
// elsewhere is at the decoy, 4 nats below.
func TestLevelShifts(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	every := long.Or(14, 7)
	if long.Exhaustive() {
		every = 1
	}
	for k := 0; k < 20; k += every {
		c, s := LevelShift(k), levelShift(k)
		assert.InDelta(t, decoyGap, s.gap(s.tuned()), 0.001, c.Name)
		first := slices.Index(c.Exact.Likeliest["past"], true)
		assert.InDelta(t, s.at, first, 6, c.Name)
		assert.Greater(t, math.Abs(float64(s.at-s.decoy)), 10.0, c.Name)
	}
}

// The sums of a long series are those of the enumeration.
func TestLongChangePoint(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	y := stepCounts(232, count(90), 60, 3, 4)
	whole := longChange(y).solve(1)
	short := step{"change", count(90), uniform(0, 90)}.poisson(y, 2, 0.5).solve(1)
	assert.InDelta(t, short.LogEvidence, whole.LogEvidence, 1e-9)
	assert.InDeltaMapValues(t, short.Mean, whole.Mean, 1e-9)
	assert.InDeltaMapValues(t, short.SD, whole.SD, 1e-9)
	assert.InDeltaSlice(t, short.Guards["past"], whole.Guards["past"], 1e-9)
	assert.Equal(t, short.Likeliest, whole.Likeliest)
	assert.InDelta(t, short.LikeliestProb, whole.LikeliestProb, 1e-9)

	c := LongChangePoint(10000)
	assert.Equal(t, 10000, c.Density.Arrangement().Len())
	assert.InDelta(t, 6250, c.Exact.Mean["change"], 5*c.Exact.SD["change"])
}
