package plan

import (
	"fmt"
	"math"
	"slices"

	"gorgonia.org/gorgonia"

	"github.com/facetvi/facet/internal/kernel"
)

// A node is a node of the graph on its way to a step.
type node struct {
	k    kernel.Kernel // nil for inputs, views and static nodes
	in   []*node
	rows int
	uses int // by operands and results
	// static says that the value is the same in each run and for all samples:
	// val has it then, in one column.
	static bool
	// column is the value of a node that is the same for all samples and of inputs that may
	// vary from run to run: it is computed by Plan.Renew, which spreads it to val, if there is
	// one that reads it there.
	column kernel.Matrix
	// A view is rows first … first+rows−1 of another node.
	viewed *node
	first  int

	val   kernel.Matrix
	last  int  // number of the last node that reads the value
	owned bool // val is part of the arena, until the value is dead
}

// inner reports whether n is computed in each run for one user alone.
func (n *node) inner() bool { return n.uses == 1 && !n.static }

// A step is a kernel with the values that it reads and writes.
type step struct {
	k   kernel.Kernel
	out kernel.Matrix
	in  []kernel.Matrix
}

// A spread is a column and where it goes, in each column.
type spread struct{ to, from kernel.Matrix }

// A root is a node whose value is a result.
type root struct {
	n      *node
	out    kernel.Matrix
	sum    bool // over the samples
	direct bool // n writes the result itself
}

// A planner turns the nodes of a graph into steps.
type planner struct {
	cols  int
	nodes map[*gorgonia.Node]*node
	order []*node  // those that are computed in each run, operands first
	renew []step   // make columns
	wide  []spread // of columns
}

// read adds g and what it needs.
func (p *planner) read(g *gorgonia.Node) (*node, error) {
	if n, ok := p.nodes[g]; ok {
		return n, nil
	}
	n, err := p.readNew(g)
	p.nodes[g] = n
	return n, err
}

func (p *planner) readNew(g *gorgonia.Node) (*node, error) {
	operands := kernel.Operands(g)
	if len(operands) == 0 {
		v, ok := g.Value().Data().(float64)
		if !ok {
			return nil, fmt.Errorf("plan: input %v has no value", g)
		}
		return &node{rows: 1, static: true, val: kernel.Column([]float64{v})}, nil
	}
	k, err := kernel.Of(g)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if _, ok := k.(kernel.Fill); ok { // of the second operand only the shape counts
		operands = operands[:1]
	}
	n := &node{k: k, rows: 1, static: true}
	same := true // for all samples
	if shape := g.Shape(); len(shape) == 2 {
		n.rows = shape[0]
	}
	for _, o := range operands {
		x, err := p.read(o)
		if err != nil {
			return nil, err
		}
		x.uses++
		n.in = append(n.in, x)
		n.static = n.static && x.static
		same = same && (x.static || x.varies())
	}
	switch {
	case n.static:
		n.evaluate()
	case same:
		p.column(n)
	default:
		for _, x := range n.in {
			p.widen(x)
		}
		p.order = append(p.order, n)
	}
	return n, nil
}

// varies reports whether n has a column.
func (n *node) varies() bool { return n.column.Data != nil }

// column makes n a node that is computed by Plan.Renew.
func (p *planner) column(n *node) {
	s := step{k: n.k, out: kernel.NewMatrix(n.rows, 1)}
	for _, x := range n.in {
		if x.static {
			s.in = append(s.in, x.val)
		} else {
			s.in = append(s.in, x.column)
		}
	}
	p.renew = append(p.renew, s)
	n.column, n.k, n.in = s.out, nil, nil
}

// widen gives a node with a column a value for each sample.
func (p *planner) widen(n *node) {
	if n.varies() && n.val.Data == nil {
		n.val = kernel.NewMatrix(n.rows, p.cols)
		p.wide = append(p.wide, spread{n.val, n.column})
	}
}

// evaluate computes a static node, which needs its operands no more.
func (n *node) evaluate() {
	in := make([]kernel.Matrix, len(n.in))
	for j, x := range n.in {
		in[j] = x.val
	}
	n.val = kernel.NewMatrix(n.rows, 1)
	n.k.Eval(n.val, in)
	n.k, n.in = nil, nil
}

func allFinite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsInf(x, 0) || math.IsNaN(x) })
}
