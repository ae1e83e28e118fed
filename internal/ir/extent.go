package ir

import "math"

// An Extent is an interval of values: lo > hi if nothing is known of them.
type Extent struct{ Lo, Hi float64 }

var Unknown = Extent{math.Inf(1), math.Inf(-1)}

func (x Extent) Known() bool { return x.Lo <= x.Hi }

// Or is the least extent with x and y.
func (x Extent) Or(y Extent) Extent { return Extent{min(x.Lo, y.Lo), max(x.Hi, y.Hi)} }

// Times is c·x + v for c ≠ 0.
func (x Extent) Times(c, v float64) Extent {
	if c < 0 {
		x.Lo, x.Hi = x.Hi, x.Lo
	}
	return Extent{c*x.Lo + v, c*x.Hi + v}
}
