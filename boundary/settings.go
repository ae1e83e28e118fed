package boundary

import "fmt"

// Subsampling says how guards are chosen where not all are used.
type Subsampling uint8

const (
	// Uniform chooses every guard with the same probability.
	Uniform Subsampling = iota
	// ByWeight chooses guards in proportion to the density of q on them.
	ByWeight
)

// String is the subsampling's name.
func (s Subsampling) String() string {
	if s == ByWeight {
		return "by weight"
	}
	return "uniform"
}

// Settings choose among unbiased estimators of the boundary term. The zero value, all
// guards, is a good choice.
type Settings struct {
	// Guards is how many guards each sample uses, drawn with replacement, each
	// divided by its probability; 0 means all of them, without any draw.
	Guards int
	// By is how they are drawn.
	By Subsampling
	// NewData lets Density.Feed of Samples change the observations; see graph.Compute.
	NewData bool
}

// mostGuards is the largest number of guards a sample.
const mostGuards = 1 << 20

// Validate reports settings that make no sense.
func (s Settings) Validate() error {
	switch {
	case s.Guards < 0:
		return fmt.Errorf("boundary: %d guards a sample", s.Guards)
	case s.Guards > mostGuards:
		return fmt.Errorf("boundary: %d guards a sample would take %.2g draws for each: at most %d, and 0 uses all", s.Guards, float64(s.Guards), mostGuards)
	case s.By > ByWeight:
		return fmt.Errorf("boundary: unknown subsampling %d", s.By)
	case s.By != Uniform && s.Guards == 0:
		return fmt.Errorf("boundary: Boundary.By is of Boundary.Guards, and would be ignored: all guards are used")
	}
	return nil
}
