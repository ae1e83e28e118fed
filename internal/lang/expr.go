package lang

import (
	"fmt"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
)

// An Expr is a scalar value of a program: a node, or a plain number, which belongs to no program. The zero Expr is the number 0.
type Expr struct {
	m  Program
	id ir.ID
	v  float64 // the value where m is nil

	err  float64    // of v, by the operations that made it; see rounded
	from *ir.Column // of v, if it is a number by row of a block
}

// A Program is what expressions belong to.
type Program interface {
	Store() *ir.Store
	// Observed is the value of observation i, with its column.
	Observed(i int) ir.Rounded
	// Guards knows what branches make of expressions, and how these are written.
	Guards() *compare.Maker
	// Tracer is what functions of values are added to, if they are of a plate or one is open; or else nil.
	Tracer() Tracer
	// Traced reports whether the values are those of a plate.
	Traced() bool
	// Fail keeps the first error, and NotFinite one about the number v, which is not finite.
	Fail(format string, args ...any)
	NotFinite(v float64)
}

// A Tracer records the functions in the body of a plate, to call them in each row.
type Tracer interface {
	// Function adds f, which is a function of operands and does nothing else, and returns what stands for its value.
	Function(f func() Expr, operands ...Expr) Expr
	// ValueOf is x in the current row.
	ValueOf(x Expr) Expr
}

// tracer is that of values of m; nil if m is, too.
func tracer(m Program) Tracer {
	if m == nil {
		return nil
	}
	return m.Tracer()
}

// Value is what functions of the language take: expressions and plain numbers.
type Value interface{ Expr | float64 | int }

// Number is a plain number.
func Number(v float64) Expr { return Expr{v: v} }

// Numbers are plain numbers.
func Numbers(p []float64) []Expr {
	list := make([]Expr, len(p))
	for i, v := range p {
		list[i].v = v
	}
	return list
}

// InRow is a number in the row of a plate; its column is nil if the row is not made as one of a block.
func InRow(v float64, from *ir.Column) Expr { return Expr{v: v, from: from} }

// Node is a node of a program.
func Node(m Program, id ir.ID) Expr { return Expr{m: m, id: id} }

// Of is the program that x belongs to; nil for a number.
func Of(x Expr) Program { return x.m }

// ID is the node of x; meaningless for a number.
func ID(x Expr) ir.ID { return x.id }

// Plain is the plain number x; 0 for a node.
func Plain(x Expr) float64 { return x.v }

// Column is the number x in the rows of a block; nil if it is the same in all.
func Column(x Expr) *ir.Column { return x.from }

// WithoutColumn is the number x, of which the column is forgotten.
func WithoutColumn(x Expr) Expr {
	x.from = nil
	return x
}

// Traced reports whether x is a value of a plate.
func Traced(x Expr) bool { return x.m != nil && x.m.Traced() }

// Lift is v as an expression.
func Lift[V Value](v V) Expr {
	x, _ := ToExpr(v)
	return x
}

// ToExpr is v as an expression, if it is a Value.
func ToExpr(v any) (x Expr, ok bool) {
	switch v := v.(type) {
	case Expr:
		return v, true
	case float64:
		return Expr{v: v}, true
	case int:
		return Expr{v: float64(v)}, true
	}
	return Expr{}, false
}

// In is the node of x in program m.
func In(x Expr, m Program) ir.ID {
	switch x.m {
	case nil:
		v := x.rounded().Raw()
		if !ir.IsFinite(v) {
			m.NotFinite(v)
		}
		return m.Store().Node(ir.Combination{V: ir.Rounded{V: v, Err: x.err}})
	case m:
		return x.id
	}
	m.Fail("%s", Foreign(x))
	return m.Store().Constant(0)
}

// Foreign says what is wrong about using x, of another program.
func Foreign(x Expr) string {
	if Traced(x) {
		return "a value of a plate is used outside its body; Plate.Collect gives its rows"
	}
	return "a value of another model is used here"
}

// String writes x with the names of its latents, shortened where it is long.
func (x Expr) String() string {
	switch {
	case x.m == nil:
		return fmt.Sprint(x.v)
	case x.m.Traced():
		return "a value of a plate"
	}
	return x.m.Guards().Format(x.id, 4)
}

// IsConst reports whether x is a plain number, and which.
func (x Expr) IsConst() (float64, bool) {
	if x.m == nil {
		return x.rounded().Raw(), true
	}
	return x.m.Store().IsConst(x.id)
}

// constValue is the value of a constant expression.
func (x Expr) constValue() float64 {
	v, _ := x.IsConst()
	return v
}

// Owner is the program that xs belong to: that of a plate's body before the model
// outside. It is nil for numbers.
func Owner(xs ...Expr) (m Program) {
	for _, x := range xs {
		if x.m != nil && (m == nil || x.m.Traced()) {
			m = x.m
		}
	}
	return m
}

// squares reports whether x is a number, or v + c·steps of one sign, whose square
// is known and far from what a float64 cannot hold.
func (x Expr) squares() bool {
	if x.m == nil {
		return x.rounded().Is(ir.Squares)
	}
	s := x.m.Store()
	v, terms := s.Parts(x.id)
	switch {
	case len(terms) == 0:
		return ir.Squares(v)
	case len(terms) > 1 || !s.Like(terms[0].Atom).Steps:
		return false
	}
	r := s.ExtremesOf(terms[0].Atom)
	lo, hi := v+terms[0].Coef*r.Lo, v+terms[0].Coef*r.Hi
	return ir.Squares(lo) && ir.Squares(hi) && lo*hi > 0
}

// rounded is the number x with its error and column.
func (x Expr) rounded() ir.Rounded { return ir.Rounded{V: x.v, Err: x.err, From: x.from} }

// Computed is f of the numbers x and y.
func Computed(f func(a, b float64) float64, x, y Expr) Expr {
	out := ir.Computed(f, x.rounded(), y.rounded())
	return Expr{v: out.V, err: out.Err, from: out.From}
}
