package graph

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// A function is one of the scalar functions of the language. Its value and
// derivatives are kernels; see kernel_math.go.
type function uint8

const (
	fnNone function = iota
	fnExp
	fnLog
	fnLog1p
	fnExpm1
	fnSqrt
	fnSin
	fnCos
	fnTan
	fnTanh
	fnSigmoid
	fnSoftplus
	fnSquare
	fnRecip
	fnLgamma
	fnAbs
	fnMul
	fnDiv
	fnPow
	fnMulData // a·b, and 0 where the observed value a is 0, whatever b is
)

var functionNames = [...]string{
	fnNone: "none", fnExp: "exp", fnLog: "log", fnLog1p: "log1p", fnExpm1: "expm1", fnSqrt: "sqrt", fnSin: "sin",
	fnCos: "cos", fnTan: "tan", fnTanh: "tanh", fnSigmoid: "sigmoid", fnSoftplus: "softplus", fnSquare: "square",
	fnRecip: "recip", fnLgamma: "lgamma", fnAbs: "abs", fnMul: "mul", fnDiv: "div", fnPow: "pow", fnMulData: "muldata",
}

func (f function) String() string { return functionNames[f] }

func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

// softplus is log(1 + eˣ), exact to rounding for every x.
func softplus(x float64) float64 {
	return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// unaryValue is f(x) for one number.
func unaryValue(f function, x float64) float64 {
	switch f {
	case fnExp:
		return math.Exp(x)
	case fnLog:
		return math.Log(x)
	case fnLog1p:
		return math.Log1p(x)
	case fnExpm1:
		return math.Expm1(x)
	case fnSqrt:
		return math.Sqrt(x)
	case fnSin:
		return math.Sin(x)
	case fnCos:
		return math.Cos(x)
	case fnTan:
		return math.Tan(x)
	case fnTanh:
		return math.Tanh(x)
	case fnSigmoid:
		return sigmoid(x)
	case fnSoftplus:
		return softplus(x)
	case fnSquare:
		return x * x
	case fnRecip:
		return 1 / x
	case fnLgamma:
		return lgamma(x)
	case fnAbs:
		return math.Abs(x)
	}
	panic("graph: not a unary function: " + f.String())
}

// unarySlope is f′(x), given also y = f(x). Where f is NaN, so is its slope: 1/x
// would let a fit wander on below 0, where log is none.
func unarySlope(f function, x, y float64) float64 {
	if math.IsNaN(y) {
		return y
	}
	switch f {
	case fnExp:
		return y
	case fnLog:
		return 1 / x
	case fnLog1p:
		return 1 / (1 + x)
	case fnExpm1:
		return y + 1
	case fnSqrt:
		return 0.5 / y
	case fnSin:
		return math.Cos(x)
	case fnCos:
		return -math.Sin(x)
	case fnTan:
		return 1 + y*y
	case fnTanh:
		return 1 - y*y
	case fnSigmoid:
		return y * sigmoid(-x)
	case fnSoftplus:
		return sigmoid(x)
	case fnSquare:
		return 2 * x
	case fnRecip:
		return -y * y
	case fnLgamma:
		return mathext.Digamma(x)
	case fnAbs:
		return math.Copysign(1, x)
	}
	panic("graph: not a unary function: " + f.String())
}

func binaryValue(f function, a, b float64) float64 {
	switch f {
	case fnMul:
		return a * b
	case fnDiv:
		return a / b
	case fnPow:
		return math.Pow(a, b)
	case fnMulData:
		if a == 0 {
			return 0
		}
		return a * b
	}
	panic("graph: not a binary function: " + f.String())
}

// binarySlopes returns ∂f/∂a and ∂f/∂b, given also y = f(a, b).
func binarySlopes(f function, a, b, y float64) (da, db float64) {
	switch f {
	case fnMul:
		return b, a
	case fnDiv:
		return 1 / b, -y / b
	case fnPow:
		da = b * math.Pow(a, b-1)
		if b == 0 {
			da = 0
		}
		if a == 0 && b > 0 {
			return da, 0
		}
		return da, y * math.Log(a)
	case fnMulData:
		return b, a
	}
	panic("graph: not a binary function: " + f.String())
}

// unary is f(a), simplified where the result is simpler and the same.
func (s *store) unary(f function, a nodeID) nodeID {
	n := s.nodes[a]
	if n.kind == kConst {
		return s.constant(unaryValue(f, n.v))
	}
	if n.kind == kSelect && (n.steps || f == fnLog && s.logIsSimple(n.b) && s.logIsSimple(n.c)) {
		return s.into(f, a, n.a, func() (nodeID, nodeID) { return n.b, n.c })
	}
	if n.kind == kLin && len(n.terms) == 1 && s.nodes[n.terms[0].atom].steps { // f of c·steps + v
		sel, c, v := s.nodes[n.terms[0].atom], n.terms[0].coef, s.constant(n.v)
		return s.into(f, a, sel.a, func() (nodeID, nodeID) { return s.sum(c, sel.b, 1, v), s.sum(c, sel.c, 1, v) })
	}
	switch f {
	case fnLog:
		if id, ok := s.simpleLog(a); ok {
			return id
		}
	case fnLog1p: // log(1 − sigmoid(x)) = −softplus(x)
		if n.kind == kLin && n.v == -1 { // log1p(y − 1), for y = 1 − p
			return s.unary(fnLog, s.lin(0, n.terms))
		}
		if c, inner := s.coefficient(a); c == -1 && s.isUnary(inner, fnSigmoid) {
			return s.scale(-1, s.unary(fnSoftplus, s.nodes[inner].a))
		}
	case fnSquare:
		if c, inner := s.coefficient(a); c != 1 {
			return s.scale(c*c, s.unary(fnSquare, inner))
		}
	}
	return s.intern(node{kind: kUnary, fn: f, a: a})
}

// into is f(a) for a select a on cond between sides, with f applied to each
// side. It remembers what it did: a state machine's selects share their sides,
// and have exponentially many paths.
func (s *store) into(f function, a, cond nodeID, sides func() (then, otherwise nodeID)) nodeID {
	key := applied{f, a}
	if id, ok := s.pushed[key]; ok {
		return id
	}
	then, otherwise := sides()
	id := s.sel(cond, s.unary(f, then), s.unary(f, otherwise))
	s.pushed[key] = id
	return id
}

// applied is a function of a node.
type applied struct {
	f function
	a nodeID
}

func (s *store) isUnary(id nodeID, f function) bool {
	return s.nodes[id].kind == kUnary && s.nodes[id].fn == f
}

// logIsSimple reports whether log(id) has no logarithm in it.
func (s *store) logIsSimple(id nodeID) bool {
	n := &s.nodes[id]
	switch n.kind {
	case kConst:
		return true
	case kSelect:
		if n.steps {
			return true
		}
		simple, known := s.simple[id]
		if !known {
			simple = s.logIsSimple(n.b) && s.logIsSimple(n.c)
			s.simple[id] = simple
		}
		return simple
	case kLin:
		c, inner := s.coefficient(id)
		return c > 0 && inner != id && s.logIsSimple(inner)
	}
	return s.isUnary(id, fnExp) || s.isUnary(id, fnSigmoid)
}

// simpleLog is log(a) where that needs no logarithm: of exponentials, sigmoids
// and their positive multiples. It also keeps log(1 − sigmoid) from underflow.
func (s *store) simpleLog(a nodeID) (nodeID, bool) {
	n := s.nodes[a]
	switch {
	case s.isUnary(a, fnExp):
		return n.a, true
	case s.isUnary(a, fnSigmoid):
		return s.scale(-1, s.unary(fnSoftplus, s.scale(-1, n.a))), true
	case n.kind == kLin && len(n.terms) == 1 && n.v == 0 && n.terms[0].coef > 0 && s.logIsSimple(n.terms[0].atom):
		log := s.unary(fnLog, n.terms[0].atom)
		return s.sum(1, log, 1, s.constant(math.Log(n.terms[0].coef))), true
	case n.kind == kLin && len(n.terms) == 1 && n.v == 1 && n.terms[0].coef == -1 && s.isUnary(n.terms[0].atom, fnSigmoid):
		inner := s.nodes[n.terms[0].atom].a
		return s.scale(-1, s.unary(fnSoftplus, inner)), true
	}
	return 0, false
}

// isFinite reports whether x may be the coefficient of a sum: 1/0 behind a guard
// is an operation of its own, whose derivative is 0 where it is not taken.
func isFinite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

// scales reports whether v may be multiplied into the coefficient of b.
func (s *store) scales(v float64, b nodeID) bool {
	c, _ := s.coefficient(b)
	return isFinite(c * v)
}

// mulNumber is v·b.
func (s *store) mulNumber(v float64, b nodeID) nodeID {
	if s.scales(v, b) {
		return s.scale(v, b)
	}
	return s.mul(s.constant(v), b)
}

func (s *store) mul(a, b nodeID) nodeID {
	if v, ok := s.isConst(a); ok && s.scales(v, b) {
		return s.scale(v, b)
	}
	if v, ok := s.isConst(b); ok && s.scales(v, a) {
		return s.scale(v, a)
	}
	ca, a := s.coefficient(a)
	cb, b := s.coefficient(b)
	if a == b {
		return s.scale(ca*cb, s.unary(fnSquare, a))
	}
	return s.scale(ca*cb, s.intern(node{kind: kBinary, fn: fnMul, a: min(a, b), b: max(a, b)}))
}

// mulData is data·b with 0·anything = 0, as in x·log p for a count x = 0.
func (s *store) mulData(data, b nodeID) nodeID {
	if v, ok := s.isConst(data); ok {
		return s.scale(v, b)
	}
	cb, b := s.coefficient(b)
	if v, ok := s.isConst(b); ok && !math.IsInf(v, 0) {
		return s.scale(cb*v, data)
	}
	return s.scale(cb, s.intern(node{kind: kBinary, fn: fnMulData, a: data, b: b}))
}

func (s *store) div(a, b nodeID) nodeID {
	if v, ok := s.isConst(b); ok && isFinite(1/v) {
		return s.scaleBy(rounded{v: 1}.over(s.written(v)), a)
	}
	cb, b := s.coefficient(b)
	if s.nodes[b].steps || s.isConstOne(a) {
		return s.mul(a, s.scale(1/cb, s.unary(fnRecip, b)))
	}
	ca, a := s.coefficient(a)
	return s.scale(ca/cb, s.intern(node{kind: kBinary, fn: fnDiv, a: a, b: b}))
}

func (s *store) isConstOne(id nodeID) bool {
	v, ok := s.isConst(id)
	return ok && v == 1
}

func (s *store) pow(a, b nodeID) nodeID {
	va, aConst := s.isConst(a)
	vb, bConst := s.isConst(b)
	switch {
	case aConst && bConst:
		return s.constant(math.Pow(va, vb))
	case bConst && vb == 0:
		return s.constant(1)
	case bConst && vb == 1:
		return a
	case bConst && vb == 2:
		return s.unary(fnSquare, a)
	case bConst && vb == 0.5:
		return s.unary(fnSqrt, a)
	case bConst && vb == -1:
		return s.unary(fnRecip, a)
	case aConst && va == math.E:
		return s.unary(fnExp, b)
	}
	return s.intern(node{kind: kBinary, fn: fnPow, a: a, b: b})
}
