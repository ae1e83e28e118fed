package expect

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
)

// Rows estimates one program for many rows at once, each with other data and another θ: what a network needs whose outputs are θ. Of a model
// with observations the value of a row is its ELBO in a family of distributions, and of a simulation it is E[f]; the gradient
// is by θ, through the ifs.
//
// θ of a row is free: any finite numbers. A scale is given by its logarithm, and a parameter of the program by its coordinate, the
// logarithm of a positive one and the logit in an interval. Labels says what each of them is.
//
// Rows allocates little and compiles nothing after it is made. It is for one caller at a time, and uses all processors.
type Rows struct {
	d       *graph.Density
	free    []int  // by free coordinate: its position in θ of the family
	isLog   []bool // whether it is the logarithm of that
	labels  []string
	samples int
	seed    uint64
	workers []*rowWorker
	team    *parallel.Team
	batch   batch
	inside  bool // without the boundary part
}

// A batch is what Run was given.
type batch struct {
	step        uint64
	rows        int
	theta, data []float64
	value, grad []float64
}

type rowWorker struct {
	worker
	q family.Q
}

// NewRows returns Rows of so many draws a row, for members of q's family: independent normals if q is nil. A simulation, whose noise has
// laws of its own, has no family. The data of d are those of rows without data of their own.
func NewRows(d *graph.Density, q family.Q, samples int, seed uint64) (*Rows, error) {
	var err error
	switch {
	case samples < 1:
		return nil, fmt.Errorf("expect: %d draws a row; at least 1", samples)
	case d.IsSimulation() && q != nil:
		return nil, errors.New("expect: rows of a simulation, whose noise has laws of its own, and a family for it: give nil")
	case d.IsSimulation():
		q, err = family.Prior{}.New(d)
	case q == nil:
		q, err = family.MeanField{}.New(d)
	}
	if err == nil {
		err = family.Check(q, d)
	}
	if err != nil {
		return nil, fmt.Errorf("expect: %w", err)
	}
	r := &Rows{d: d, samples: samples, seed: seed}
	for k := range q.Theta() {
		p := q.Param(k)
		if p.Is("unit") || d.IsSimulation() && (p.Latent >= d.Params() || !p.Is("μ")) {
			continue
		}
		r.free, r.isLog = append(r.free, k), append(r.isLog, p.Is("s"))
		label := p.Label(d.Latents())
		if p.Is("s") {
			label = "log " + label
		}
		r.labels = append(r.labels, label)
	}
	for range parallel.Processors(math.MaxInt) {
		p, err := gradient.BindValued(d, q, samples, gradient.Boundary{}, true)
		if err != nil {
			return nil, fmt.Errorf("expect: %w", err)
		}
		r.workers = append(r.workers, &rowWorker{
			worker{p, parallel.OwnLines(p.Sampler().Sums()), parallel.OwnLines(len(q.Theta())), parallel.NewRestarted()}, q.Clone(),
		})
	}
	return r, nil
}

// Labels says what each number of a row's θ is: "change μ", "log change s".
func (r *Rows) Labels() []string { return append([]string(nil), r.labels...) }

// Params is how many of a row's θ are parameters of the program: the first ones.
func (r *Rows) Params() int { return r.d.Params() }

// Data is how many observations a row has.
func (r *Rows) Data() int { return len(r.d.Observations()) }

// Free writes θ of a member of the family to dst as a row has it: a network's start, for instance.
func (r *Rows) Free(dst []float64, q family.Q) {
	for i, k := range r.free {
		if dst[i] = q.Theta()[k]; r.isLog[i] {
			dst[i] = math.Log(dst[i])
		}
	}
}

// Member is the member of the family at θ of a row.
func (r *Rows) Member(theta []float64) (family.Q, error) {
	if len(theta) != len(r.labels) {
		return nil, fmt.Errorf("expect: θ of %d numbers; a row has %d: %s", len(theta), len(r.labels), strings.Join(r.labels, ", "))
	}
	q := r.workers[0].q.Clone()
	return q, r.set(q, theta)
}

// Expectation is E[f] of a simulation at θ of a row, for an estimate with standard errors. A model with observations has none.
func (r *Rows) Expectation(theta []float64) (*Expectation, error) {
	if !r.d.IsSimulation() {
		return nil, errors.New("expect: rows of a model with observations have an ELBO, and no expectation")
	}
	if _, err := r.Member(theta); err != nil {
		return nil, err
	}
	return &Expectation{d: r.d, coord: slices.Clone(theta)}, nil
}

