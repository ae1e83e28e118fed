package programs

import (
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/graph"
)

// Model is the program in the language.
func (p *Program) Model() *graph.Model { return p.write(false, nil) }

// Loops is the program with loops in place of plates. If made is not nil it is told of each
// expression.
func (p *Program) Loops(made func(m *graph.Model, x graph.Expr)) *graph.Model {
	return p.write(true, made)
}

// Bare is the program with loops that do not observe what is missing, but for steps of chains.
func (p *Program) Bare() *graph.Model { return p.writeBy(writer{loops: true, bare: true}) }

func (p *Program) write(loops bool, made func(m *graph.Model, x graph.Expr)) *graph.Model {
	return p.writeBy(writer{loops: loops, made: made})
}

func (p *Program) writeBy(w writer) *graph.Model {
	w.m, w.vars, w.vectors = graph.NewModel(), make([]graph.Expr, p.vars), make([][]graph.Expr, p.vectors)
	for i, v := range p.params {
		var options []graph.ParamOption
		switch v.space {
		case Half:
			options = append(options, graph.Positive())
		case Unit, Interval:
			options = append(options, graph.Between(v.lo, v.hi))
		default:
			options = append(options, graph.Scale(0.7))
		}
		w.vars[i] = w.m.Param(fmt.Sprint("p", i), v.start, options...)
	}
	w.block(p.body)
	return w.m
}

// A writer writes a program.
type writer struct {
	m       *graph.Model
	loops   bool
	bare    bool // without what is missing
	made    func(m *graph.Model, x graph.Expr)
	plates  []*graph.Plate // open ones
	n, row  []int          // of open loops
	vars    []graph.Expr
	vectors [][]graph.Expr
}

// body is what statements are added to: the plate that is open, or the model.
func (w *writer) body() interface {
	Sample(name string, prior graph.Dist) graph.Expr
	Factor(logp any)
	Deterministic(name string, v any) graph.Expr
	Name(name string, g graph.Guard) graph.Guard
	If(g graph.Guard, then, otherwise func())
	Plate(n int, body func(p *graph.Plate))
} {
	if len(w.plates) > 0 {
		return w.plates[len(w.plates)-1]
	}
	return w.m
}

// at is the number of the row of the loop at a depth, among those of all outer rows; 0 of none.
func at(n, row []int, deep int) (k int) {
	for d := range deep + 1 {
		k = k*n[d] + row[d]
	}
	return k
}

func (w *writer) block(list []stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *writer) stmt(s stmt) {
	b := w.body()
	switch s.op {
	case "sample":
		w.vars[s.i] = b.Sample(s.name+subscript(w.row), s.law.Make(w.params(s)))
	case "observe":
		if d := s.law.Make(w.params(s)); len(w.plates) > 0 {
			w.plates[len(w.plates)-1].Observe(s.name, d, s.xs)
		} else if x := s.xs[at(w.n, w.row, len(w.row)-1)]; !w.bare || !math.IsNaN(x) {
			w.m.Observe(s.name, d, x)
		}
	case "factor":
		b.Factor(w.expr(s.e[0]))
	case "let":
		w.vars[s.i] = w.expr(s.e[0])
	case "record":
		b.Deterministic(s.name, w.expr(s.e[0]))
	case "name":
		b.Name(s.name, w.guard(s.g))
	case "require":
		w.m.Require(w.guard(s.g))
	case "if":
		othw := func() { w.block(s.othw) }
		if s.othw == nil {
			othw = nil
		}
		b.If(w.guard(s.g), func() { w.block(s.then) }, othw)
	case "collect":
		if x := w.expr(s.e[0]); len(w.plates) > 0 {
			w.plates[len(w.plates)-1].Collect(&w.vectors[s.i], x)
		} else {
			w.vectors[s.i] = append(w.vectors[s.i], x)
		}
	case "plate":
		w.plate(s)
	case "hmm":
		w.chain(s)
	default:
		w.vector(s)
	}
}

// subscript is what the names of latents in a loop end in.
func subscript(row []int) string {
	if len(row) == 0 {
		return ""
	}
	s := fmt.Sprint("[", row[0])
	for _, k := range row[1:] {
		s += fmt.Sprint(",", k)
	}
	return s + "]"
}

func (w *writer) plate(s stmt) {
	if w.loops {
		for row := range s.n {
			w.n, w.row = append(w.n, s.n), append(w.row, row)
			w.block(s.then)
			w.n, w.row = w.n[:len(w.n)-1], w.row[:len(w.row)-1]
		}
		return
	}
	w.body().Plate(s.n, func(p *graph.Plate) {
		w.plates = append(w.plates, p)
		w.block(s.then)
		w.plates = w.plates[:len(w.plates)-1]
	})
}

