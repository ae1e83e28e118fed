package vi

import (
	"fmt"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
)

// Draws are samples of the posterior. Values[k][i] is draw k of the latent
// Names[i], on the program's own scale.
type Draws struct {
	Names  []string
	Values [][]float64
	index  map[string]int

	// Where the draws come from: z[k] holds draw k's unconstrained coordinates.
	density *graph.Density
	q       MeanField
	z       [][]float64
}

// Of returns all draws of the latent with the given name.
func (d Draws) Of(name string) ([]float64, error) {
	i, ok := d.index[name]
	if !ok {
		return nil, fmt.Errorf("vi: no latent %q among the draws", name)
	}
	out := make([]float64, len(d.Values))
	for k, row := range d.Values {
		out[k] = row[i]
	}
	return out, nil
}

// Draws returns n independent draws; the seed fixes them.
func (p *Posterior) Draws(n int, seed uint64) Draws {
	z := make([][]float64, n)
	rng := newRand(seed)
	for k := range z {
		z[k] = p.unconstrained(rng)
	}
	return p.drawsAt(z)
}

// drawsAt are the draws with the given unconstrained coordinates.
func (p *Posterior) drawsAt(z [][]float64) Draws {
	d := Draws{Names: p.Density.Latents(), Values: make([][]float64, len(z)), index: map[string]int{}}
	for i, name := range d.Names {
		d.index[name] = i
	}
	for k := range z {
		d.Values[k] = p.Density.Constrain(z[k])
	}
	d.density, d.q, d.z = p.Density, p.Q.Clone(), z
	return d
}

func (p *Posterior) unconstrained(rng *rand.Rand) []float64 {
	z := make([]float64, len(p.Q.Mu))
	for i := range z {
		z[i] = p.Q.Mu[i] + softplus(p.Q.Rho[i])*rng.NormFloat64()
	}
	return z
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5851f42d4c957f2d)) }
