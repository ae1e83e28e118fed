package graph

import (
	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
)

// A rowBlock is a block, and what its first row adds to the model.
type rowBlock struct {
	*ir.Block
	lo        int          // the number of the first row
	data      []*ir.Column // of what is observed
	names     []string     // of latents, without the row
	collected []collected
	firstData int       // its number among the observations
	firsts    []firstOf // that the model got
	compared  compare.Row
	indexed   int     // calls of Index
	captured  []ir.ID // what the body uses of the model outside
}

// collected is what Collect appends.
type collected struct {
	dst *[]Expr
	x   Expr
}

// firstOf is the first data to share something.
type firstOf struct {
	sharing
	x Expr
}

// input is the column of the data of plate p; nil if there is no block, or all its rows have the same number.
func (t *tape) input(p *Plate, data []float64) *ir.Column {
	b := t.m.block
	if b == nil || p != t.inner {
		return nil
	}
	return b.Input(data[p.at():][:len(b.Alike)])
}
