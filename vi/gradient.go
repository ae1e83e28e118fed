package vi

import (
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
)

// gradienter estimates ∇ELBO with a fixed number of samples, again and again,
// without allocating.
type gradienter struct {
	d *graph.Density
	split
	mu, s   []float64
	slope   []float64 // ds/dρ
	workers []*blockWorkers
	state   []*block
	g       []float64 // θ's gradient, interleaved
	crew    *crew
}

// blockWorkers are one goroutine's: for full blocks and for the last one.
type blockWorkers struct {
	full, rest worker
	eps        []float64
}

// block is what stays with a block of samples.
type block struct {
	pcg         *rand.PCG
	rng         *rand.Rand
	gMu, gScale []float64
}

func newGradienter(d *graph.Density, e Estimator, samples int, seed uint64) (*gradienter, error) {
	dim := d.Dim()
	g := &gradienter{
		d: d, split: splitOf(samples, dim), mu: make([]float64, dim), s: make([]float64, dim), slope: make([]float64, dim),
		g: make([]float64, 2*dim),
	}
	for b := range g.split.blocks() {
		pcg := stream(seed, b)
		g.state = append(g.state, &block{pcg, rand.New(pcg), ownLines(dim), ownLines(dim)})
	}
	for range workers(len(g.state)) {
		w := &blockWorkers{eps: make([]float64, dim*min(g.size, samples))}
		var err error
		if samples >= g.size {
			if w.full, err = e.bind(d, g.size); err != nil {
				return nil, err
			}
		}
		if rest := samples % g.size; rest > 0 {
			if w.rest, err = e.bind(d, rest); err != nil {
				return nil, err
			}
		}
		g.workers = append(g.workers, w)
	}
	g.crew = newCrew(len(g.workers), len(g.state), g.block)
	return g, nil
}

// estimate returns an estimate of ∇ELBO with respect to θ = (μ_0, ρ_0, μ_1, …)
// at q. The slice is overwritten by the next call.
func (g *gradienter) estimate(q MeanField) ([]float64, error) {
	copy(g.mu, q.Mu)
	for i, r := range q.Rho {
		g.s[i], g.slope[i] = softplusAndSlope(r)
	}
	for _, w := range g.workers {
		if w.full != nil {
			w.full.locate(g.mu, g.s)
		}
		if w.rest != nil {
			w.rest.locate(g.mu, g.s)
		}
	}
	if err := g.crew.round(); err != nil {
		return nil, err
	}
	inv := 1 / float64(g.n)
	for i := range g.mu {
		m, s := 0.0, 0.0
		for _, b := range g.state {
			m += b.gMu[i]
			s += b.gScale[i]
		}
		g.g[2*i] = m * inv
		g.g[2*i+1] = (s*inv + 1/g.s[i]) * g.slope[i] // entropy = Σ log s + …
	}
	return g.g, nil
}

// block computes block b on goroutine w.
func (g *gradienter) block(w, b int) error {
	bw, bl := g.workers[w], g.state[b]
	n, wk := g.width(b), bw.full
	if n < g.size {
		wk = bw.rest
	}
	clear(bl.gMu)
	clear(bl.gScale)
	eps := bw.eps[:len(g.mu)*n]
	draw(g.d, wk.samples(), eps, g.mu, g.s, bl.rng)
	return wk.add(eps, g.mu, g.s, bl.rng, bl.gMu, bl.gScale)
}
