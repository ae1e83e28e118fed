package graph

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lang"
	"github.com/facetvi/facet/regions"
)

// A Density is a compiled model: the unnormalised log posterior density log r
// of the unconstrained latents z, given a sign for each guard, and its
// gradient. It is immutable and safe for concurrent use. The methods of a nil
// Density panic.
type Density struct {
	*compiled
	data   []float64 // with numbers in place of what is missing
	params []float64 // where they start, in coordinates; nil for where the program says
	loose  bool      // they have a distribution in Residuals

	points, slopes sync.Pool // executors of one sample, of log r and of its gradient
}

// compiled is what densities with different data share.
type compiled struct {
	prog  *Program
	st    *ir.Store
	m     *Model // the program, as it was
	from  *Model // the user's, which may go on
	arr   *regions.Arrangement
	names []string
	index map[string]int
	cache sync.Map

	terms   []modelTerm // of the program, with those of missing observations
	missing []bool      // by observation; nil if none is

	centred map[int][]int // see Centring: by centred latent, the others in its prior's term

	nodes       ir.Nodes // the store as Compile found it: never written again
	fingerprint func() string
	source      func() *derive.Source
}

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

// made is what Compile made. It panics if there is nothing.
func (d *Density) made() *compiled {
	if d == nil || d.compiled == nil {
		panic("graph: a nil density")
	}
	return d.compiled
}

// checkLen panics unless z has a coordinate for each latent.
func (d *Density) checkLen(z []float64) {
	if len(z) != d.Dim() {
		panic(fmt.Sprintf("graph: %d coordinates for %d latents", len(z), d.Dim()))
	}
}

// Dim is the number of latents.
func (d *Density) Dim() int { return len(d.made().names) }

// Latents are the names of the latents, in the order of their Sample calls,
// which is the order of the coordinates of z.
func (d *Density) Latents() []string { return slices.Clone(d.made().names) }

// Latent is the coordinate of the latent with the given name.
func (d *Density) Latent(name string) (int, bool) {
	i, ok := d.made().index[name]
	return i, ok
}

// Arrangement holds the hyperplanes of the model's guards, coincident ones
// merged. Its signs are in the order in which the planes were first used.
func (d *Density) Arrangement() *regions.Arrangement { return d.made().arr }

// Terms is the number of terms of log r, of which like ones are one.
func (d *Density) Terms() int { return len(d.made().prog.Outs[0].Terms) }

// Constrain maps z, Dim unconstrained coordinates, to the values that the
// program's latents have there. It panics unless len(z) is Dim().
func (d *Density) Constrain(z []float64) []float64 {
	d.checkLen(z)
	x := make([]float64, len(z))
	for i := range z {
		x[i] = d.Coordinate(i).Value(z[i])
	}
	return x
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

// Data are the observations in the order of the Observe calls, NaN where one is missing.
func (d *Density) Data() []float64 {
	d.made()
	data := slices.Clone(d.data)
	for i := range data {
		if d.isMissing(i) {
			data[i] = math.NaN()
		}
	}
	return data
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

// Graph returns the Gorgonia graph of log r and its gradient for n samples, built anew: the caller may extend it and run it on any machine of
// Gorgonia's. Feed Data with the observations in the order of the Observe calls; the graph's other constants have values.
func (d *Density) Graph(n int) (*Graph, error) { return d.Program().Graph(n) }

// Program is that of log r, to count its nodes and to draw it (DOT).
func (d *Density) Program() *Program { return d.made().prog }

// Executor returns an executor of the density for batches of n samples.
func (d *Density) Executor(n int, w Compute) (*Executor, error) {
	return d.made().prog.Executor(n, w, d.data)
}

// Feed lets x, made with Compute.NewData, run with the observations of d, a density of the
// same program. It allocates nothing.
func (d *Density) Feed(x *Executor) error { return x.Feed(d.data, d.made().st) }

// LogProb is log r at z in its own region. Many points are faster in an Executor of batches.
func (d *Density) LogProb(z []float64) (float64, error) {
	if len(z) != d.Dim() {
		return 0, fmt.Errorf("graph: %d coordinates for %d latents", len(z), d.Dim())
	}
	return d.LogProbAt(z, d.arr.Signs(z))
}

// LogProbAt is log r at z with the signs of all guards forced.
func (d *Density) LogProbAt(z []float64, s regions.Signs) (logProb float64, err error) {
	err = d.at(z, s, Compute{Out: true}, func(x *Executor) { logProb = x.Out[0] })
	return logProb, err
}

// GradAt is the gradient of log r at z with the signs of all guards forced.
func (d *Density) GradAt(z []float64, s regions.Signs) (grad []float64, err error) {
	err = d.at(z, s, Compute{Grad: true}, func(x *Executor) { grad = slices.Clone(x.Grad) })
	return grad, err
}

// at calls use with an executor of one sample, one that is idle or a new one, that has run at z.
func (d *Density) at(z []float64, s regions.Signs, w Compute, use func(x *Executor)) (err error) {
	if len(z) != d.Dim() || s.Len() != d.arr.Len() {
		return fmt.Errorf("graph: %d coordinates and %d signs for %d latents and %d hyperplanes",
			len(z), s.Len(), d.Dim(), d.arr.Len())
	}
	idle := &d.points
	if w.Grad {
		idle = &d.slopes
	}
	x, ok := idle.Get().(*Executor)
	if !ok {
		if x, err = d.Executor(1, w); err != nil {
			return err
		}
	}
	defer idle.Put(x)
	copy(x.Z, z)
	s.Floats(x.Signs)
	if err := x.Run(); err != nil {
		return err
	}
	use(x)
	return nil
}
