package graph

import (
	"fmt"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// An evaluator computes expressions of a model.
type evaluator struct {
	*ir.Evaluator
}

// evaluate returns an evaluator at z, which the caller may fill in as it goes,
// as long as no expression is asked for before its latents are there. Release
// it after use. It panics unless len(z) is Dim().
func (d *Density) evaluate(z []float64) evaluator {
	d.checkLen(z)
	e := d.st.Evaluator(&d.nodes)
	e.Z, e.Data, e.Arr = z, d.data, d.arr
	return evaluator{e}
}

// expr is the value of x, an expression of the model or a number.
func (e evaluator) expr(x Expr) float64 {
	if lang.Of(x) == nil {
		return lang.Plain(x)
	}
	return e.Value(lang.ID(x))
}

// params are the parameters of d. The slice is used again at the next call.
func (e evaluator) params(d lang.Dist) []float64 {
	p := e.Room[:0]
	for _, x := range d.Params() {
		p = append(p, e.expr(x))
	}
	e.Room = p
	return p
}

// holds reports whether g does.
func (e evaluator) holds(g Guard) bool { return e.expr(g.value) != 0 }

// sized is dst, or a new slice of length n if dst is nil. It panics if dst has
// another length.
func sized[T any](dst []T, n int, what string) []T {
	if dst == nil {
		return make([]T, n)
	}
	if len(dst) != n {
		panic(fmt.Sprintf("graph: a slice of %d for %d %s", len(dst), n, what))
	}
	return dst
}
