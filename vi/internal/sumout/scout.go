package sumout

import (
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
)

// A ScoutSum has switches summed out, in batches. It is a scout.Sum.
type ScoutSum struct {
	sum *Sum
	u   []float64
}

// NewScoutSum returns one for batches of n.
func NewScoutSum(d *graph.Density, switches []derive.SwitchLatent, n int) (*ScoutSum, error) {
	sum, err := New(d, switches, n)
	return &ScoutSum{sum, make([]float64, 2*len(switches))}, err
}

// Sums implements scout.Sum.
func (s *ScoutSum) Sums(i int) bool { return Among(s.sum.Switches, i) }

// LogProb implements scout.Sum.
func (s *ScoutSum) LogProb(dst, z []float64) error {
	copy(s.sum.X.Z, z)
	err := s.sum.Run(nil)
	copy(dst, s.sum.Out)
	return err
}

// Draw implements scout.Sum.
func (s *ScoutSum) Draw(log, z []float64, rng *rand.Rand) {
	for k := range log {
		for j := range s.u {
			s.u[j] = rng.Float64()
		}
		log[k] += s.sum.draw(k, s.u, z, k, s.sum.N)
	}
}
