package lower

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
)

// A select of constants is a table: its value is looked up by the signs that it depends on.

// tables are the selects over constants of a store.
type tables struct {
	st    *ir.Store
	signs map[ir.ID][]ir.ID // what Signs has found
	few   bool              // so few that those with different contents are different forms
}

func newTables(st *ir.Store) tables { return tables{st: st, signs: map[ir.ID][]ir.ID{}} }

// Signs lists the signs that a select over constants depends on, in the
// order of first use. It is nil for another node, and for one that depends on too
// many signs for a table.
func (t *tables) Signs(id ir.ID) []ir.ID {
	if n := t.st.Like(id); n.Kind != ir.Select || !n.Steps {
		return nil
	}
	if signs, ok := t.signs[id]; ok {
		return signs
	}
	n := t.st.Head(id)
	signs := []ir.ID{n.A}
	for _, side := range []ir.ID{n.B, n.C} {
		below := t.Signs(side)
		if below == nil && t.st.Like(side).Kind != ir.Const {
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
	t.signs[id] = signs
	return signs
}

// key is the contents of a table expression.
func (t *tables) key(id ir.ID) string {
	var key []byte
	for _, v := range t.values(id) {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
	}
	return string(key)
}

// values are the values of a table expression: number bits is its value
// where exactly the signs with a set bit are positive.
func (t *tables) values(id ir.ID) []float64 {
	signs := t.Signs(id)
	values := make([]float64, 1<<len(signs))
	for bits := range values {
		values[bits] = t.value(id, signs, bits)
	}
	return values
}

func (t *tables) value(id ir.ID, signs []ir.ID, bits int) float64 {
	n := t.st.At(id)
	if n.Kind == ir.Const {
		return n.V
	}
	if bits>>slices.Index(signs, n.A)&1 == 1 {
		return t.value(n.B, signs, bits)
	}
	return t.value(n.C, signs, bits)
}

// maxTables is how many tables with different contents are different forms.
const maxTables = 16

// count decides whether tables with different contents are different
// forms, which is faster, or one: so that the number of forms stays bounded.
func (t *tables) count(list []ir.ID) {
	seen := map[string]bool{}
	for _, id := range list {
		if t.Signs(id) != nil {
			seen[t.key(id)] = true
			if len(seen) > maxTables {
				return
			}
		}
	}
	t.few = true
}
