package climb

import (
	"errors"
	"fmt"
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

// check reports a mean that is not one of n parameters over some of the given
// number of steps.
func (m mean) check(n, steps int) error {
	switch {
	case m.N < 0 || m.N > steps:
		return fmt.Errorf("an average of %d iterates after %d steps", m.N, steps)
	case len(m.Sum) != n && (m.N > 0 || m.Sum != nil):
		return fmt.Errorf("an average of %d parameters for %d", len(m.Sum), n)
	case slices.ContainsFunc(m.Sum, func(x float64) bool { return !finite(x) }):
		return errors.New("an average that is not finite")
	}
	return nil
}
