package programs

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// A Program is a random model as a syntax tree, which is read in two ways: by Model, in
// the language under test, and by Run, a scalar interpreter that shares no code with it.
type Program struct {
	params  []variable
	body    []stmt
	vars    int // variables that statements define
	vectors int // of what plates collect
	dim     int
}

// Dim is the number of coordinates: parameters, then latents.
func (p *Program) Dim() int { return p.dim }

// Params is the number of parameters.
func (p *Program) Params() int { return len(p.params) }

// Plates is the number of plates.
func (p *Program) Plates() int { return countPlates(p.body) }

func countPlates(list []stmt) (n int) {
	for _, s := range list {
		if s.op == "plate" {
			n++
		}
		n += countPlates(s.then) + countPlates(s.othw)
	}
	return n
}

// A Law is a distribution that programs can have: how the language makes it, and its log
// density from a source that shares no code with it.
type Law struct {
	Make    func(p []graph.Expr) graph.Dist
	LogProb func(x float64, p []float64) float64
	Kinds   string // of the parameters: r real, p positive, u in (0, 1), c constant
	Space   Space
	Params  []float64 // constants to try
	Xs      []float64 // values to observe
}

// A Space is where a distribution lives.
type Space int

const (
	Discrete Space = iota
	Line
	Half
	Unit
	Interval
	Cut // an interval, by a normal distribution function
)

// A variable is a latent or a parameter.
type variable struct {
	space  Space
	lo, hi float64 // of an interval
	start  float64 // of a parameter
	// first and last are the values of a discrete one.
	first, last int
}

// value is the value at coordinate u, and logJac the logarithm of its slope.
func (v variable) value(u float64) (x, logJac float64) {
	switch v.space {
	case Half:
		return math.Exp(u), u
	case Unit:
		return sigmoid(u), -softplus(-u) - softplus(u)
	case Cut:
		return v.lo + (v.hi-v.lo)*distuv.UnitNormal.CDF(u), math.Log(v.hi-v.lo) + distuv.UnitNormal.LogProb(u)
	case Interval:
		return v.lo + (v.hi-v.lo)*sigmoid(u), math.Log(v.hi-v.lo) - softplus(-u) - softplus(u)
	}
	return u, 0
}

// An expr is a number, a column of data, one of what a plate has collected, a variable,
// a choice, or an operation.
type expr struct {
	op   string // const, column, index, var, if, or one of operations
	v    float64
	xs   []float64 // of a column
	at   []int     // of an index
	i    int       // which variable or vector
	deep int       // of a column or index: its plate, 0 for the outer one
	kids []expr
	g    *guard

	value func(a ...float64) float64 // of an operation that decides nothing
}

func number(v float64) expr { return expr{op: "const", v: v} }

func apply(op string, kids ...expr) expr {
	return expr{op: op, kids: kids, value: operations[op].value}
}

// A guard compares, or is made of guards.
type guard struct {
	op   string // greater, less, equal, not, and, or
	a, b expr
	kids []guard
}

// A stmt is a statement.
type stmt struct {
	// op is sample, observe, factor, let, record, name, require, if, plate, collect, or one of
	// vectors.go: several, dirichlet, multivariate, ordered, observevector, hmm.
	op         string
	name       string
	law        Law
	variable   variable // of a sample
	e          []expr   // parameters of the law, or the value
	xs         []float64
	i          int // the variable or vector that is defined
	g          guard
	then, othw []stmt
	n          int  // rows of a plate, components of a vector, steps of a chain
	lags       int  // of a chain
	varying    bool // a chain's transition
}

// Without is a copy of the program in which the observations are missing, NaN, for which missing says so. The first
// component of a vector is only with all others.
func (p *Program) Without(missing func() bool) *Program {
	q := *p
	q.body = without(p.body, missing)
	return &q
}

func without(list []stmt, missing func() bool) []stmt {
	list = slices.Clone(list)
	for k := range list {
		s := &list[k]
		s.then, s.othw = without(s.then, missing), without(s.othw, missing)
		if s.op != "observe" && s.op != "observevector" && s.op != "hmm" {
			continue
		}
		s.xs = slices.Clone(s.xs)
		for i := len(s.xs) - 1; i >= 0; i-- {
			if missing() && (s.op != "observevector" || i%s.n == s.n-1 || math.IsNaN(s.xs[i+1])) {
				s.xs[i] = math.NaN()
			}
		}
	}
	return list
}

// Kind is the statement that makes the observation of that name, and in what; empty if there is none.
func (p *Program) Kind(name string) string { return kindOf(p.body, name, "") }

func kindOf(list []stmt, name, in string) string {
	for _, s := range list {
		if s.name == name && (s.op == "observe" || s.op == "observevector" || s.op == "hmm") {
			return in + s.op
		}
		for _, inner := range [][]stmt{s.then, s.othw} {
			if kind := kindOf(inner, name, s.op+" "); kind != "" {
				return kind
			}
		}
	}
	return ""
}

// emission is which of two emissions the states now and before have.
func emission(states []int) int {
	if len(states) == 1 {
		return states[0]
	}
	return states[0] ^ states[1]
}

// swapped reports whether the rows of the transition to step t are the other way round.
func (s *stmt) swapped(t int) bool { return s.varying && t%2 != 0 }
