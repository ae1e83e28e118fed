package boundary

import "fmt"

// Settings choose among unbiased estimators of the boundary term. The zero value, all
// guards, is a good choice.
type Settings struct {
	// Guards is how many guards each sample uses, drawn uniformly with replacement, each
	// divided by its probability; 0 means all of them, without any draw.
	Guards int
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
	}
	return nil
}
