package intervals

import (
	"cmp"
	"math"
	"slices"
)

const (
	lostSquare = 5  // times as much of the variance of a latent may be lost as of the mass
	lostPart   = 20 // how much less than Settings.Lost may be left out: of the mass, for the variances' sake
)

// shares are what each interval has of the posterior, by Laplace, and which intervals are kept.
type shares struct {
	mass           []float64 // by interval
	kept           []int
	lost           float64   // of the mass
	mean, variance []float64 // of the rest and the switch,
	squares        []float64 // and what each interval has of the variance, intervals × latents
	left           []float64 // of the variance, in intervals that are not kept
}

func newShares(intervals, latents int) *shares {
	vector := func() []float64 { return make([]float64, latents) }
	return &shares{mass: make([]float64, intervals), mean: vector(), variance: vector(), left: vector(), squares: make([]float64, intervals*latents)}
}

// keep chooses the intervals that matter.
func (s *shares) keep(f *finder, lost float64) {
	s.kept = s.kept[:0]
	best, total := math.Inf(-1), 0.0
	for j := range f.climbs {
		s.kept = append(s.kept, j)
		best = max(best, f.climbs[j].logZ)
	}
	for j := range f.climbs {
		total += math.Exp(f.climbs[j].logZ - best)
	}
	for j := range f.climbs {
		s.mass[j] = math.Exp(f.climbs[j].logZ-best) / total
	}
	slices.SortStableFunc(s.kept, func(a, b int) int { return cmp.Compare(s.mass[b], s.mass[a]) })
	s.spread(f)
	s.lost = 0
	for last := len(s.kept) - 1; last > 0; last-- {
		j := s.kept[last]
		if s.lost+s.mass[j] > lost/lostPart || !s.leaves(j, lostSquare*lost) {
			break
		}
		s.lost += s.mass[j]
		s.kept = s.kept[:last]
	}
}

// spread finds mean and variance of each latent, and what each interval has of them: squares.
func (s *shares) spread(f *finder) {
	n := len(s.mean)
	for i := range n {
		s.mean[i], s.variance[i] = 0, 0
		for j := range f.climbs {
			s.mean[i] += s.mass[j] * f.place(j, i)
		}
		for j := range f.climbs {
			s.squares[j*n+i] = s.mass[j] * f.square(j, i, s.mean[i])
			s.variance[i] += s.squares[j*n+i]
		}
	}
	clear(s.left)
}

// leaves leaves interval j out, if no latent then misses more than most of its variance.
func (s *shares) leaves(j int, most float64) bool {
	for i := range s.left {
		if s.left[i] += s.squares[j*len(s.left)+i]; s.left[i] > most*s.variance[i] {
			return false
		}
	}
	return true
}

// ofVariance is the largest part of a latent's variance that interval j has.
func (s *shares) ofVariance(j int) (share float64) {
	for i, v := range s.variance {
		share = max(share, s.squares[j*len(s.left)+i]/v)
	}
	return share
}
