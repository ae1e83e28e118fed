package climb

import (
	"fmt"
	"math"
)

// A Shape is how a step size falls from the first step to the last.
type Shape string

// The shapes. Write u for the fraction of the steps that are done: Constant
// stays at 1, Cosine is ½(1 + cos πu), Polynomial is (1 − u)^Power.
const (
	Constant   Shape = ""
	Cosine     Shape = "cosine"
	Polynomial Shape = "polynomial"
)

// A Schedule is the course of the step size over a fit. The zero value keeps it
// constant, which goes furthest in the same number of steps: the jitter that it
// leaves is averaged away (Climb.Average).
type Schedule struct {
	Shape Shape
	Power float64 `json:",omitempty"` // of Polynomial; 1, a straight line, if 0
	// End is the last step size as a fraction of the first; 0 if 0.
	End float64 `json:",omitempty"`
}

// At is the factor on the step size of step t of steps, from 1.
func (s Schedule) At(t, steps int) float64 {
	if s.Shape == Constant {
		return 1
	}
	u := float64(t-1) / float64(max(1, steps-1))
	fall := 0.5 * (1 + math.Cos(math.Pi*u))
	if s.Shape == Polynomial {
		fall = math.Pow(1-u, orDefault(s.Power, 1))
	}
	return s.End + (1-s.End)*fall
}

func (s Schedule) check() error {
	switch {
	case s.Shape != Constant && s.Shape != Cosine && s.Shape != Polynomial:
		return fmt.Errorf("Climb.Schedule.Shape = %q; there are %q, %q and %q", s.Shape, Constant, Cosine, Polynomial)
	case !(s.Power >= 0) || !finite(s.Power):
		return fmt.Errorf("Climb.Schedule.Power = %v must be positive", s.Power)
	case !(s.End >= 0 && s.End <= 1):
		return fmt.Errorf("Climb.Schedule.End = %v must lie between 0 and 1", s.End)
	}
	return nil
}
