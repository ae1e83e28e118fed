package calibration

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/long"
)

// A change of level is found where it is, also near the ends of a series and with a
// decoy 4 nats worse: the guards' most probable pattern is the exact one. Every
// seventh series, with one seed, stands for all with five, unless there is -exhaustive; and
// one of them without -tags long.
func TestFitsOfLevelShifts(t *testing.T) {
	every, seeds := long.Or(20, 7), 1
	if long.Exhaustive() {
		every, seeds = 1, 5
	}
	for k := 0; k < 20; k += every {
		c := LevelShift(k)
		for s := range uint64(seeds) {
			t.Run(fmt.Sprintf("%s/%d", c.Name, *fitSeed+s), func(t *testing.T) { requireShift(t, c, *fitSeed+s) })
		}
	}
}

func requireShift(t *testing.T, c Case, seed uint64) {
	f, p := fitCase(t, c, seed)
	path, err := p.MostProbablePath(c.Density.Named("past"))
	require.NoError(t, err)
	off := floats.Distance(fittedGuards(t, p, "past"), c.Exact.Guards["past"], math.Inf(1))
	t.Logf("%s: the best interval has %.3f, exactly %.3f; guards are off by %.3f; %d cells, %.1f s",
		f.verdict, path.Prob.Value, c.Exact.LikeliestProb, off, f.cells, f.seconds)
	assert.Equal(t, c.Exact.Likeliest["past"], path.Holds)
	assert.LessOrEqual(t, off, rightGuard)
}
