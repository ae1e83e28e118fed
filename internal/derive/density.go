package derive

import (
	"fmt"
	"sync"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/lower"
	"github.com/facetvi/facet/regions"
)

// A Density is a compiled density, of which programs are made.
type Density struct {
	*Source
	Data []float64
}

// A Source is what densities with different data share.
type Source struct {
	Terms
	Program  *lower.Program // of log r
	Planes   ir.Algebra
	Required []Required
	Shares   []bool // by latent: the distribution of its residual is known
	Discrete []bool // by latent
	Simple   bool   // it has no parameters, guards that are not affine, and discrete latents whose priors depend on others

	cache sync.Map
}

// Terms are those of log r, and what they are made of.
type Terms struct {
	Nodes       *ir.Nodes
	Arr         *regions.Arrangement
	Dim, Params int
	List        []LogTerm
}

// A LogTerm is a term of log r: the prior of latent Of, or −1.
type LogTerm struct {
	ID ir.ID
	Of int
}

// A Required is a formula that holds wherever a density is not 0, and the planes that it depends on.
type Required struct {
	Holds  ir.ID
	Planes []int
	Place  string
}

// Cached returns what make made for key when it was first asked for it: a
// place for programs that are derived from a model and shared by all its data. Only one is made at a time.
func Cached[T any](d Density, key any, make func() (T, error)) (T, error) {
	if x, ok := d.cache.Load(key); ok {
		return x.(T), nil
	}
	d.Program.Store.Mu.Lock()
	defer d.Program.Store.Mu.Unlock()
	if x, ok := d.cache.Load(key); ok {
		return x.(T), nil
	}
	x, err := make()
	if err == nil {
		d.cache.Store(key, x)
	}
	return x, err
}

// Executor returns an executor of a program derived from this density, or
// from one of the same model with other data.
func (d Density) Executor(p *lower.Program, n int, w lower.Compute) (*lower.Executor, error) {
	if p.Store != d.Program.Store {
		return nil, fmt.Errorf("graph: the program is derived from another model")
	}
	return p.Executor(n, w, d.Data)
}

// Likelihood is the program of log r less the log densities of the latents'
// priors: what observations and factors add to them. Its one output is in the
// order of an Executor's Out; it has no gradient.
func (d Density) Likelihood() (*lower.Program, error) {
	type key struct{}
	return Cached(d, key{}, func() (*lower.Program, error) {
		var terms []ir.Term
		for _, t := range d.List {
			if t.Of < 0 {
				terms = append(terms, ir.Term{Atom: t.ID, Coef: 1})
			}
		}
		return lower.NewProgram(d.Program.Store, []ir.Output{d.Program.Store.Total(0, terms)}, &ir.Output{}, d.Program.Sizes)
	})
}

// Thresholds are the parameters that log r uses in guards alone, ascending: log r depends only on which side of other numbers
// they are.
func (d Density) Thresholds() (list []int) {
	if d.Params == 0 {
		return nil
	}
	var terms []ir.ID
	for _, t := range d.List {
		terms = append(terms, t.ID)
	}
	used, compared := make([]bool, d.Dim), make([]bool, d.Dim)
	for id, is := range ir.Needed(d.Nodes, terms) {
		if is && d.Nodes.Like(ir.ID(id)).Kind == ir.Latent {
			used[d.Nodes.Head(ir.ID(id)).A] = true
		}
	}
	for l := range d.Arr.Len() {
		for _, i := range d.Arr.Latents(l) {
			compared[i] = true
		}
	}
	for i := range d.Params {
		if compared[i] && !used[i] {
			list = append(list, i)
		}
	}
	return list
}
