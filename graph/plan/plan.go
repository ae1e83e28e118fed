package plan

import (
	"gorgonia.org/gorgonia"

	"github.com/facetvi/facet/graph/kernel"
)

// A Plan computes results of a graph from its inputs.
type Plan struct{ steps []step }

// A step is a kernel with the values that it reads and writes.
type step struct {
	k   kernel.Kernel
	out kernel.Matrix
	in  []kernel.Matrix
}

// Run computes the results of the inputs.
func (p *Plan) Run() {
	for i := range p.steps {
		s := &p.steps[i]
		s.k.Eval(s.out, s.in)
	}
}

// An Input is a node without operands, and where its value is at each run. If it
// has one column in the graph, the value must not change after New.
type Input struct {
	Node  *gorgonia.Node
	Value kernel.Matrix
}

// A Result is a node to compute, and where to.
type Result struct {
	Node *gorgonia.Node
	// Out has a column for each sample, or one if Sum.
	Out kernel.Matrix
	Sum bool // the sum of the value over the samples, rather than the value
}

// New makes a plan for batches of the given number of samples. It keeps the
// slices of inputs and results. The graph may be one for another number of
// samples, more than one: what has one column in it is the same for all samples.
func New(samples int, inputs []Input, results []Result) (*Plan, error) {
	p := &planner{cols: samples, nodes: map[*gorgonia.Node]*node{}, arena: arena{}}
	for _, in := range inputs {
		static := in.Value.Cols == 1 && in.Node.Shape()[1] == 1
		p.nodes[in.Node] = &node{rows: in.Value.Rows, static: static, val: in.Value}
	}
	roots := make([]*root, len(results))
	for i, r := range results {
		n, err := p.read(r.Node)
		if err != nil {
			return nil, err
		}
		n.uses++
		roots[i] = &root{n: n, Result: r}
	}
	p.fuse(roots)
	for _, r := range roots {
		if r.Sum && !r.n.static {
			r.n = p.sumOverSamples(r.n)
		}
	}
	for _, n := range p.order {
		p.tile(n)
	}
	p.prune(roots)
	return p.bind(roots), nil
}

// A root is a node whose value is a result.
type root struct {
	n *node
	Result
	direct bool // n writes the result itself
}
