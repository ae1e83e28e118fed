package layer

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"sync"
	"sync/atomic"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/internal/parallel"
)

// A node of a layer is two operations, and its gradient two more. None of them keeps anything for another: what one row of the
// program found, its value and its gradient, is a row of a matrix.
//
//	theta, params, data ─▶ estimate ─▶ B × (1 + K + T) ─▶ value ─▶ B
//	theta's gradient ◀─ slope ◀──────── B × (1 + K + T) ◀─ spread ◀─ gradient of B

// A signature is what Gorgonia asks of an operation beside what it does.
type signature struct {
	name  string
	id    uint64    // tells it from all other operations
	types []hm.Type // of the operands and of the result
	shape tensor.Shape
}

func (s *signature) Arity() int                                            { return len(s.types) - 1 }
func (s *signature) Type() hm.Type                                         { return hm.NewFnType(s.types...) }
func (s *signature) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) { return s.shape, nil }
func (s *signature) ReturnsPtr() bool                                      { return true }
func (s *signature) CallsExtern() bool                                     { return false }
func (s *signature) OverwritesInput() int                                  { return -1 }
func (s *signature) String() string                                        { return s.name }
func (s *signature) WriteHash(h hash.Hash)                                 { fmt.Fprintf(h, "layer %s %d", s.name, s.id) }

func (s *signature) Hashcode() uint32 {
	h := fnv.New32a()
	s.WriteHash(h)
	return h.Sum32()
}

func (s *signature) signed() *signature { return s }

// ids are how many operations there are.
var ids atomic.Uint64

// apply makes the node of an operation. Gorgonia knows nodes by a hash of 32 bits, and gives back another
// one if that has the same: then apply tries again with another.
func apply(o interface {
	gorgonia.Op
	signed() *signature
}, operands ...*gorgonia.Node) (*gorgonia.Node, error) {
	for range 8 {
		o.signed().id = ids.Add(1)
		n, err := gorgonia.ApplyOp(o, operands...)
		if err != nil {
			return nil, fmt.Errorf("layer: %w", err)
		}
		if n.Op() == gorgonia.Op(o) {
			return n, nil
		}
	}
	return nil, errors.New("layer: Gorgonia merged two different nodes")
}

var matrix, vector = gorgonia.TensorType{Dims: 2, Of: tensor.Float64}, gorgonia.TensorType{Dims: 1, Of: tensor.Float64}

// zeros is a new matrix.
func zeros(rows, columns int) (*tensor.Dense, []float64) {
	x := make([]float64, rows*columns)
	return tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(x)), x
}

// numbers views a value as rows of so many numbers, or copies it if it is laid out otherwise.
func numbers(v gorgonia.Value, rows, columns int) ([]float64, error) {
	d, ok := v.(*tensor.Dense)
	if !ok || d.Dtype() != tensor.Float64 || d.Shape().TotalSize() != rows*columns {
		return nil, fmt.Errorf("layer: a value of shape %v; want %d × %d numbers", v.Shape(), rows, columns)
	}
	if d.RequiresIterator() || d.DataOrder().IsColMajor() {
		x := make([]float64, 0, rows*columns)
		for it := d.Iterator(); ; {
			at, err := it.Next()
			if err != nil {
				return x, nil
			}
			x = append(x, d.GetF64(at))
		}
	}
	return d.Float64s(), nil
}

// shared is what the nodes of a layer run, in turns.
type shared struct {
	mu   sync.Mutex
	rows *expect.Rows
}

// estimate runs the rows: the value and the gradient, by parameters and by θ, of each.
type estimate struct {
	signature
	layer   *shared
	number  uint64 // among the layer's nodes
	step    uint64 // of the next run
	batch   int
	columns []int // of theta, params and data; 0 for what is not given
	since   int   // how often DiffWRT was asked since SymDiff, which counts as one
}

// width is that of the result.
func (e *estimate) width() int { return 1 + e.columns[0] + e.columns[1] }

// from is the first column of the gradient by theta, or params, in the result.
func (e *estimate) from(input int) int {
	if input == 0 {
		return 1 + e.columns[1]
	}
	return 1
}

// given are the inputs that there are: 0 for theta, 1 for params and 2 for data.
func (e *estimate) given() (list []int) {
	for k, c := range e.columns {
		if c > 0 {
			list = append(list, k)
		}
	}
	return list
}

func (e *estimate) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	e.layer.mu.Lock()
	defer e.layer.mu.Unlock()
	free := e.width() - 1
	theta, grad := make([]float64, e.batch*free), make([]float64, e.batch*free)
	var data []float64
	for k, input := range e.given() {
		c := e.columns[input]
		x, err := numbers(in[k], e.batch, c)
		if err != nil {
			return nil, err
		}
		if input == 2 {
			data = x
			continue
		}
		for b := range e.batch {
			copy(theta[b*free+e.from(input)-1:], x[b*c:][:c])
		}
	}
	value := make([]float64, e.batch)
	if err := e.layer.rows.Run(parallel.Mix(e.number, e.step), theta, data, value, grad); err != nil {
		return nil, fmt.Errorf("layer: %w", err)
	}
	e.step++
	out, x := zeros(e.batch, e.width())
	for b, v := range value {
		row := x[b*e.width():][:e.width()]
		row[0] = v
		copy(row[1:], grad[b*free:][:free])
	}
	return out, nil
}

