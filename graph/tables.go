package graph

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/facetvi/facet/graph/internal/kernel"
)

// A select of constants is a table: its value is looked up by the signs that it depends on.

// tableSigns lists the signs that a select over constants depends on, in the
// order of first use. It is nil for another node, and for one that depends on too
// many signs for a table.
func (b *batch) tableSigns(id nodeID) []nodeID {
	if n := b.st.like(id); n.kind != kSelect || !n.steps {
		return nil
	}
	if signs, ok := b.sign[id]; ok {
		return signs
	}
	n := b.st.head(id)
	signs := []nodeID{n.a}
	for _, side := range []nodeID{n.b, n.c} {
		below := b.tableSigns(side)
		if below == nil && b.st.like(side).kind != kConst {
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
func (b *batch) tableKey(id nodeID) string {
	var key []byte
	for _, v := range b.tableValues(id) {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
	}
	return string(key)
}

// tableValues are the values of a table expression: number bits is its value
// where exactly the signs with a set bit are positive.
func (b *batch) tableValues(id nodeID) []float64 {
	signs := b.tableSigns(id)
	values := make([]float64, 1<<len(signs))
	for bits := range values {
		values[bits] = b.tableValue(id, signs, bits)
	}
	return values
}

func (b *batch) tableValue(id nodeID, signs []nodeID, bits int) float64 {
	n := b.st.at(id)
	if n.kind == kConst {
		return n.v
	}
	if bits>>slices.Index(signs, n.a)&1 == 1 {
		return b.tableValue(n.b, signs, bits)
	}
	return b.tableValue(n.c, signs, bits)
}

// countTables decides whether tables with different contents are different
// forms, which is faster, or one: so that the number of forms stays bounded.
func (b *batch) countTables(list []nodeID) {
	seen := map[string]bool{}
	for _, id := range list {
		if v := b.view(id); v.kind == kSelect && v.steps && b.tableSigns(id) != nil {
			seen[b.tableKey(id)] = true
			if len(seen) > maxTables {
				return
			}
		}
	}
	b.fewTables = true
}
