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

// An indexing is a call of Index.
type indexing struct {
	p      *Plate
	values []Expr
	at     []int
	nodes  []ir.ID   // what the value in the recorded row is made of
	alike  [][]ir.ID // by value: the same of it; empty if it is not alike, nil while that is not known
}

// firstOf is the first data to share something.
type firstOf struct {
	sharing
	x Expr
}