// DiffWRT says that the gradient is by theta and params. gorgonia.Grad asks once after SymDiff, and then again if it is to differentiate
// the graph a second time. The second cost would get the gradient of the first one, silently; so there is none then,
// and Grad says so.
func (e *estimate) DiffWRT(int) (wrt []bool) {
	if e.since > 0 {
		e.since++
	}
	for _, input := range e.given() {
		wrt = append(wrt, input < 2 && e.since <= 2)
	}
	return wrt
}

func (e *estimate) SymDiff(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	e.since = 1
	slopes := make(gorgonia.Nodes, len(in))
	for k, input := range e.given() {
		if input == 2 {
			continue
		}
		var err error
		if slopes[k], err = apply(newSlope(e, input), out, grad); err != nil {
			return nil, err
		}
	}
	return slopes, nil
}

func (e *estimate) DoDiff(_ gorgonia.ExecutionContext, in gorgonia.Nodes, out *gorgonia.Node) error {
	for k, input := range e.given() {
		if input == 2 {
			continue
		}
		if err := addGradient(in[k], newSlope(e, input), out.Grad, out.Value()); err != nil {
			return err
		}
	}
	return nil
}

// value takes the values from what estimate found.
type value struct {
	signature
	of *estimate
}

func newValue(e *estimate) *value {
	return &value{signature{name: "value", types: []hm.Type{matrix, vector}, shape: tensor.Shape{e.batch}}, e}
}

func (v *value) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	all, err := numbers(in[0], v.of.batch, v.of.width())
	if err != nil {
		return nil, err
	}
	x := make([]float64, v.of.batch)
	for b := range x {
		x[b] = all[b*v.of.width()]
	}
	return tensor.New(tensor.WithShape(len(x)), tensor.WithBacking(x)), nil
}

func (v *value) DiffWRT(int) []bool { return []bool{true} }

func (v *value) SymDiff(_ gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	n, err := apply(newSpread(v.of), grad)
	return gorgonia.Nodes{n}, err
}

func (v *value) DoDiff(_ gorgonia.ExecutionContext, in gorgonia.Nodes, out *gorgonia.Node) error {
	return addGradient(in[0], newSpread(v.of), out.Grad)
}

// spread is the gradient by what estimate found: that of the values, in the column of the values.
type spread struct {
	signature
	of *estimate
}

func newSpread(e *estimate) *spread {
	return &spread{signature{name: "gradient of value", types: []hm.Type{vector, matrix}, shape: e.shape}, e}
}

func (s *spread) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	grad, err := numbers(in[0], s.of.batch, 1)
	if err != nil {
		return nil, err
	}
	out, x := zeros(s.of.batch, s.of.width())
	for b, g := range grad {
		x[b*s.of.width()] = g
	}
	return out, nil
}

func (s *spread) DiffWRT(int) []bool { return []bool{true} }

func (s *spread) SymDiff(_ gorgonia.Nodes, _, _ *gorgonia.Node) (gorgonia.Nodes, error) {
	return nil, errSecond
}

var errSecond = errors.New("layer: a program has a gradient, but no second derivatives")

// slope is the gradient by an input of estimate, given what that found, and the gradient by it.
type slope struct {
	signature
	of    *estimate
	input int
}

func newSlope(e *estimate, input int) *slope {
	name := []string{"gradient by theta", "gradient by params"}[input]
	return &slope{signature{name: name, types: []hm.Type{matrix, matrix, matrix}, shape: tensor.Shape{e.batch, e.columns[input]}}, e, input}
}

func (s *slope) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	width, columns := s.of.width(), s.of.columns[s.input]
	all, err := numbers(in[0], s.of.batch, width)
	if err != nil {
		return nil, err
	}
	grad, err := numbers(in[1], s.of.batch, width)
	if err != nil {
		return nil, err
	}
	out, x := zeros(s.of.batch, columns)
	for b := range s.of.batch {
		for c := range columns {
			x[b*columns+c] = grad[b*width] * all[b*width+s.of.from(s.input)+c]
		}
	}
	return out, nil
}

func (s *slope) DiffWRT(int) []bool { return []bool{true, true} }

func (s *slope) SymDiff(_ gorgonia.Nodes, _, _ *gorgonia.Node) (gorgonia.Nodes, error) {
	return nil, errSecond
}

// addGradient adds to the gradient that a LispMachine has for a node what an operation makes of the one upstream.
func addGradient(n *gorgonia.Node, o gorgonia.Op, upstream func() (gorgonia.Value, error), in ...gorgonia.Value) error {
	up, err := upstream()
	if err != nil {
		return fmt.Errorf("layer: %w", err)
	}
	own, err := n.Grad()
	if err != nil {
		return fmt.Errorf("layer: %w", err)
	}
	more, err := o.Do(append(in, up)...)
	if err != nil {
		return err
	}
	x := more.(*tensor.Dense).Float64s()
	d, ok := own.(*tensor.Dense)
	if !ok || d.RequiresIterator() || d.DataOrder().IsColMajor() || len(d.Float64s()) != len(x) {
		return fmt.Errorf("layer: a gradient of shape %v; want %d numbers, row by row", own.Shape(), len(x))
	}
	for i, v := range x {
		d.Float64s()[i] += v
	}
	return nil
}
