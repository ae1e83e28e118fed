package plan

import (
	"gorgonia.org/gorgonia"

	"github.com/facetvi/facet/internal/kernel"
)

// A Plan computes results of a graph from its inputs.
type Plan struct {
	steps []step
	last  []step // those that the last result needs
	renew []step
	wide  []spread
}

// Run computes the results of the inputs.
func (p *Plan) Run() { eval(p.steps) }

// RunLast computes the last of the results alone; what the others are then has no meaning.
func (p *Plan) RunLast() { eval(p.last) }

func eval(steps []step) {
	for i := range steps {
		s := &steps[i]
		s.k.Eval(s.out, s.in)
	}
}

// Renew follows inputs that vary. It allocates nothing.
func (p *Plan) Renew() {
	eval(p.renew)
	for _, s := range p.wide {
		s.to.SetConstant(s.from.Data)
	}
}

// An Input is a node without operands, and where its value is at each run. If it
// has one column in the graph, the value must not change after New. One that varies is the same for all samples,
// too, and has one column; Renew is to be called after each change.
type Input struct {
	Node   *gorgonia.Node
	Value  kernel.Matrix
	Varies bool
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
	p := &planner{cols: samples, nodes: map[*gorgonia.Node]*node{}}
	for _, in := range inputs {
		n := &node{rows: in.Value.Rows, static: in.Value.Cols == 1 && in.Node.Shape()[1] == 1, val: in.Value}
		if in.Varies {
			n = &node{rows: in.Value.Rows, column: in.Value}
		}
		p.nodes[in.Node] = n
	}
	roots := make([]*root, len(results))
	for i, r := range results {
		n, err := p.read(r.Node)
		if err != nil {
			return nil, err
		}
		n.uses++
		p.widen(n)
		roots[i] = &root{n: n, out: r.Out, sum: r.Sum}
	}
	p.fuse(roots)
	for _, r := range roots {
		if r.sum && !r.n.static {
			r.n = p.sumOverSamples(r.n)
		}
	}
	p.prune(roots)
	pl := &Plan{renew: p.renew, wide: p.wide}
	pl.steps, pl.last = p.bind(roots)
	pl.Renew()
	return pl, nil
}
