package graph

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
	"github.com/facetvi/facet/regions"
)

// Compile turns the model into a Density. It returns the first mistake that was
// made in building the model. What is added to the model afterwards is not in
// the density, but in the next one that is compiled. Guards that are made
// afterwards, of the density's own latents, have probabilities too: see
// ArrangementWith.
func (m *Model) Compile() (*Density, error) {
	m.outsidePlates("Compile")
	if m.simulation {
		m.fail("Compile of a simulation, which has no posterior: give its objective to expect.Of")
	}
	if m.err == nil && len(m.latents) == m.params {
		return nil, errNoLatents
	}
	if m.err != nil {
		return nil, m.err
	}
	return m.compiled()
}

// compiled is Compile of a model without faults.
func (m *Model) compiled() (*Density, error) {
	arr, err := m.arrangement(len(m.latents), m.guards.Arr.Len())
	if err != nil {
		return nil, err
	}
	return m.compile(arr)
}

// compile is Compile with the hyperplanes in the dimension of the model.
func (m *Model) compile(arr *regions.Arrangement) (*Density, error) {
	ids := func(yield func(ir.ID) bool) {
		for _, t := range m.terms {
			if !yield(t.id) {
				return
			}
		}
	}
	if err := m.guards.Overlap(arr, ids); err != nil {
		return nil, err
	}
	m.compiledOnce = true
	now := m.snapshot()
	now.labelGuards()
	c := &compiled{m: now, from: m, arr: arr, index: make(map[string]int, len(now.latents)), terms: now.terms}
	c.fingerprint = sync.OnceValue(c.digest)
	c.names = slices.Grow(c.names, len(now.latents))
	for i, l := range now.latents {
		c.names = append(c.names, l.name)
		c.index[l.name] = i
	}
	data := make([]float64, len(now.obs))
	for i, o := range now.obs {
		data[i] = o.value
	}
	if err := c.compile(missingIn(data)); err != nil {
		return nil, err
	}
	return &Density{compiled: c, data: c.numbersFor(data)}, nil
}

// arrangement holds the model's first n hyperplanes, now that their dimension is
// known.
func (m *Model) arrangement(dim, n int) (*regions.Arrangement, error) {
	for l := range n {
		of := m.guards.Arr.Latents(l)
		if i := of[len(of)-1]; i >= dim && i < len(m.latents) {
			return nil, fmt.Errorf("graph: %v: latent %q was sampled after the model was compiled, and a guard compares it",
				m.latents[i].place, m.latents[i].name)
		}
	}
	return m.guards.Arr.First(n, dim), nil
}

// ArrangementWith is the Arrangement, and after its hyperplanes those of the
// model, up to the last one that the guards need. These may be guards that were
// made after the model was compiled: their Side, Planes and Holds are in terms
// of this arrangement. A guard of another model, or of a latent that was sampled
// after the model was compiled, is an error.
func (d *Density) ArrangementWith(guards ...Guard) (*regions.Arrangement, error) {
	n := d.made().arr.Len()
	for _, g := range guards {
		if lang.Traced(g.value) {
			return nil, errors.New("graph: the guard of a plate is another one in each row: give it a name, and ask Density.Named")
		}
		if !g.Of(d) {
			return nil, errors.New("graph: the guard belongs to another model")
		}
		if g.isNaN() {
			return nil, fmt.Errorf("graph: %w", errNaN)
		}
		if g.comparesMissing() {
			return nil, fmt.Errorf("graph: %w", errMissing)
		}
		if planes := g.Planes(); len(planes) > 0 {
			n = max(n, planes[len(planes)-1]+1)
		}
	}
	if n == d.arr.Len() {
		return d.arr, nil
	}
	return d.from.arrangement(d.Dim(), n)
}

// WithData returns the density of the same program with other observations.
// data gives new values by observation name, as many as there were; names that
// are left out keep their values. A NaN is a missing observation. Nothing is compiled again, unless others are missing than in d.
func (d *Density) WithData(data map[string][]float64) (*Density, error) {
	next := d.Data()
	used := map[string]int{}
	for i, o := range d.m.obs {
		at := used[o.name]
		used[o.name]++
		v, ok := data[o.name]
		if !ok || at >= len(v) {
			continue
		}
		if err := o.replaceable(v[at]); err != nil {
			return nil, fmt.Errorf("graph: %v: observation %q number %d: %w", o.place, o.name, at, err)
		}
		next[i] = v[at]
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		switch n := used[name]; {
		case n == 0:
			return nil, fmt.Errorf("graph: no observation has the name %q; there are %q", name, slices.Sorted(maps.Keys(used)))
		case n != len(data[name]):
			return nil, fmt.Errorf("graph: observation %q: %d values for %d observations", name, len(data[name]), n)
		}
	}
	return d.given(next)
}

// WithObservations is WithData of all observations, in the order of the Observe calls. It keeps the slice.
func (d *Density) WithObservations(data []float64) (*Density, error) {
	obs := d.made().m.obs
	if len(data) != len(obs) {
		return nil, fmt.Errorf("graph: %d values for %d observations", len(data), len(obs))
	}
	for i := range obs {
		if err := obs[i].replaceable(data[i]); err != nil {
			return nil, fmt.Errorf("graph: %v: observation %q, number %d of all: %w", obs[i].place, obs[i].name, i, err)
		}
	}
	return d.given(data)
}

// DataAt are the observations that the program makes at z, in the order of the Observe
// calls: Data, but for those that are missing, and those in If blocks that z does not enter. z has Dim() unconstrained
// coordinates.
func (d *Density) DataAt(z []float64) (data []float64) {
	ev := d.evaluate(z)
	defer ev.Release()
	for i, o := range d.m.obs {
		if !d.isMissing(i) && ev.holds(o.where) {
			data = append(data, d.data[i])
		}
	}
	return data
}
