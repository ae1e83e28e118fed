package smc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of draws that are too many every second state of each particle is left, with its log r and its island, and from then on every second is added.
func TestHalve(t *testing.T) {
	const particles, islands = 3, 2
	c := chains{}
	add := func(state float64) {
		var all []*island
		for k := range islands {
			s := newStates(1, particles)
			for i := range particles {
				s.z[i], s.logR[i] = 100*state+float64(10*k+i), -state
			}
			all = append(all, &island{now: s})
		}
		c.add(all, func(l *island) *states { return &l.now })
	}
	for state := range 5 {
		add(float64(state))
	}
	require.Len(t, c.draws, 5*islands*particles)
	c.halve(islands * particles)
	c.stride = 2
	add(5)
	add(6)
	var want [][]float64
	var logR []float64
	var of []int
	for _, state := range []float64{1, 3, 5} {
		for k := range islands {
			for i := range particles {
				want, logR, of = append(want, []float64{100*state + float64(10*k+i)}), append(logR, -state), append(of, k)
			}
		}
	}
	require.Equal(t, want, c.draws)
	require.Equal(t, logR, c.logR)
	require.Equal(t, of, c.island)
	require.Equal(t, 7, c.n)
}
