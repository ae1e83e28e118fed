package expect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// An Expectation is E[f] of a simulation, at parameters. It is immutable and safe for concurrent use.
type Expectation struct {
	d     *graph.Density
	coord []float64 // of the parameters, unconstrained
	by    gradient.Boundary
}

// Of is E[f], at the parameters' starts, of a program that graph.NewSimulation made. f is an expression or a number.
func Of(m *graph.Model, f any) (*Expectation, error) {
	d, err := m.CompileObjective(f)
	if err != nil {
		return nil, fmt.Errorf("expect: %w", err)
	}
	center, _ := d.PriorStart()
	return &Expectation{d: d, coord: center[:d.Params()]}, nil
}

// Density is the compiled program, whose log r is f.
func (e *Expectation) Density() *graph.Density { return e.d }

// Params are the names of the parameters.
func (e *Expectation) Params() []string { return e.d.Latents()[:e.d.Params()] }

// Values are those of the parameters.
func (e *Expectation) Values() []float64 {
	x := make([]float64, len(e.coord))
	for i, u := range e.coord {
		x[i] = e.d.Coordinate(i).Value(u)
	}
	return x
}

// At is the expectation at other values of the parameters, in the order of Params. A value at or outside a
// parameter's bounds is an error.
func (e *Expectation) At(values ...float64) (*Expectation, error) {
	if len(values) != len(e.coord) {
		return nil, fmt.Errorf("expect: %d values for the %d parameters %s", len(values), len(e.coord), strings.Join(e.Params(), ", "))
	}
	next := *e
	next.coord = make([]float64, len(values))
	for i, x := range values {
		var err error
		if next.coord[i], err = e.d.Coordinate(i).Inverse(x); err != nil {
			lo, hi := e.d.Coordinate(i).Bounds()
			return nil, fmt.Errorf("expect: %s cannot be %v: it is strictly between %v and %v", e.Params()[i], x, lo, hi)
		}
	}
	return &next, nil
}

// An Estimate is E[f] and its gradient.
type Estimate struct {
	Params   []string
	At       []float64 // the parameters' values
	Value    mc.Estimate
	Gradient []mc.Estimate // ∂E[f]/∂value of each parameter
	Samples  int
}

// By is the derivative by the parameter of that name; NaN if there is none.
func (e *Estimate) By(name string) mc.Estimate {
	if i := slices.Index(e.Params, name); i >= 0 {
		return e.Gradient[i]
	}
	return mc.Estimate{Value: math.NaN()}
}

// String is a line for the value, and one for each parameter.
func (e *Estimate) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "E[f] = %v\n", e.Value)
	for i, name := range e.Params {
		fmt.Fprintf(&b, "∂/∂%s = %v at %s = %.6g\n", name, e.Gradient[i], name, e.At[i])
	}
	return b.String()
}

// mostBlock is the largest number of draws in a block; fewBlocks is how many blocks there are at least, for
// standard errors to go by.
const (
	mostBlock = 128
	fewBlocks = 64
)

// Estimate estimates E[f] and its gradient by about n draws: n is rounded up to whole blocks, of at most 128. Standard errors are those of
// the blocks' means. The seed fixes the result, whatever GOMAXPROCS is. If ctx ends it returns its error.
func (e *Expectation) Estimate(ctx context.Context, n int, seed uint64) (*Estimate, error) {
	if n < 2 {
		return nil, fmt.Errorf("expect: %d draws; an estimate with standard errors needs 2", n)
	}
	r, err := newRunner(e.d, e.by, n, widthOf(n, fewBlocks))
	if err != nil {
		return nil, err
	}
	moments, err := r.run(ctx, e.coord, seed)
	if err != nil {
		return nil, err
	}
	out := &Estimate{Params: e.Params(), At: e.Values(), Value: moments[0].Estimate(), Samples: r.samples()}
	for i, u := range e.coord {
		g, slope := moments[1+i].Estimate(), e.d.Coordinate(i).Slope(u)
		out.Gradient = append(out.Gradient, mc.Estimate{Value: g.Value / slope, SE: g.SE / slope})
	}
	return out, nil
}

