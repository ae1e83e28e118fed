package scout

import (
	"cmp"
	"fmt"
	"math/rand/v2"
)

// Settings say how much work a run does. The zero value works.
type Settings struct {
	Islands   int    // independent runs, at least 2; default 8
	Particles int    // chains in an island, rounded up to full blocks of 16 to 128; default 256
	Moves     int    // of each chain at each temperature, at least 3; default 12
	Seed      uint64 // fixes the result, whatever the number of processors is
	// Sum, if not nil, makes what has latents summed out, for batches of n: chains do not move
	// these, and draws have them from their distribution given the others.
	Sum func(n int) (Sum, error)
	// Within, if not nil, is where chains stay: elsewhere log r counts as −∞.
	Within *Within
	// Over, if not nil, is asked by several goroutines whether to end. The result is then
	// that of the islands that were done, or else of those that had come furthest, and
	// depends on when it said so.
	Over func() bool
	// Progress is told the inverse temperature β that the slowest island has
	// reached, when it rises. It is called from one goroutine at a time.
	Progress func(beta float64)
}

// Within is an interval of a latent in unconstrained coordinates, without its lower end.
type Within struct {
	Latent    int
	Above, To float64
}

// checked is s with defaults.
func (s Settings) checked() (Settings, error) {
	s.Islands, s.Particles, s.Moves = cmp.Or(s.Islands, 8), cmp.Or(s.Particles, 256), cmp.Or(s.Moves, 12)
	switch {
	case s.Islands < 2:
		return s, fmt.Errorf("%d islands: at least 2", s.Islands)
	case s.Particles < 1:
		return s, fmt.Errorf("%d particles", s.Particles)
	case s.Moves < kinds:
		return s, fmt.Errorf("%d moves: at least %d", s.Moves, kinds)
	}
	return s, nil
}

// A Sum has latents summed out, in batches of points, latents × n. It is for one goroutine.
type Sum interface {
	// Sums reports whether latent i is summed out.
	Sums(i int) bool
	// LogProb stores log r of the others in dst. What z has of those that are summed out does not
	// count.
	LogProb(dst, z []float64) error
	// Draw draws what is summed out into z, the z of LogProb, from its distribution given the
	// others, and adds the log density of that to log.
	Draw(log, z []float64, rng *rand.Rand)
}
