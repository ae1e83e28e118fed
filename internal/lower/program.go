package lower

import (
	"errors"
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/plan"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// A Program is a compiled batch of scalar expressions with the gradient of a
// density: the density itself, or the outputs of a Builder. It is immutable and safe for
// concurrent use.
type Program struct {
	Store *ir.Store
	Outs  []ir.Output
	Of    *ir.Output // the density whose gradient is computed
	Sizes Sizes
	Batch *batch
	g     *Graph // for nominalCols samples, for plans
}

// nominalCols is the number of samples of the graph that plans are made from.
// More than one, so that its shapes tell static matrices from others.
const nominalCols = 2

// NewProgram compiles the outputs outs and the gradient of the density of.
func NewProgram(st *ir.Store, outs []ir.Output, of *ir.Output, sz Sizes) (*Program, error) {
	b := newBatch(st, append(slices.Clone(outs), *of), sz)
	b.arrange()
	g, err := emit(b, outs, of, sz, nominalCols)
	if err != nil {
		return nil, err
	}
	return &Program{Store: st, Outs: outs, Of: of, Sizes: sz, Batch: b, g: g}, nil
}

// Graph returns the Gorgonia graph for n samples, built anew: the caller may
// extend it and run it on any machine of Gorgonia's. Feed Data with the
// observations in the order of the Observe calls; the graph's other constants
// have values.
func (p *Program) Graph(n int) (*Graph, error) {
	p.Store.Mu.Lock()
	defer p.Store.Mu.Unlock()
	g, err := emit(p.Batch, p.Outs, p.Of, p.Sizes, n)
	if err != nil {
		return nil, err
	}
	return g, let(g.consts)
}

// let gives nodes of a graph copies of their values.
func let(inputs []plan.Input) error {
	for _, in := range inputs {
		v := tensor.New(tensor.WithShape(in.Value.Rows, in.Value.Cols), tensor.WithBacking(slices.Clone(in.Value.Data)))
		if err := gorgonia.Let(in.Node, v); err != nil {
			return fmt.Errorf("graph: %w", err)
		}
	}
	return nil
}

// Nodes is the number of nodes of the program's graph.
func (p *Program) Nodes() int { return len(p.g.G.AllNodes()) }

// An Executor runs a program on batches of N samples. Fill the inputs, call
// Run, read the results; all are matrices with a row for each coordinate and N
// contiguous samples in a row. An Executor is not safe for concurrent use.
type Executor struct {
	N int
	// Inputs. Z holds the unconstrained latents, Signs 1 where a guard's
	// hyperplane is positive and 0 elsewhere, which with Compute.Region are one column, and Force's to fill;
	// Points and PointSigns are the inputs of a Builder.
	Z, Signs, Points, PointSigns []float64
	// Out holds the program's outputs (of a density log r, one row) and Grad the
	// gradient of log r, latents × N; each nil if it was not asked for.
	Out, Grad []float64
	// OutSum holds the sums of Out over the samples, if they were asked for.
	OutSum []float64

	run   func() error
	grad  func() error // Grad alone
	renew func(data []float64)
	of    *ir.Store // of the program, if there is renew

	enter  func()        // a region, with Compute.Region
	region regions.Signs // where it is, once it has entered one
}

// Run computes the results of the inputs. It returns an error only on the
// TapeMachine.
func (x *Executor) Run() error { return x.run() }

// RunGrad is a Run that makes Grad alone, which must have been asked for: what Out and OutSum are then has no meaning.
func (x *Executor) RunGrad() error { return x.grad() }

// Spread makes all samples z.
func (x *Executor) Spread(z []float64) {
	for i, v := range z {
		vec.Fill(x.Z[i*x.N:][:x.N], v)
	}
}

// Force gives all samples the signs of region s, wherever they are.
func (x *Executor) Force(s regions.Signs) {
	if x.enter != nil {
		if s != x.region {
			s.Floats(x.Signs)
			x.region = s
			x.enter()
		}
		return
	}
	for l := range s.Len() {
		vec.Fill(x.Signs[l*x.N:][:x.N], ir.Indicator(s.Positive(l)))
	}
}

// Point is a copy of sample k.
func (x *Executor) Point(k int) []float64 {
	z := make([]float64, len(x.Z)/x.N)
	for i := range z {
		z[i] = x.Z[i*x.N+k]
	}
	return z
}

// Feed lets x, made with Compute.NewData, run with other data of the program with the nodes of st. It allocates nothing.
func (x *Executor) Feed(data []float64, st *ir.Store) error {
	switch {
	case x.renew == nil:
		return errors.New("graph: Feed of an executor without Compute.NewData")
	case x.of != st:
		return errors.New("graph: the data are of another program")
	}
	x.renew(data)
	return nil
}

// Compute says what an Executor computes, and how.
type Compute struct {
	Out, OutSum, Grad bool
	// Tape runs the graph on Gorgonia's TapeMachine instead of the plan: an
	// oracle for tests, a hundred times slower.
	Tape bool
	// NewData lets Density.Feed change the observations, at some cost in speed: what depends on
	// them alone is computed by Feed, and not folded into other constants.
	NewData bool
	// Region has all samples in one region: what depends on signs alone is computed when [Executor.Force] changes it, and not in each run.
	Region bool
}

func (p *Program) Executor(n int, w Compute, data []float64) (*Executor, error) {
	if err := p.Sizes.check("a batch of", n, len(p.Outs)); err != nil {
		return nil, err
	}
	columns := n // of signs
	if w.Region {
		columns = 1
	}
	x := &Executor{
		N: n, Z: make([]float64, p.Sizes.Latents*n), Signs: make([]float64, p.Sizes.Signs*columns),
		Points: make([]float64, p.Sizes.Points*n), PointSigns: make([]float64, p.Sizes.PointSigns*n),
	}
	if w.Out {
		x.Out = make([]float64, len(p.Outs)*n)
	}
	if w.OutSum {
		x.OutSum = make([]float64, len(p.Outs))
	}
	if w.Grad {
		x.Grad = make([]float64, p.Sizes.Latents*n)
	}
	switch {
	case w.Tape && (w.NewData || w.Region):
		return nil, errors.New("graph: NewData or Region of a Tape")
	case w.NewData && w.Region:
		return nil, errors.New("graph: NewData of a Region")
	case w.Tape:
		return x, p.bindTape(x, data)
	}
	return x, p.bindPlan(x, data, w)
}

// bindPlan runs the program's graph by a plan.
func (p *Program) bindPlan(x *Executor, data []float64, w Compute) error {
	p.Store.Mu.Lock() // Gorgonia's nodes cache what they are asked for
	defer p.Store.Mu.Unlock()
	outs, latents := len(p.Outs), p.Sizes.Latents
	var results []plan.Result
	if x.Out != nil {
		results = append(results, plan.Result{Node: p.g.Out, Out: kernel.Matrix{Data: x.Out, Rows: outs, Cols: x.N}})
	}
	if x.OutSum != nil {
		results = append(results, plan.Result{Node: p.g.Out, Out: kernel.Column(x.OutSum), Sum: true})
	}
	if x.Grad != nil && p.g.Grad != nil {
		results = append(results, plan.Result{Node: p.g.Grad, Out: kernel.Matrix{Data: x.Grad, Rows: latents, Cols: x.N}})
	}
	if w.NewData {
		data = slices.Clone(data)
	}
	inputs := p.g.inputs(x, data)
	for i := range inputs {
		switch in := &inputs[i]; {
		case w.NewData && in.Node == p.g.Data:
			in.Varies = true
		case w.Region && in.Node == p.g.Signs:
			in.Value, in.Varies = kernel.Column(x.Signs), true
		}
	}
	pl, err := plan.New(x.N, append(inputs, p.g.consts...), results)
	if err != nil {
		return fmt.Errorf("graph: %w", err)
	}
	x.run = func() error { pl.Run(); return nil }
	x.grad = func() error { pl.RunLast(); return nil } // which Grad is
	if w.Region {
		x.enter = pl.Renew
	}
	if w.NewData {
		x.of, x.renew = p.Store, func(next []float64) {
			copy(data, next)
			pl.Renew()
		}
	}
	return nil
}

// inputs pairs the graph's inputs with the executor's slices.
func (g *Graph) inputs(x *Executor, data []float64) []plan.Input {
	var list []plan.Input
	add := func(n *gorgonia.Node, v []float64, cols int) {
		if n != nil {
			list = append(list, plan.Input{Node: n, Value: kernel.Matrix{Data: v, Rows: len(v) / cols, Cols: cols}})
		}
	}
	add(g.Z, x.Z, x.N)
	add(g.Signs, x.Signs, x.N)
	add(g.Data, data, 1)
	add(g.Points, x.Points, x.N)
	add(g.PointSigns, x.PointSigns, x.N)
	return list
}

// bindTape runs the program's graph on a TapeMachine.
func (p *Program) bindTape(x *Executor, data []float64) error {
	g, err := p.Graph(x.N)
	if err != nil {
		return err
	}
	inputs := g.inputs(x, data)
	var out, grad gorgonia.Value
	if x.Out != nil || x.OutSum != nil {
		gorgonia.Read(g.Out, &out)
	}
	if x.Grad != nil && g.Grad != nil {
		gorgonia.Read(g.Grad, &grad)
	}
	machine := gorgonia.NewTapeMachine(g.G)
	x.run = func() error {
		if err := let(inputs); err != nil {
			return err
		}
		machine.Reset()
		if err := machine.RunAll(); err != nil {
			return fmt.Errorf("graph: TapeMachine: %w", err)
		}
		if out != nil {
			m, err := kernel.MatrixOf(out, len(p.Outs), x.N)
			if err != nil {
				return err
			}
			copy(x.Out, m.Data)
			for r := range x.OutSum {
				x.OutSum[r] = vec.Sum(m.Row(r))
			}
		}
		if grad != nil {
			m, err := kernel.MatrixOf(grad, p.Sizes.Latents, x.N)
			copy(x.Grad, m.Data)
			return err
		}
		return nil
	}
	x.grad = x.run
	return nil
}
