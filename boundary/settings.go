package boundary

import "fmt"

// Method says how a sample is moved onto a hyperplane. On a hyperplane with one
// coordinate both are the same.
type Method uint8

const (
	// Orthogonal projection moves along the normal in ε. Its weights are
	// constants, which on guards with many latents can win by a factor of five
	// in variance.
	Orthogonal Method = iota
	// Elimination solves for one coordinate: the paper's method. It can win by
	// a little.
	Elimination
)

// String is the method's name.
func (m Method) String() string {
	if m == Elimination {
		return "elimination"
	}
	return "orthogonal"
}

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

// Settings choose among unbiased estimators of BouContr. The zero value, all
// guards by orthogonal projection, is a good choice.
type Settings struct {
	Method Method
	// Guards is how many guards each sample uses, drawn with replacement, each
	// divided by its probability; 0 means all of them, without any draw.
	Guards int
	// By is how they are drawn.
	By Subsampling
}

// Validate reports settings that make no sense.
func (s Settings) Validate() error {
	switch {
	case s.Guards < 0:
		return fmt.Errorf("boundary: %d guards a sample", s.Guards)
	case s.Method > Elimination:
		return fmt.Errorf("boundary: unknown method %d", s.Method)
	case s.By > ByWeight:
		return fmt.Errorf("boundary: unknown subsampling %d", s.By)
	}
	return nil
}
