package regions

import (
	"fmt"
	"slices"
	"sync"
)

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

// A Curve is Φ of a guard that is not affine, as a list of steps of which the last is Φ. It knows which coordinates Φ = 0 can be solved
// for: given all others there is one root or none, or, of squares, two.
type Curve struct {
	steps   []Step
	latents []int     // ascending
	leaf    []int     // the steps that are their coordinates
	pivots  []pivot   // by latent
	uses    [][]bool  // by latent: the steps that depend on it
	signs   []signSet // of the values of steps
	back    backward
	pool    sync.Pool // of *CurveBatch
}

// NewCurve returns the curve of the steps, which it keeps. It panics if a step refers to one that is not before it.
func NewCurve(steps []Step) *Curve {
	c := &Curve{steps: steps, signs: make([]signSet, len(steps))}
	at := map[int]int{}
	for s, x := range steps {
		for o := range x.operands {
			if o < 0 || o >= s {
				panic(fmt.Sprintf("regions: step %d refers to step %d", s, o))
			}
		}
		if x.Kind == Coordinate {
			if _, known := at[x.A]; known {
				panic(fmt.Sprintf("regions: coordinate %d is two steps", x.A))
			}
			at[x.A] = s
			c.latents = append(c.latents, x.A)
		}
		c.signs[s] = c.signOf(x)
	}
	slices.Sort(c.latents)
	for _, i := range c.latents {
		c.leaf = append(c.leaf, at[i])
		c.uses = append(c.uses, c.dependents(at[i]))
	}
	for k := range c.latents {
		c.pivots = append(c.pivots, c.newPivot(k))
	}
	c.back = c.newBackward()
	return c
}

// Renumbered is the curve with coordinate number[i] in place of i. The order of those that Φ
// uses must stay.
func (c *Curve) Renumbered(number []int) *Curve {
	steps := slices.Clone(c.steps)
	for s, x := range steps {
		if x.Kind == Coordinate {
			steps[s].A = number[x.A]
		}
	}
	return NewCurve(steps)
}

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

// dependents are the steps that depend on the given one.
func (c *Curve) dependents(of int) []bool {
	on := make([]bool, len(c.steps))
	on[of] = true
	for s, x := range c.steps {
		for o := range x.operands {
			on[s] = on[s] || on[o]
		}
	}
	return on
}

// Latents are the coordinates that Φ uses, ascending.
func (c *Curve) Latents() []int { return c.latents }

// Pivots are the positions in Latents of those that Φ = 0 can be solved for.
func (c *Curve) Pivots() (list []int) {
	for k := range c.pivots {
		if c.pivots[k].wrong == "" {
			list = append(list, k)
		}
	}
	return list
}

// WhyNot says why Φ = 0 cannot be solved for latent k of Latents; "" if it can.
func (c *Curve) WhyNot(k int) string { return c.pivots[k].wrong }

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
