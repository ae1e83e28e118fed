package vi

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

// Posterior is a fitted variational posterior.
type Posterior struct {
	Density   *graph.Density
	Q         MeanField
	Steps     int          // steps taken
	Optimizer *Adam        // the optimiser's state, with which a fit can go on
	Trace     []TracePoint // the ELBO on the way
	Restarts  []Restart    // all fits, of which this is the best
	Warnings  []string     // what to know before trusting the fit
	Settings  Settings     // of the fit, defaults filled in

	states []fitState // of the restarts, to go on from
}

// coordinate returns the number of the latent, or an error that names it.
func (p *Posterior) coordinate(name string) (int, error) {
	i, ok := p.Density.Latent(name)
	if !ok {
		return 0, fmt.Errorf("vi: no latent %q in the model", name)
	}
	return i, nil
}

// Mean is the posterior mean of the latent with the given name, on the
// program's own scale.
func (p *Posterior) Mean(name string) (float64, error) {
	i, err := p.coordinate(name)
	if err != nil {
		return math.NaN(), err
	}
	m, _ := p.meanSD(i)
	return m, nil
}

// SD is the posterior standard deviation of the latent with the given name, on
// the program's own scale.
func (p *Posterior) SD(name string) (float64, error) {
	i, err := p.coordinate(name)
	if err != nil {
		return math.NaN(), err
	}
	_, sd := p.meanSD(i)
	return sd, nil
}

// meanSD integrates a transformed latent by Gauss–Hermite quadrature.
func (p *Posterior) meanSD(i int) (mean, sd float64) {
	mu, s := p.Q.Mu[i], softplus(p.Q.Rho[i])
	if !p.Density.Transformed(i) {
		return mu, s
	}
	const nodes = 64
	x, w := make([]float64, nodes), make([]float64, nodes)
	quad.Hermite{}.FixedLocations(x, w, math.Inf(-1), math.Inf(1))
	v := make([]float64, nodes)
	for k := range x { // ∫ f(x) e^{−x²} dx, over √π
		v[k] = p.Density.ConstrainOne(i, mu+math.Sqrt2*s*x[k])
		w[k] /= math.Sqrt(math.Pi)
		mean += w[k] * v[k]
	}
	for k := range v {
		sd += w[k] * (v[k] - mean) * (v[k] - mean)
	}
	return mean, math.Sqrt(sd)
}

// Quantile is the quantile of the latent with the given name at probability
// prob, on the program's own scale.
func (p *Posterior) Quantile(name string, prob float64) (float64, error) {
	i, err := p.coordinate(name)
	if err != nil {
		return math.NaN(), err
	}
	if !(prob > 0 && prob < 1) {
		return math.NaN(), fmt.Errorf("vi: quantile at probability %v", prob)
	}
	return p.quantile(i, prob), nil
}

func (p *Posterior) quantile(i int, prob float64) float64 {
	u := p.Q.Mu[i] + softplus(p.Q.Rho[i])*distuv.UnitNormal.Quantile(prob)
	return p.Density.ConstrainOne(i, u) // transforms are increasing
}

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

// Prob is the posterior probability that g holds, which is any guard that was
// made with the model, used in an If or not. A comparison is exact, and so are
// And and Or of comparisons that are each of one latent with a number. Others
// are estimated from 100 000 draws, with standard error below 0.0016.
func (p *Posterior) Prob(g graph.Guard) (float64, error) {
	if !g.Of(p.Density) {
		return math.NaN(), fmt.Errorf("vi: the guard belongs to another model")
	}
	return p.probs([]graph.Guard{g})[0], nil
}

// probs is Prob of many guards, And and Or from the same draws.
func (p *Posterior) probs(guards []graph.Guard) []float64 {
	out := make([]float64, len(guards))
	var compound []int
	for i, g := range guards {
		if side, ok := g.Side(); ok {
			out[i] = p.sideProb(side)
		} else if prob, ok := p.probExact(g); ok {
			out[i] = prob
		} else {
			compound = append(compound, i)
		}
	}
	if len(compound) == 0 {
		return out
	}
	const n = 100000
	rng := newRand(0)
	for range n {
		signs := p.Density.Arrangement().Signs(p.unconstrained(rng))
		for _, i := range compound {
			if guards[i].Holds(signs) {
				out[i]++
			}
		}
	}
	for _, i := range compound {
		out[i] /= n
	}
	return out
}

// sideProb is the probability of one side of a hyperplane: Φ(z) is normal.
func (p *Posterior) sideProb(side regions.Side) float64 {
	h := p.Density.Arrangement().Plane(side.Plane)
	mean, sd := p.normal(h)
	x := mean / sd
	if !side.Positive {
		x = -x
	}
	return distuv.UnitNormal.CDF(x)
}

// ELBO estimates the fit's ELBO; see ELBO, and RareSides for what samples miss.
func (p *Posterior) ELBO(samples int, seed uint64) (Estimate, error) {
	return ELBO(p.Density, p.Q, samples, seed)
}
