package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
)

// derive adds an expression.
func (m *Model) derive(x deterministic) {
	x.of = m.observationsIn(x.x, x.where.value)
	m.derived = append(m.derived, x)
}

// observationsIn are the observations that expressions depend on.
func (m *Model) observationsIn(of ...Expr) (list []int) {
	for _, x := range of {
		if !m.dependent || modelOf(x) != m {
			continue
		}
		for id := range m.st.Under(lang.ID(x)) {
			if n := m.st.At(id); n.Kind == ir.Data {
				list = append(list, int(n.A))
			}
		}
	}
	return list
}

// Deterministic records v, an expression or a number (see Value), under a name,
// to be reported beside the latents by Density.DeterministicAt, and returns it.
// Expressions that share a name form a vector, in the order of the calls. The
// name must not be that of a latent or an observation. Inside an If block the
// expression has a value on its side only.
//
// Recording an expression changes nothing about the density. But a comparison that is made
// for it alone is a surface of the Arrangement like any other, without a jump.
func (m *Model) Deterministic(name string, v any) Expr {
	x := m.value("Deterministic", v)
	if !m.outsidePlates("Deterministic") {
		return x
	}
	m.takeName(aDeterministic, name)
	switch {
	case lang.Of(x) != nil && modelOf(x) != m:
		m.fail("deterministic %q: %s", name, lang.Foreign(x))
	case lang.Of(x) == nil && (math.IsNaN(lang.Plain(x)) || math.IsInf(lang.Plain(x), 0)):
		m.fail("deterministic %q: the number %v is not finite", name, lang.Plain(x))
	}
	m.derive(deterministic{name: name, x: x, where: m.within})
	return x
}

// Deterministics is the name of each recorded expression, in the order of the
// Deterministic calls: a name that was used several times is there as often.
func (d *Density) Deterministics() []string {
	names := make([]string, len(d.made().m.derived))
	for i, x := range d.m.derived {
		names[i] = x.name
	}
	return names
}

// DeterministicAt computes the recorded expressions at z, Dim() unconstrained
// coordinates, in z's own region, and returns them in the order of
// Deterministics. An expression in an If block that z does not enter is NaN, and so is one that depends on an observation that is missing.
// It allocates if dst is nil, and otherwise panics unless len(dst) is the
// number of recorded expressions.
func (d *Density) DeterministicAt(dst, z []float64) []float64 {
	return d.deterministics(dst, z, nil)
}

// DeterministicGiven is DeterministicAt with the numbers in y, as Replicate draws them, in place of the observations that are missing.
// It panics unless len(y) is the number of observations.
func (d *Density) DeterministicGiven(dst, z, y []float64) []float64 {
	if len(y) != len(d.made().m.obs) {
		panic(fmt.Sprintf("graph: a slice of %d for %d observations", len(y), len(d.m.obs)))
	}
	return d.deterministics(dst, z, y)
}

// deterministics are the recorded expressions at z, with y in place of the observations that are missing, if it is not nil.
func (d *Density) deterministics(dst, z, y []float64) []float64 {
	dst = sized(dst, len(d.made().m.derived), "deterministic expressions")
	ev := d.evaluate(z)
	defer ev.Release()
	if d.missing != nil {
		ev.Data = d.Data()
		for i, is := range d.missing {
			if is && y != nil {
				ev.Data[i] = y[i]
			}
		}
	}
	none := func(i int) bool { return math.IsNaN(ev.Data[i]) }
	chains := map[*Hidden][][]float64{}
	for i, x := range d.m.derived {
		if dst[i] = math.NaN(); slices.ContainsFunc(x.of, none) || !ev.holds(x.where) {
			continue
		}
		if x.hidden == nil {
			dst[i] = ev.expr(x.x)
			continue
		}
		dst[i] = ir.Remembered(chains, x.hidden, func() [][]float64 {
			if len(x.of) > 0 { // what was drawn says of the states what it depends on
				return x.hidden.smoothed(ev, nil)
			}
			return x.hidden.smoothed(ev, d.missing)
		})[x.step][x.state]
	}
	return dst
}

// Components are the names of the components of vectors that are no latents themselves, as those
// of a Dirichlet, in the order of the program: theta[0], theta[1], ….
func (d *Density) Components() (names []string) {
	for name := range d.made().m.components() {
		names = append(names, name)
	}
	return names
}

// ComponentsAt computes the Components at z, as DeterministicAt does.
func (d *Density) ComponentsAt(z []float64) (values []float64) {
	ev := d.evaluate(z)
	defer ev.Release()
	for _, x := range d.m.derived {
		if !x.component {
			continue
		}
		v := math.NaN()
		if ev.holds(x.where) {
			v = ev.expr(x.x)
		}
		values = append(values, v)
	}
	return values
}
