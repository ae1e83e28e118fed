//go:build long

package nile

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// A grid of half the width changes nothing.
func TestExact(t *testing.T) {
	a := Exact()
	assert.Equal(t, 1898, FirstYear+floats.MaxIdx(a.Shift))
	assert.Len(t, a.Guards, 2*len(Flow))
	assert.Zero(t, a.Guards[len(Flow)-1], "both shifts are before the last year")
	finer := enumerate(Flow, 0.02)
	assert.InDelta(t, finer.LogEvidence, a.LogEvidence, 1e-8)
	assert.InDeltaSlice(t, finer.Guards, a.Guards, 1e-8)
	assert.InDeltaSlice(t, finer.Shift, a.Shift, 1e-8)
	assert.InDelta(t, finer.Twice, a.Twice, 1e-6)
	for shifts := range 2 {
		assert.InDelta(t, fewer(Flow, shifts, 0.02), LogEvidence(shifts), 1e-8, shifts)
		t.Logf("%d shifts: log evidence %.6f", shifts, LogEvidence(shifts))
	}
	for i, m := range finer.Latents {
		assert.InDelta(t, m.Mean, a.Latents[i].Mean, 1e-8*m.SD)
		assert.InEpsilon(t, m.SD, a.Latents[i].SD, 1e-8)
	}
	t.Logf("log evidence %.6f, latents %.4f", a.LogEvidence, a.Latents)
}

// The enumeration describes the program: with levels and noise given, both
// have the same density, up to the coordinates of the shifts.
func TestStretchesAgainstDensity(t *testing.T) {
	// One stretch's evidence is its level's density integrated.
	one := stretches(Flow, math.Sqrt(1.7))[3][40]
	for _, level := range []float64{8, 9.3, 11} {
		sum := distuv.Normal{Mu: 9, Sigma: 2}.LogProb(level)
		for _, v := range Flow[3:40] {
			sum += distuv.Normal{Mu: level, Sigma: math.Sqrt(1.7)}.LogProb(v / Unit)
		}
		assert.InDelta(t, sum, one.log+one.level.LogProb(level), 1e-9)
	}
	// The program's density is that of its three stretches.
	density, err := Model(Flow, 2).Compile()
	require.NoError(t, err)
	z := []float64{math.Log(0.28 / 0.72), math.Log(0.6 / 0.4), 10.5, 8.7, 8.2, math.Log(1.3)}
	got, err := density.LogProb(z)
	require.NoError(t, err)
	want := math.Log(0.28*0.72*0.6*0.4) + math.Ln2 + distuv.Normal{Sigma: 2}.LogProb(1.3) + math.Log(1.3)
	for k, cut := range [][2]int{{0, 28}, {28, 60}, {60, 100}} { // 0.28·99 = 27.7, 0.6·99 = 59.4
		want += distuv.Normal{Mu: 9, Sigma: 2}.LogProb(z[2+k])
		for _, v := range Flow[cut[0]:cut[1]] {
			want += distuv.Normal{Mu: z[2+k], Sigma: 1.3}.LogProb(v / Unit)
		}
	}
	assert.InDelta(t, want, got, 1e-9)
	assert.Equal(t, []string{"first ahead", "second ahead"}, density.GuardNames())
}
