package climb

import (
	"slices"

	"github.com/facetvi/facet/vi/mc"
)

// mean is a running mean of parameter vectors.
type mean struct {
	Sum mc.Numbers
	N   int
}

// add counts theta in.
func (m *mean) add(theta []float64) {
	if m.Sum == nil {
		m.Sum = make(mc.Numbers, len(theta))
	}
	for i, x := range theta {
		m.Sum[i] += x
	}
	m.N++
}

// write writes the mean to dst.
func (m *mean) write(dst []float64) {
	inv := 1 / float64(m.N)
	for i, x := range m.Sum {
		dst[i] = x * inv
	}
}

func (m *mean) reset() {
	clear(m.Sum)
	m.N = 0
}

func (m mean) clone() mean { return mean{slices.Clone(m.Sum), m.N} }
