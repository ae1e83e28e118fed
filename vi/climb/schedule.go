package climb

import (
	"fmt"
	"math"
)

// A Schedule is how the step size falls from the first step of a fit to the last.
type Schedule string

// The schedules. Constant stays at 1, which goes furthest in the same number of steps: the
// jitter that it leaves is averaged away (Climb.Average). Cosine is ½(1 + cos πu), where u is the fraction of the steps that are
// done.
const (
	Constant Schedule = ""
	Cosine   Schedule = "cosine"
)

// At is the factor on the step size of step t of steps, from 1.
func (s Schedule) At(t, steps int) float64 {
	if s == Constant {
		return 1
	}
	return 0.5 * (1 + math.Cos(math.Pi*float64(t-1)/float64(max(1, steps-1))))
}

func (s Schedule) check() error {
	if s != Constant && s != Cosine {
		return fmt.Errorf("Climb.Schedule = %q; there are %q and %q", string(s), string(Constant), string(Cosine))
	}
	return nil
}
