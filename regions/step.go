package regions

import "slices"

// A Function is an elementary function of one number.
type Function interface {
	String() string
	Value(x float64) float64
	// Slope is f′(x), given also y = f(x).
	Slope(x, y float64) float64
	// Inverse are the x with f(x) = y, NaN in place of those that are not there; none if f is not a function that can be inverted.
	Inverse(y float64) (x [2]float64, roots int)
	// Increasing reports whether f is strictly increasing wherever it has a value, and Positive whether all its values are > 0.
	Increasing() bool
	Positive() bool
}

// A rowFunction is a Function that does rows of numbers at once.
type rowFunction interface {
	// Values writes f(x) to dst.
	Values(dst, x []float64)
	// AddSlopes adds g·f′(x) to dst, given also y = f(x).
	AddSlopes(dst, g, x, y []float64)
}

// A Limited is a Function that has values between two numbers alone. On either side it keeps the value that it has there.
type Limited interface {
	Function
	Domain() (lo, hi float64)
}

// A Step computes one number from coordinates and from the steps before it, whose positions are A, B and those of Terms.
type Step struct {
	Kind  StepKind
	A, B  int
	F     Function // of an Apply
	Const float64  // of an Affine
	Terms []Term
	Call  Several // of a Call, of steps Args
	Args  []int
}

// A Several is a function of several numbers.
type Several interface {
	String() string
	ValueOf(x []float64) float64
	// SlopeOf is the derivative by number k, given also y = f(x).
	SlopeOf(k int, x []float64, y float64) float64
	// HasFirst reports whether f increases strictly with x[0], and First is then the x[0] for which f(x) is y.
	HasFirst() bool
	First(y float64, x []float64) float64
}

// A Term is a multiple of a step.
type Term struct {
	Of   int
	Coef float64
}

// StepKind says what a step computes.
type StepKind uint8

const (
	Coordinate StepKind = iota // z_A
	Affine                     // Const + Σ Coef·step
	Apply                      // F(step A)
	Times                      // step A · step B
	Over                       // step A / step B
	Power                      // step A to the power of step B
	Call                       // Call(steps Args)
)

// operands yields the steps that x is made of.
func (x Step) operands(yield func(int) bool) {
	switch x.Kind {
	case Coordinate:
	case Affine:
		for _, t := range x.Terms {
			if !yield(t.Of) {
				return
			}
		}
	case Apply:
		yield(x.A)
	case Call:
		for _, o := range x.Args {
			if !yield(o) {
				return
			}
		}
	default:
		_ = yield(x.A) && yield(x.B)
	}
}

// moved is x with its operands at other positions.
func (x Step) moved(at []int) Step {
	switch x.Kind {
	case Affine:
		x.Terms = slices.Clone(x.Terms)
		for k := range x.Terms {
			x.Terms[k].Of = at[x.Terms[k].Of]
		}
	case Apply:
		x.A = at[x.A]
	case Call:
		x.Args = slices.Clone(x.Args)
		for k, o := range x.Args {
			x.Args[k] = at[o]
		}
	default:
		x.A, x.B = at[x.A], at[x.B]
	}
	return x
}

// isNumber reports whether x is the same everywhere.
func isNumber(x Step) bool { return x.Kind == Affine && len(x.Terms) == 0 }
