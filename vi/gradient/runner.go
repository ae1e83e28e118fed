package gradient

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// A Runner estimates ∇ELBO with a fixed number of samples, again and again,
// without allocating. It is for one caller at a time, and uses all processors.
type Runner struct {
	dim     int
	cut     mc.Blocks
	blocks  []block
	workers []blockWorkers
	team    *mc.Team
	q       family.Q // while it estimates
	round   int
	from    int // estimates that another Runner has made before
	g       []float64
}

// block is what stays with a block of samples.
type block struct {
	pcg  *rand.PCG
	rng  *rand.Rand
	sums []float64
}

// blockWorkers are one goroutine's: for full blocks and for the last one.
type blockWorkers struct{ full, rest located }

// located is a worker that has taken on q in a round.
type located struct {
	Worker
	round int
}

// CheckSamples reports a number of samples that a Runner for q cannot have: there is
// a random stream, and sums of the length of θ, for each block of them.
func CheckSamples(q family.Q, samples int) error {
	if samples < 1 {
		return fmt.Errorf("%d samples; a gradient needs 1", samples)
	}
	blocks := float64(mc.Cut(samples, q.Dim()).Len())
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
	r := &Runner{dim: d.Dim(), cut: mc.Cut(samples, d.Dim()), g: make([]float64, len(q.Theta()))}
	sums := 0
	bind := func(n int) (w located, err error) {
		if n > 0 {
			if w.Worker, err = e.Bind(d, q, n); err == nil {
				sums = w.Sampler().Sums()
			}
		}
		return w, err
	}
	for range mc.Processors(r.cut.Len()) {
		full, err := bind(fullWidth(r.cut))
		if err != nil {
			return nil, err
		}
		rest, err := bind(samples % r.cut.Size)
		if err != nil {
			return nil, err
		}
		r.workers = append(r.workers, blockWorkers{full, rest})
	}
	for b := range r.cut.Len() {
		pcg := mc.Stream(seed, b)
		r.blocks = append(r.blocks, block{pcg, rand.New(pcg), mc.OwnLines(sums)})
	}
	r.team = mc.NewTeam(len(r.workers), len(r.blocks), r.block)
	return r, nil
}

// fullWidth is the width of full blocks, 0 if there are none.
func fullWidth(b mc.Blocks) int {
	if b.N < b.Size {
		return 0
	}
	return b.Size
}

// Estimate returns an estimate of ∇ELBO with respect to θ at q. The slice is
// overwritten by the next call.
func (r *Runner) Estimate(q family.Q) ([]float64, error) {
	r.q = q
	r.round++
	if err := r.team.Round(); err != nil {
		return nil, err
	}
	sums := r.blocks[0].sums
	for _, b := range r.blocks[1:] {
		for i, x := range b.sums {
			sums[i] += x
		}
	}
	r.sampler().Finish(r.g, sums, r.cut.N)
	return r.g, nil
}

// sampler is one that has taken on q in this round.
func (r *Runner) sampler() family.Sampler {
	for k := range r.workers {
		for _, w := range [...]*located{&r.workers[k].full, &r.workers[k].rest} {
			if w.Worker != nil && w.round == r.round {
				return w.Sampler()
			}
		}
	}
	panic("gradient: no worker has done a block")
}

// block computes block b on goroutine w.
func (r *Runner) block(w, b int) error {
	wk := &r.workers[w].full
	if r.cut.Width(b) < r.cut.Size {
		wk = &r.workers[w].rest
	}
	if wk.round != r.round {
		wk.Locate(r.q)
		wk.round = r.round
	}
	if t, turns := wk.Worker.(Turner); turns {
		t.At((r.from+r.round-1)*len(r.blocks) + b)
	}
	bl := &r.blocks[b]
	clear(bl.sums)
	return wk.Add(bl.sums, bl.rng)
}

// From says that so many estimates have been made before, which a Turner must know.
func (r *Runner) From(estimates int) { r.from = estimates - r.round }

// Restart puts the random streams where seed says, as if no estimate had been made.
func (r *Runner) Restart(seed uint64) {
	r.From(0)
	for b := range r.blocks {
		mc.Reseed(r.blocks[b].pcg, seed, b)
	}
}

// Streams are the states of the random streams.
func (r *Runner) Streams() [][]byte {
	var all [][]byte
	for _, b := range r.blocks {
		state, _ := b.pcg.MarshalBinary() // never fails
		all = append(all, state)
	}
	return all
}

// SetStreams goes on from the states that Streams returned.
func (r *Runner) SetStreams(all [][]byte) error {
	if err := CheckStreams(all, r.cut.N, r.dim); err != nil {
		return err
	}
	for b, state := range all {
		_ = r.blocks[b].pcg.UnmarshalBinary(state) // as checked
	}
	return nil
}

// CheckStreams reports states that are not those of the random streams of a Runner
// for that many samples and latents.
func CheckStreams(all [][]byte, samples, dim int) error {
	if want := mc.Cut(samples, dim).Len(); len(all) != want {
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
	rng := mc.NewRand(0)
	for range 1000 {
		q.Rand(z, rng)
		if term, v, ok := d.NonFinite(z); ok {
			what := fmt.Sprintf("%s is %v", term, v)
			if region := d.Arrangement().Signs(z).String(); region != "" {
				what += " in region " + shorten(region)
			}
			return what
		}
	}
	return blameGuard(d, q)
}

// blameGuard is Blame of a guard.
func blameGuard(d *graph.Density, q family.Q) string {
	const n = 16
	p, err := BindParts(d, q, n, Boundary{})
	if err != nil || p.Run(mc.NewRand(0)) != nil {
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

func shorten(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
