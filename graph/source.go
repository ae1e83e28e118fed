package graph

import (
	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
)

// A rowRecording is a recording, and what the row adds to the model.
type rowRecording struct {
	*ir.Recording
	inputs    []input      // in the order of their operations
	data      []*ir.Source // of what is observed
	names     []string     // of latents, without the row
	collected []collected
	firstData int       // its number among the observations
	firsts    []firstOf // that the model got
	compared  compare.Row
	indexings []indexing
	captured  []ir.ID // what the body uses of the model outside
}

// An input is a number by row of a plate.
type input struct {
	of   *Plate
	data []float64
}

// collected is what Collect appends.
type collected struct {
	dst *[]Expr
	x   Expr
}

// input is the source of a number of the data in the row of p; nil if r is.
func (r *rowRecording) input(p *Plate, data []float64) *ir.Source {
	if r == nil {
		return nil
	}
	r.inputs = append(r.inputs, input{p, data})
	return r.Add(ir.Operation{X: ir.Argument{At: -1}, Y: ir.Argument{At: -1}})
}

// rounded is the number x with its error and source.
func (x Expr) rounded() ir.Rounded { return ir.Rounded{V: x.v, Err: x.err, From: x.from} }

// number is f of the numbers x and y.
func number(f func(a, b float64) float64, x, y Expr) Expr {
	out := ir.Computed(f, x.rounded(), y.rounded())
	if x.from != nil || y.from != nil {
		out.From = ir.Recorded(ir.OtherOperation, func(x, y ir.Rounded) ir.Rounded { return ir.Computed(f, x, y) }, x.rounded(), y.rounded())
	}
	return Expr{v: out.V, err: out.Err, from: out.From}
}

// observedValue is observation i, with its source.
func (m *Model) observedValue(i int) ir.Rounded {
	x := ir.Rounded{V: m.obs[i].value}
	if rec := m.rec; rec != nil && !rec.Spoilt && i >= rec.firstData {
		x.From = rec.data[i-rec.firstData]
	}
	return x
}