// set makes q the member at a row's θ.
func (r *Rows) set(q family.Q, theta []float64) error {
	all := q.Theta()
	for i, x := range theta {
		if r.isLog[i] {
			x = math.Exp(x)
		}
		all[r.free[i]] = x
	}
	q.Set(all)
	if k := q.Fault(); k >= 0 {
		return fmt.Errorf("%s is %v", q.Param(k).Label(r.d.Latents()), all[k])
	}
	return nil
}

// WithoutBoundary leaves out the surface integral from then on, and returns r. What is left is what automatic differentiation
// finds: biased wherever an if makes a jump, for comparisons.
func (r *Rows) WithoutBoundary() *Rows {
	r.inside = true
	return r
}

// Run estimates value and gradient of each row: theta and grad are rows × len(Labels()), data rows × Data(), or nil for those of the density,
// and value has one number for each row. The draws of a row depend on the seed, the step and the row's number alone, so that each step of
// a training takes another. A row that has no estimate, as one with a NaN, gets NaN, and the error
// names it; all others have theirs. NaN in data is an observation that is missing, if it is missing in the density, too.
func (r *Rows) Run(step uint64, theta, data, value, grad []float64) error {
	n, dim, width := len(value), len(r.labels), r.Data()
	if len(theta) != n*dim || len(grad) != n*dim || data != nil && len(data) != n*width {
		return fmt.Errorf("expect: %d rows: %d numbers of θ, %d of its gradient, %d data; want %d, %d and %d",
			n, len(theta), len(grad), len(data), n*dim, n*dim, n*width)
	}
	if r.team == nil || r.batch.rows != n {
		r.team = parallel.NewTeam(min(len(r.workers), max(n, 1)), n, r.row)
	}
	r.batch = batch{step, n, theta, data, value, grad}
	return r.team.Round()
}

// row does row k on worker w.
func (r *Rows) row(w, k int) error {
	b, dim := &r.batch, len(r.labels)
	grad := b.grad[k*dim:][:dim]
	if err := r.workers[w].row(r, k, grad); err != nil {
		b.value[k] = math.NaN()
		for i := range grad {
			grad[i] = math.NaN()
		}
		return fmt.Errorf("expect: row %d: %w", k, err)
	}
	return nil
}

func (w *rowWorker) row(r *Rows, k int, grad []float64) error {
	b, width := &r.batch, r.Data()
	d := r.d
	if b.data != nil {
		var err error
		if d, err = d.WithObservations(b.data[k*width:][:width]); err != nil {
			return err
		}
	}
	theta := b.theta[k*len(grad):][:len(grad)]
	if err := r.set(w.q, theta); err != nil {
		return err
	}
	if err := w.parts.SetData(d); err != nil {
		return differs(d, r.d, err)
	}
	w.parts.Locate(w.q)
	clear(w.sums)
	if err := w.parts.Run(w.rng.At(parallel.Mix(r.seed, b.step), k)); err != nil {
		return err
	}
	value := w.parts.Value() / float64(r.samples)
	if r.inside {
		w.parts.AddInside(w.sums)
	} else {
		w.parts.AddAll(w.sums)
	}
	w.parts.Sampler().Finish(w.grad, w.sums, r.samples)
	all := w.q.Theta()
	for i, at := range r.free {
		if grad[i] = w.grad[at]; r.isLog[i] {
			grad[i] *= all[at]
		}
		value += 0 * grad[i] // NaN where that is not finite
	}
	if value-value != 0 {
		if why := gradient.Blame(d, w.q); why != "" {
			return errors.New(why)
		}
		return gradient.ErrNotFinite
	}
	b.value[k] = value
	return nil
}

// differs is why a row's density d is not of the program of own: NaN, an observation that is missing, changes it. Else it is err.
func differs(d, own *graph.Density, err error) error {
	data, names := d.Data(), d.Observations()
	for i, x := range own.Data() {
		if math.IsNaN(x) != math.IsNaN(data[i]) {
			return fmt.Errorf("observation %q, number %d of all, is %v, and %v in the density: in rows the same ones are missing, as NaN, as there",
				names[i], i, data[i], x)
		}
	}
	return err
}