// widthOf is the width of blocks, at least so many if there are as many draws: by fours, as processors multiply.
func widthOf(n, blocks int) int {
	width := n / blocks
	if width > 4 {
		width = (width + 3) / 4 * 4
	}
	return min(mostBlock, max(1, width))
}

// A runner estimates E[f] and its gradient by the parameters' coordinates, block by block.
type runner struct {
	d       *graph.Density
	q       *family.Normal
	width   int // of blocks
	blocks  int
	workers []*worker
	found   [][]float64 // of the blocks of a round: f and the gradient, means
}

// blocksARound is how many blocks a round has at most: ctx is asked after each round.
const blocksARound = 1024

// A worker does blocks, one at a time.
type worker struct {
	parts *gradient.Parts
	sums  []float64
	grad  []float64
	rng   *parallel.Restarted
}

func newRunner(d *graph.Density, by gradient.Boundary, n, width int) (*runner, error) {
	q, err := family.Prior{}.New(d)
	if err != nil {
		return nil, fmt.Errorf("expect: %w", err)
	}
	r := &runner{d: d, q: q.(*family.Normal), width: width, blocks: (n + width - 1) / width}
	for range parallel.Processors(min(r.blocks, blocksARound)) {
		p, err := gradient.BindValued(d, q, width, by, false)
		if err != nil {
			return nil, fmt.Errorf("expect: %w", err)
		}
		r.workers = append(r.workers, &worker{p, parallel.OwnLines(p.Sampler().Sums()), parallel.OwnLines(len(q.Theta())), parallel.NewRestarted()})
	}
	for range min(r.blocks, blocksARound) {
		r.found = append(r.found, make([]float64, 1+d.Params()))
	}
	return r, nil
}

func (r *runner) samples() int { return r.blocks * r.width }

// run estimates at the parameters' coordinates: f, and the gradient.
func (r *runner) run(ctx context.Context, coord []float64, seed uint64) ([]mc.Moments, error) {
	for i, u := range coord {
		r.q.Theta()[2*i] = u
	}
	r.q.Set(r.q.Theta())
	for _, w := range r.workers {
		w.parts.Locate(r.q)
	}
	moments := make([]mc.Moments, 1+len(coord))
	for first := 0; first < r.blocks; first += blocksARound {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("expect: %w", err)
		}
		n := min(blocksARound, r.blocks-first)
		err := parallel.Do(len(r.workers), n, func(w, k int) error {
			return r.workers[w].block(r.found[k], r.width, seed, first+k)
		})
		if err != nil {
			return nil, fmt.Errorf("expect: %w", err)
		}
		for _, x := range r.found[:n] {
			for i := range moments {
				moments[i].Add(x[i])
			}
		}
	}
	return moments, r.check(moments)
}

// block writes the means of a block to dst.
func (w *worker) block(dst []float64, n int, seed uint64, b int) error {
	clear(w.sums)
	if err := w.parts.Run(w.rng.At(seed, b)); err != nil {
		return err
	}
	dst[0] = w.parts.Value() / float64(n)
	w.parts.AddAll(w.sums)
	w.parts.Sampler().Finish(w.grad, w.sums, n)
	for i := range dst[1:] {
		dst[1+i] = w.grad[2*i]
	}
	return nil
}

// check is an error about estimates that are not finite.
func (r *runner) check(moments []mc.Moments) error {
	for i, m := range moments {
		if m.Mean-m.Mean == 0 {
			continue
		}
		what := "E[f]"
		if i > 0 {
			what = "the derivative by " + r.d.Latents()[i-1]
		}
		err := fmt.Errorf("expect: %s is %v", what, m.Mean)
		if why := gradient.Blame(r.d, r.q); why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
		return err
	}
	return nil
}
