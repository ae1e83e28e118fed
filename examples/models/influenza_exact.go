package models

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models/exact"
)

// InfluenzaExact is the posterior of [Influenza], a sum over the 2ⁿ paths of types of its n months. Given the path σ of
// f_1, …, f_n the mortality is normal and no longer depends on f,
//
//	obs ~ N(e∘E[c], Cov(a) + ee'∘Cov(c) + 0.002² I),   e_i = 1 if f_i < 0, else 0
//
// and f_i depends on the past through the side of f_{i−1} alone, so that its path has probability ½ Π Φ(±0.67), + where the
// type stays. It panics if there are no months, or more than 20.
func InfluenzaExact(obs []float64) exact.Posterior {
	if len(obs) == 0 || len(obs) > 20 {
		panic(fmt.Sprintf("models: exact posterior of influenza with %d months, want 1 to 20", len(obs)))
	}
	flu := newInfluenzaPaths(obs)
	logs := make([]float64, 1<<len(obs))
	for path := range logs {
		logs[path] = flu.prior(path) + flu.given(path).logp
	}
	p := exact.Posterior{LogEvidence: floats.LogSumExp(logs), Guards: make([]float64, len(obs))}
	moments := make([]exact.Mixture, 3*len(obs)+1)
	for path, l := range logs {
		weight := math.Exp(l - p.LogEvidence)
		for i := range obs {
			p.Guards[i] += weight * float64(path>>i&1)
		}
		if weight > 1e-14 {
			flu.add(moments, weight, path)
		}
	}
	p.Latents = exact.All(moments)
	return p
}

// stays is the probability that a month is of its predecessor's type.
var stays = distuv.UnitNormal.CDF(0.67)

// influenzaPaths are the moments of influenza's level a and excess c under the prior, by month. Bit i of a path is f_{i+1} > 0.
type influenzaPaths struct {
	influenza
	level, excess affineMoments
}

// affineMoments are those of affine functions of independent noises of one scale: the functions' coefficients, a row for
// each, their means and covariances.
type affineMoments struct {
	sd   float64
	on   *mat.Dense
	mean []float64
	cov  *mat.SymDense
}

func newInfluenzaPaths(obs []float64) influenzaPaths {
	n := len(obs)
	p := influenzaPaths{influenza: influenza{obs}}
	of := func(sd float64, function func(month int) affine, noise func(month int) int) affineMoments {
		m := affineMoments{sd: sd, on: mat.NewDense(n, n, nil), mean: make([]float64, n), cov: mat.NewSymDense(n, nil)}
		for i := range n {
			f := function(i + 1)
			m.mean[i] = f.constant
			for _, t := range f.terms {
				m.on.Set(i, (t.latent-noise(1))/3, t.coef)
			}
		}
		m.cov.SymOuterK(sd*sd, m.on)
		return m
	}
	p.level = of(0.023, p.influenza.level, p.v)
	p.excess = of(0.112, p.influenza.excess, p.w)
	return p
}

// prior is the log probability of a path.
func (p influenzaPaths) prior(path int) float64 {
	sum := math.Log(0.5)
	for i := 1; i < len(p.obs); i++ {
		sum += math.Log(choose((path>>i^path>>(i-1))&1 == 0, stays, 1-stays))
	}
	return sum
}

// influenzaPath is what follows from a path.
type influenzaPath struct {
	epidemic []float64     // 1 in a month of type 2
	residual *mat.VecDense // of the mortality
	solved   *mat.VecDense // covariance⁻¹ residual
	chol     mat.Cholesky  // of the mortality's covariance
	logp     float64       // the mortality's log density
}

// given is the mortality's distribution given the path.
func (p influenzaPaths) given(path int) *influenzaPath {
	n := len(p.obs)
	g := &influenzaPath{epidemic: make([]float64, n), residual: mat.NewVecDense(n, nil), solved: mat.NewVecDense(n, nil)}
	cov := mat.NewSymDense(n, nil)
	for i, obs := range p.obs {
		g.epidemic[i] = float64(1 - path>>i&1)
		g.residual.SetVec(i, obs-p.level.mean[i]-g.epidemic[i]*p.excess.mean[i])
		for j := range i + 1 {
			cov.SetSym(i, j, p.level.cov.At(i, j)+g.epidemic[i]*g.epidemic[j]*p.excess.cov.At(i, j))
		}
		cov.SetSym(i, i, cov.At(i, i)+0.002*0.002)
	}
	if !g.chol.Factorize(cov) {
		panic("models: the mortality's covariance is singular")
	}
	if err := g.chol.SolveVecTo(g.solved, g.residual); err != nil {
		panic(err)
	}
	g.logp = -0.5*(mat.Dot(g.residual, g.solved)+g.chol.LogDet()) - float64(n)*logSqrt2Pi
	return g
}

// add adds a path's moments of all latents.
func (p influenzaPaths) add(moments []exact.Mixture, weight float64, path int) {
	g := p.given(path)
	n := len(p.obs)
	for month := 1; month <= n; month++ {
		level, excess := make([]float64, n), make([]float64, n) // covariances of the month's noises with the mortality
		for i := range n {
			level[i] = p.level.sd * p.level.sd * p.level.on.At(i, month-1)
			excess[i] = g.epidemic[i] * p.excess.sd * p.excess.sd * p.excess.on.At(i, month-1)
		}
		mean, variance := g.noise(p.level.sd, level)
		moments[p.v(month)].Add(weight, mean, variance)
		mean, variance = g.noise(p.excess.sd, excess)
		moments[p.w(month)].Add(weight, mean, variance)
	}
	// f_0 is on f_1's side with probability stays.
	first := choose(path&1 == 1, stays, 1-stays)
	for _, side := range []struct {
		weight float64
		above  bool
	}{{first, true}, {1 - first, false}} {
		mean, variance := half(0, side.above)
		moments[0].Add(weight*side.weight, mean, variance)
		mean, variance = half(choose(side.above, 0.67, -0.67), path&1 == 1)
		moments[p.f(1)].Add(weight*side.weight, mean, variance)
	}
	for i := 1; i < n; i++ {
		mean, variance := half(choose(path>>(i-1)&1 == 1, 0.67, -0.67), path>>i&1 == 1)
		moments[p.f(i+1)].Add(weight, mean, variance)
	}
}

// noise is the posterior mean and variance of a noise N(0, sd²) that has these covariances with the mortality.
func (g *influenzaPath) noise(sd float64, covariance []float64) (mean, variance float64) {
	c := mat.NewVecDense(len(covariance), covariance)
	var solved mat.VecDense
	if err := g.chol.SolveVecTo(&solved, c); err != nil {
		panic(err)
	}
	return mat.Dot(c, g.solved), sd*sd - mat.Dot(c, &solved)
}

// half is the mean and variance of N(centre, 1) on one side of 0.
func half(centre float64, above bool) (mean, variance float64) {
	lo, hi := math.Inf(-1), 0.0
	if above {
		lo, hi = 0, math.Inf(1)
	}
	_, mean, variance = exact.Truncated(centre, 1, lo, hi)
	return mean, variance
}
