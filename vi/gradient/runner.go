package gradient

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
)

// A Runner estimates ∇ELBO with a fixed number of samples, again and again,
// without allocating. It is for one caller at a time, and uses all processors.
type Runner struct {
	dim   int
	pool  *parallel.Pool[Worker]
	sums  [][]float64 // by block
	q     family.Q    // while it estimates
	first Worker      // of block 0
	from  int         // estimates that another Runner has made before
	g     []float64
}

// CheckSamples reports a number of samples that a Runner for q cannot have: there is
// a random stream, and sums of the length of θ, for each block of them.
func CheckSamples(q family.Q, samples int) error {
	if samples < 1 {
		return fmt.Errorf("%d samples; a gradient needs 1", samples)
	}
	blocks := float64(parallel.Cut(samples, q.Dim()).Len())
	return memory.Check(fmt.Sprintf("%d samples", samples), blocks*(500+8*float64(len(q.Theta()))))
}

// NewRunner returns a Runner for members of q's family. The random streams start
// where seed says.
func NewRunner(d *graph.Density, q family.Q, e Estimator, samples int, seed uint64) (*Runner, error) {
	err := family.Check(q, d)
	if err == nil {
		err = CheckSamples(q, samples)
	}
	if err != nil {
		return nil, fmt.Errorf("gradient: %w", err)
	}
	if e == nil {
		return nil, errors.New("gradient: no estimator")
	}
	r := &Runner{dim: d.Dim(), g: make([]float64, len(q.Theta()))}
	cut, sums := parallel.Cut(samples, d.Dim()), 0
	bind := func(n int) (Worker, error) {
		w, err := e.Bind(d, q, n)
		if err == nil {
			sums = w.Sampler().Sums()
		}
		return w, err
	}
	if r.pool, err = parallel.NewPool(cut, parallel.Processors(cut.Len()), seed, bind, func(w Worker) { w.Locate(r.q) }, r.block); err != nil {
		return nil, err
	}
	for range cut.Len() {
		r.sums = append(r.sums, parallel.OwnLines(sums))
	}
	return r, nil
}

// Estimate returns an estimate of ∇ELBO with respect to θ at q. The slice is
// overwritten by the next call.
func (r *Runner) Estimate(q family.Q) ([]float64, error) {
	r.q = q
	if err := r.pool.Round(); err != nil {
		return nil, err
	}
	sums := r.sums[0]
	for _, block := range r.sums[1:] {
		for i, x := range block {
			sums[i] += x
		}
	}
	r.first.Sampler().Finish(r.g, sums, r.pool.N)
	return r.g, nil
}

// block computes block b.
func (r *Runner) block(w Worker, b int, rng *rand.Rand) error {
	if t, turns := w.(Turner); turns {
		t.At((r.from+r.pool.Rounds-1)*len(r.sums) + b)
	}
	if b == 0 {
		r.first = w
	}
	clear(r.sums[b])
	return w.Add(r.sums[b], rng)
}

// From says how many estimates have been made before, which a Turner must know.
func (r *Runner) From(estimates int) { r.from = estimates - r.pool.Rounds }

// Restart puts the random streams where seed says, as if no estimate had been made.
func (r *Runner) Restart(seed uint64) {
	r.From(0)
	r.pool.Restart(seed)
}

// Streams are the states of the random streams.
func (r *Runner) Streams() [][]byte { return r.pool.Streams() }

// SetStreams goes on from the states that Streams returned.
func (r *Runner) SetStreams(all [][]byte) error {
	if err := CheckStreams(all, r.pool.N, r.dim); err != nil {
		return err
	}
	r.pool.SetStreams(all)
	return nil
}

// CheckStreams reports states that are not those of the random streams of a Runner
// for that many samples and latents.
func CheckStreams(all [][]byte, samples, dim int) error {
	if want := parallel.Cut(samples, dim).Len(); len(all) != want {
		return fmt.Errorf("%d random streams for %d blocks of samples", len(all), want)
	}
	for b, state := range all {
		if err := new(rand.PCG).UnmarshalBinary(state); err != nil {
			return fmt.Errorf("random stream %d: %w", b, err)
		}
	}
	return nil
}

// ErrNotFinite is wrapped by errors about a gradient with a NaN or an infinity.
var ErrNotFinite = errors.New("the gradient is not finite")

// Blame looks for a term of the model that is not finite at samples from q, or a
// guard on which log r is not, and says which; "" if it finds none.
func Blame(d *graph.Density, q family.Q) string {
	z := make([]float64, q.Dim())
	rng := parallel.NewRand(0)
	for range 1000 {
		q.Rand(z, rng)
		if term, v, of, ok := d.NonFinite(z); ok {
			return fmt.Sprintf("%s is %v at %s", term, v, describe(d, z, of))
		}
	}
	return blameGuard(d, q)
}

// blameGuard is Blame of a guard.
func blameGuard(d *graph.Density, q family.Q) string {
	const n = 16
	p, err := BindParts(d, q, n, Boundary{})
	if err != nil || p.Run(parallel.NewRand(0)) != nil {
		return ""
	}
	for k, x := range p.jumps.Pieces() {
		var jumps []float64
		if jumps = p.batch.Sums(); len(jumps) > 0 {
			jumps = jumps[k : k+1]
		} else if p.surface.Reached(k) {
			jumps = p.batch.Jumps(k)
		}
		for _, v := range jumps {
			if v-v == 0 {
				continue
			}
			g := d.GuardsByPlane()[x.Plane][0]
			return fmt.Sprintf("log r is infinite or has no value at %s, where the guard %v (%s) changes: a density that falls to 0 or rises to ∞ there has no boundary term; compare with a number on the side where it is finite",
				g.Equation(), g, g.Place())
		}
	}
	return ""
}

// describe writes what z is of latents, on the program's scale: a few of them.
func describe(d *graph.Density, z []float64, latents []int) string {
	const most = 4
	var list []string
	for n, i := range latents {
		if n == most {
			list = append(list, "…")
			break
		}
		list = append(list, fmt.Sprintf("%s = %.4g", d.Latents()[i], d.Coordinate(i).Value(z[i])))
	}
	return strings.Join(list, ", ")
}