func (w *writer) params(s stmt) []graph.Expr {
	list := make([]graph.Expr, len(s.e))
	for i, e := range s.e {
		switch x := w.expr(e); s.law.Kinds[i] {
		case 'r':
			list[i] = graph.Mul(2, graph.Tanh(x))
		case 'p':
			list[i] = graph.Exp(graph.Tanh(x))
		case 'u':
			list[i] = graph.Sigmoid(graph.Tanh(x))
		default:
			list[i] = x
		}
	}
	return list
}

func (w *writer) guard(g guard) graph.Guard {
	var kids []graph.Guard
	for _, k := range g.kids {
		kids = append(kids, w.guard(k))
	}
	switch g.op {
	case "not":
		return graph.Not(kids[0])
	case "and":
		return graph.And(kids...)
	case "or":
		return graph.Or(kids...)
	case "equal":
		return graph.Equal(w.expr(g.a), w.expr(g.b))
	case "less":
		return graph.Less(w.expr(g.a), w.expr(g.b))
	}
	return graph.Greater(w.expr(g.a), w.expr(g.b))
}

func (w *writer) expr(e expr) graph.Expr {
	x := w.anyExpr(e)
	if w.made != nil {
		w.made(w.m, x)
	}
	return x
}

func (w *writer) anyExpr(e expr) graph.Expr {
	switch e.op {
	case "const":
		return graph.Add(e.v, 0)
	case "column":
		if w.loops {
			return graph.Add(e.xs[at(w.n, w.row, e.deep)], 0)
		}
		return w.plates[e.deep].Data(e.xs)
	case "index":
		if w.loops {
			return w.vectors[e.i][e.at[at(w.n, w.row, e.deep)]]
		}
		return w.plates[e.deep].Index(w.vectors[e.i], e.at)
	case "var":
		return w.vars[e.i]
	}
	var g graph.Guard
	if e.g != nil {
		g = w.guard(*e.g)
	}
	kids := make([]graph.Expr, len(e.kids))
	for i, k := range e.kids {
		kids[i] = w.expr(k)
	}
	if e.op == "if" {
		return graph.If(g, kids[0], kids[1])
	}
	return operations[e.op].build(kids...)
}

// normal is the distribution of vectors with parameters as normalKinds.
func normal(p []graph.Expr) graph.VectorDist {
	return graph.MultivariateNormal(p[:2], [][]graph.Expr{{p[2]}, {p[3], p[4]}})
}

// vector writes a vector.
func (w *writer) vector(s stmt) {
	p := w.params(s)
	var x []graph.Expr
	switch s.op {
	case "several":
		x = w.m.SampleN(s.name, s.n, s.law.Make(p))
	case "dirichlet":
		x = w.m.SampleVector(s.name, graph.Dirichlet(p...))
	case "multivariate":
		x = w.m.SampleVector(s.name, normal(p))
	case "ordered":
		x = w.m.SampleVector(s.name, graph.Ordered(s.n, s.law.Make(p)))
	case "observevector":
		rows := slices.Collect(slices.Chunk(s.xs, s.n))
		if len(w.plates) > 0 {
			w.plates[len(w.plates)-1].ObserveVector(s.name, normal(p), rows)
		} else {
			w.observeVector(s.name, p, rows[at(w.n, w.row, len(w.row)-1)])
		}
	}
	copy(w.vars[s.i:], x)
}

func (w *writer) observeVector(name string, p []graph.Expr, x []float64) {
	switch {
	case !w.bare || !math.IsNaN(x[1]):
		w.m.ObserveVector(name, normal(p), x)
	case !math.IsNaN(x[0]):
		w.m.Observe(name, graph.Normal(p[0], p[2]), x[0])
	}
}

// chain writes a hidden chain.
func (w *writer) chain(s stmt) {
	p := w.params(s)
	first, stay, rest := p[0], p[1:3], p[3:]
	rows := func(t int) [][]graph.Expr {
		m := [][]graph.Expr{{stay[0], graph.Sub(1, stay[0])}, {graph.Sub(1, stay[1]), stay[1]}}
		if s.swapped(t) {
			slices.Reverse(m)
		}
		return m
	}
	h := graph.HMM{Initial: []graph.Expr{first, graph.Sub(1, first)}, Transition: rows(0), Lags: s.lags}
	if s.varying {
		h.TransitionAt = rows
	}
	h.Emission = func(_ int, states []int) graph.Dist {
		k := emission(states)
		return s.law.Make(rest[k*len(rest)/2 : (k+1)*len(rest)/2])
	}
	w.m.ObserveHMM(s.name, h, s.xs).Deterministic(s.name+" state", 1)
}
