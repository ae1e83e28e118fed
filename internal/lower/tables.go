package lower

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// A select of constants is a table: its value is looked up by the signs that it depends on.

// TableSigns lists the signs that a select over constants depends on, in the
// order of first use. It is nil for another node, and for one that depends on too
// many signs for a table.
func (b *batch) TableSigns(id ir.ID) []ir.ID {
	if n := b.st.Like(id); n.Kind != ir.Select || !n.Steps {
		return nil
	}
	if signs, ok := b.sign[id]; ok {
		return signs
	}
	n := b.st.Head(id)
	signs := []ir.ID{n.A}
	for _, side := range []ir.ID{n.B, n.C} {
		below := b.TableSigns(side)
		if below == nil && b.st.Like(side).Kind != ir.Const {
			signs = nil
			break
		}
		for _, s := range below {
			if !slices.Contains(signs, s) {
				signs = append(signs, s)
			}
		}
	}
	if len(signs) > kernel.MaxTableSigns {
		signs = nil
	}
	b.sign[id] = signs
	return signs
}

// tableKey is the contents of a table expression.
func (b *batch) tableKey(id ir.ID) string {
	var key []byte
	for _, v := range b.tableValues(id) {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
	}
	return string(key)
}

// tableValues are the values of a table expression: number bits is its value
// where exactly the signs with a set bit are positive.
func (b *batch) tableValues(id ir.ID) []float64 {
	signs := b.TableSigns(id)
	values := make([]float64, 1<<len(signs))
	for bits := range values {
		values[bits] = b.tableValue(id, signs, bits)
	}
	return values
}

func (b *batch) tableValue(id ir.ID, signs []ir.ID, bits int) float64 {
	n := b.st.At(id)
	if n.Kind == ir.Const {
		return n.V
	}
	if bits>>slices.Index(signs, n.A)&1 == 1 {
		return b.tableValue(n.B, signs, bits)
	}
	return b.tableValue(n.C, signs, bits)
}

// countTables decides whether tables with different contents are different
// forms, which is faster, or one: so that the number of forms stays bounded.
func (b *batch) countTables(list []ir.ID) {
	seen := map[string]bool{}
	for _, id := range list {
		if v := b.View(id); v.Kind == ir.Select && v.Steps && b.TableSigns(id) != nil {
			seen[b.tableKey(id)] = true
			if len(seen) > maxTables {
				return
			}
		}
	}
	b.fewTables = true
}
