package graph

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/ir"
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
