package compare

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/truncnorm"
)

// Steps are the values of a discrete latent, ascending, and the cuts of its coordinate between them: Values[j] is from Cuts[j−1],
// or −∞, up to and with Cuts[j], or ∞.
type Steps struct {
	Values []float64
	Cuts   []float64
	Moving []ir.ID // positive beyond each cut, in place of Cuts, of noise whose law depends on parameters or on other noise
}

// write writes how a value relates to cut j.
func (k *Steps) write(j int, relation string) string {
	switch last := len(k.Values) - 1; {
	case relation == "=":
		return fmt.Sprintf("between %v and %v", k.Values[j], k.Values[j+1])
	case relation == "<" && j == 0, relation == ">" && j+1 == last:
		return fmt.Sprintf("= %v", k.Values[map[string]int{"<": 0, ">": last}[relation]])
	case relation == "<":
		return fmt.Sprintf("< %v", k.Values[j+1])
	}
	return fmt.Sprintf("> %v", k.Values[j])
}

// At is the number of the value at u: that of the cuts below.
func (k *Steps) At(u float64) int { return sort.SearchFloat64s(k.Cuts, u) }

// Within is the coordinate below which there is the part u of the interval of value j.
func (k *Steps) Within(j int, u float64) float64 {
	lo, hi := truncnorm.Between(k.Cuts, j)
	return truncnorm.Inside(truncnorm.Quantile(u, lo, hi), lo, hi)
}

// OfDiscrete is coef·k + v, if id is that, with the number of the discrete latent k.
func (m *Maker) OfDiscrete(id ir.ID) (c ir.Combination, i int, ok bool) {
	if len(m.discrete) == 0 {
		return c, 0, false
	}
	k := id
	if m.st.Like(id).Kind == ir.Sum {
		if k, ok = m.st.OnlyAtom(id); !ok {
			return c, 0, false
		}
	}
	if i, ok = m.discrete[k]; ok {
		c = m.st.Combination(id)
	}
	return c, i, ok
}

// Stepped reports whether id changes by branches alone.
func (m *Maker) Stepped(id ir.ID) bool {
	n := m.st.At(id)
	switch n.Kind {
	case ir.Latent:
		return false
	case ir.Select:
		return m.Stepped(n.B) && m.Stepped(n.C)
	}
	steps := true
	n.Operands(func(o ir.ID) { steps = steps && m.Stepped(o) })
	return steps
}

// Outside is a value of id, which changes by branches alone, that is none of 0, …, n−1 and that the formula within does not rule out.
func (m *Maker) Outside(id ir.ID, n int, within ir.ID) (v float64, found bool) {
	m.st.Block.Spoil()
	for _, w := range m.ways(id) {
		v, _ = m.st.IsConst(w.value)
		if (v < 0 || v >= float64(n) || v != math.Trunc(v)) && m.st.Suppose(slices.Concat(w.given, []ir.Literal{{Formula: w.where, Holds: true}})).TruthOf(within) != ir.Never {
			return v, true
		}
	}
	return 0, false
}
