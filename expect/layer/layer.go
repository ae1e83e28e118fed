package layer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/facetvi/facet/expect"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
)

// A Layer is a program that nodes of Gorgonia graphs run. It may have nodes in several graphs, of any batch sizes, which
// take turns: it is safe for concurrent use, and each run uses all processors.
type Layer struct {
	shared
	nodes []*estimate
}

// Of is the layer that runs the rows. They are its own from then on.
func Of(rows *expect.Rows) *Layer { return &Layer{shared: shared{rows: rows}} }

// New is the layer of so many draws a row, for members of q's family, as expect.NewRows has them: independent normals if q is nil.
func New(d *graph.Density, q family.Q, samples int, seed uint64) (*Layer, error) {
	rows, err := expect.NewRows(d, q, samples, seed)
	if err != nil {
		return nil, err
	}
	return Of(rows), nil
}

// Rows are what the layer runs, for what needs no graph. They are for one caller at a time: not while a node runs.
func (l *Layer) Rows() *expect.Rows { return l.rows }

// Theta says what the columns of θ are: all that Rows has for a row, without the parameters.
func (l *Layer) Theta() []string { return l.rows.Labels()[l.rows.Params():] }

// Params says what the columns of the parameters are, as coordinates: the logarithm of a
// positive parameter, the logit of one in an interval.
func (l *Layer) Params() []string { return l.rows.Labels()[:l.rows.Params()] }

// SetStep makes the next run of each node of the layer take the draws of that step. Every run takes those of the step after
// the last one's, from 0. A training that goes on sets the number of runs before, and who wants the same draws again their step.
// A run that ends in an error does not count.
func (l *Layer) SetStep(step uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.nodes {
		e.step = step
	}
}

// Apply makes a node: the vector of the ELBO, or of E[f], of each of B rows. theta is B × len(Theta()), params B × len(Params()) and
// data B × Rows.Data(), all of float64. One that would have no columns is nil, and so are data to be those of the density.
// The gradient is by theta and params; data must be inputs of the graph, for there is none by them.
//
// A graph can be differentiated by gorgonia.Grad once: the second time Grad says that what it is asked for is not differentiable.
func (l *Layer) Apply(theta, params, data *gorgonia.Node) (*gorgonia.Node, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &estimate{layer: &l.shared, number: uint64(len(l.nodes))}
	operands := gorgonia.Nodes{}
	for _, in := range []struct {
		name    string
		node    *gorgonia.Node
		columns int
		says    string
	}{
		{"theta", theta, len(l.Theta()), ": " + strings.Join(l.Theta(), ", ")},
		{"params", params, len(l.Params()), ": " + strings.Join(l.Params(), ", ")},
		{"data", data, l.rows.Data(), ", the observations"},
	} {
		switch isData := in.name == "data"; {
		case in.node == nil && (in.columns == 0 || isData):
			e.columns = append(e.columns, 0)
			continue
		case in.node == nil:
			return nil, fmt.Errorf("layer: no %s, which have %d columns%s", in.name, in.columns, in.says)
		case in.columns == 0:
			return nil, fmt.Errorf("layer: %s, of which the program has none: give nil", in.name)
		case in.node.Dtype() != tensor.Float64 || in.node.Dims() != 2 || in.node.Shape()[1] != in.columns:
			return nil, fmt.Errorf("layer: %s are %v of shape %v; want float64, and a matrix of %d columns%s",
				in.name, in.node.Dtype(), in.node.Shape(), in.columns, in.says)
		case in.node.Shape()[0] < 1:
			return nil, fmt.Errorf("layer: %s of shape %v have no rows", in.name, in.node.Shape())
		case len(operands) > 0 && in.node.Shape()[0] != e.batch:
			return nil, fmt.Errorf("layer: %d rows of %s beside %d of others", in.node.Shape()[0], in.name, e.batch)
		case len(operands) > 0 && in.node.Graph() != operands[0].Graph():
			return nil, fmt.Errorf("layer: %s are of another graph", in.name)
		case isData && in.node.Op() != nil:
			return nil, errors.New("layer: data are computed by the graph, but there is no gradient by data: make them an input")
		}
		e.batch = in.node.Shape()[0]
		e.columns = append(e.columns, in.columns)
		operands = append(operands, in.node)
	}
	e.signature = signature{name: "rows of a program", types: slices.Repeat([]hm.Type{matrix}, len(operands)+1), shape: tensor.Shape{e.batch, e.width()}}
	all, err := apply(e, operands...)
	if err != nil {
		return nil, err
	}
	l.nodes = append(l.nodes, e)
	return apply(newValue(e), all)
}
