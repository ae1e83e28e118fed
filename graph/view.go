package graph

import (
	"fmt"
	"iter"

	"github.com/facetvi/facet/internal/compare"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/lang"
)

// A view is a model as packages lang and compare see it: lang.Priors and compare.Program say what its methods are.
type view Model

// expr is node id of the model.
func (m *Model) expr(id ir.ID) Expr { return lang.Node((*view)(m), id) }

// node is the node of x in the model.
func (m *Model) node(x Expr) ir.ID { return lang.In(x, (*view)(m)) }

// modelOf is the model that x belongs to; nil for numbers.
func modelOf(x Expr) *Model {
	m, _ := lang.Of(x).(*view)
	return (*Model)(m)
}

// owner is the model that xs belong to: that of a plate's body before the model
// outside. It is nil for numbers.
func owner(xs ...Expr) *Model {
	m, _ := lang.Owner(xs...).(*view)
	return (*Model)(m)
}

func (m *view) Store() *ir.Store                     { return m.st }
func (m *view) Dim() int                             { return len(m.latents) }
func (m *view) Params() int                          { return m.params }
func (m *view) Latent(i int) compare.Latent          { return &m.latents[i] }
func (m *view) Guards() *compare.Maker               { return m.guards }
func (m *view) Compares(i int)                       { m.obs[i].compared = true }
func (m *view) Depends() bool                        { return m.dependent }
func (m *view) Traced() bool                         { return m.tape != nil }
func (m *view) Place() fmt.Stringer                  { return (*Model)(m).above(5) }
func (m *view) Fail(format string, args ...any)      { (*Model)(m).fail(format, args...) }
func (m *view) Err() error                           { return m.err }
func (m *view) Explain(why string)                   { m.err = fmt.Errorf("%w%s", m.err, why) }
func (m *view) Prior(i int) (d lang.Dist, isOf bool) { return m.latents[i].prior, i >= m.params }

func (m *view) NotFinite(v float64) {
	if m.err == nil {
		m.Fail("the number %v is not finite%s", v, lang.OnlyObserved(v))
		m.infinite = m.err
	}
}

func (m *view) Tracer() lang.Tracer {
	if t := (*Model)(m).traces(); t != nil {
		return t
	}
	return nil
}

// Name is the name of observation i.
func (m *view) Name(i int) string { return m.obs[i].name }

// Observed is the value of observation i, with its column.
func (m *view) Observed(i int) ir.Rounded {
	x := ir.Rounded{V: m.obs[i].value}
	if b := m.block; b != nil && !b.Spoilt && i >= b.before.obs {
		x.From = b.data[i-b.before.obs]
	}
	return x
}

func (m *view) Components() iter.Seq[compare.Component] {
	return func(yield func(compare.Component) bool) {
		for name, x := range (*Model)(m).components() {
			c := compare.Component{Name: name, U: -1, Value: x.support.Value}
			if lang.Of(x.u) != nil { // it is not, if it was recorded after an error
				c.U = lang.ID(x.u)
			}
			if !yield(c) {
				return
			}
		}
	}
}

func (l *latent) Name() string                { return l.name }
func (l *latent) Value() ir.ID                { return l.value }
func (l *latent) Transform() kernel.Function  { return l.support.Function() }
func (l *latent) Constrain(u float64) float64 { return l.support.Value(u) }

func (l *latent) Steps() *compare.Steps {
	if l.discrete == nil {
		return nil
	}
	return &l.discrete.Steps
}
