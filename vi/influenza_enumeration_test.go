package vi

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
)

// influenzaExact is the exact posterior of influenza, region by region.
//
// Given the signs s_0, …, s_12 of f_0, …, f_12 the mortality is linear and
// normal in v and w, and no longer depends on f. And f_i depends on what was
// before only through s_{i−1}. So the integral over a region, that is over half
// a line for each f, falls into a chain of numbers,
//
//	∫ r_σ dz = ½ Π_i Φ(±0.67) · N(obs; m_σ, C_σ),
//
// + if s_i = s_{i−1}. The normal density is a Kalman filter's, with the state
// (a, b, c).
type influenzaExact struct {
	obs []float64
	log []float64 // log ∫ r_σ dz by the bits of σ: bit i is f_i > 0
	z   float64   // log ∫ r dz
	is  []float64 // P(f_i > 0)
}

func newInfluenzaExact(obs []float64) *influenzaExact {
	x := &influenzaExact{obs: obs, log: make([]float64, 2<<len(obs)), is: make([]float64, len(obs)+1)}
	for bits := range x.log {
		x.log[bits] = x.chain(bits) + x.filter(bits)
	}
	x.z = floats.LogSumExp(x.log)
	for bits, l := range x.log {
		for i := range x.is {
			x.is[i] += float64(bits>>i&1) * math.Exp(l-x.z)
		}
	}
	return x
}

// chain is the log probability of the signs under the prior.
func (x *influenzaExact) chain(bits int) float64 {
	sum := math.Log(0.5)
	for i := range x.obs {
		to := 0.67
		if (bits^bits>>1)>>i&1 == 1 {
			to = -to
		}
		sum += math.Log(distuv.UnitNormal.CDF(to))
	}
	return sum
}

// filter is the log density of the mortality given the signs.
func (x *influenzaExact) filter(bits int) float64 {
	var a, b, c float64                // means
	var aa, ab, bb, ac, bc, cc float64 // covariances
	sum := 0.0
	for i, obs := range x.obs {
		aa, ab, bb, ac, bc = 1.406*1.406*aa-2*1.406*0.622*ab+0.622*0.622*bb+0.023*0.023,
			1.406*aa-0.622*ab, aa, -0.312*(1.406*ac-0.622*bc), -0.312*ac
		cc = 0.312*0.312*cc + 0.112*0.112
		a, b, c = 1.406*a-0.622*b, a, 0.21-0.312*c

		mean, va, vb, vc := a, aa, ab, ac // of obs, and its covariances with the state
		if bits>>(i+1)&1 == 0 {
			mean, va, vb, vc = a+c, aa+ac, ab+bc, ac+cc
		}
		variance := va + 0.002*0.002
		if bits>>(i+1)&1 == 0 {
			variance += vc
		}
		r := obs - mean
		sum += distuv.Normal{Sigma: math.Sqrt(variance)}.LogProb(r)
		a, b, c = a+va*r/variance, b+vb*r/variance, c+vc*r/variance
		aa, ab, bb = aa-va*va/variance, ab-va*vb/variance, bb-vb*vb/variance
		ac, bc, cc = ac-va*vc/variance, bc-vb*vc/variance, cc-vc*vc/variance
	}
	return sum
}

// regression is the months' mortality as a linear function of (v, w), given the
// signs: obs_i = rows[i]·(v, w) + constant[i] + noise. It solves the recurrences
// that filter runs.
func (x *influenzaExact) regression(bits int) (rows [][]float64, constant []float64) {
	n := len(x.obs)
	for i := range n {
		row, c := make([]float64, 2*n), 0.0
		h, before, g := 1.0, 0.0, 1.0
		for j := i; j >= 0; j-- {
			row[j] = h
			h, before = 1.406*h-0.622*before, h
			if bits>>(i+1)&1 == 0 {
				row[n+j] = g
				c += 0.21 * g
			}
			g *= -0.312
		}
		rows, constant = append(rows, row), append(constant, c)
	}
	return rows, constant
}

// conditional is the posterior of (v, w) given the signs, a normal.
func (x *influenzaExact) conditional(bits int) (mean *mat.VecDense, precision *mat.SymDense, chol *mat.Cholesky) {
	n := len(x.obs)
	rows, constant := x.regression(bits)
	precision = mat.NewSymDense(2*n, nil)
	rhs := mat.NewVecDense(2*n, nil)
	for i := range n {
		precision.SetSym(i, i, 1/(0.023*0.023))
		precision.SetSym(n+i, n+i, 1/(0.112*0.112))
	}
	for i, row := range rows {
		r := mat.NewVecDense(2*n, row)
		precision.SymRankOne(precision, 1/(0.002*0.002), r)
		rhs.AddScaledVec(rhs, (x.obs[i]-constant[i])/(0.002*0.002), r)
	}
	chol = &mat.Cholesky{}
	if !chol.Factorize(precision) {
		panic("vi: a precision that is not positive")
	}
	mean = &mat.VecDense{}
	if err := chol.SolveVecTo(mean, rhs); err != nil {
		panic(err)
	}
	return mean, precision, chol
}

// penalty is what the family costs in a region: the Kullback–Leibler divergence
// of the best independent normals from the posterior of (v, w) there. A fit
// inside the region has an ELBO of at most log ∫ r_σ dz − penalty.
func (x *influenzaExact) penalty(bits int) float64 {
	_, precision, chol := x.conditional(bits)
	sum := -chol.LogDet()
	for i := range precision.SymmetricDim() {
		sum += math.Log(precision.At(i, i))
	}
	return sum / 2
}

func (x *influenzaExact) decided(i int) bool { return x.is[i] < 0.1 || x.is[i] > 0.9 }

func (x *influenzaExact) pattern(bits int) string {
	text := ""
	for i := range x.is {
		text += map[int]string{0: "-", 1: "+"}[bits>>i&1]
	}
	return text
}

// Chib's identity, at points of random regions: the density that the program
// compiles to is the region's integral times the posterior given the region,
//
//	log r(z) = log ∫ r_σ + log p(v, w | σ, obs) + Σ_i log p(f_i | s_{i−1}, s_i).
//
// The integral comes from the filter, p(v, w | σ, obs) from linear algebra, and
// log r from the library.
func TestInfluenzaRegionIntegrals(t *testing.T) {
	spec, d := paperSpec(t, "influenza")
	x := newInfluenzaExact(models.InfluenzaData())
	rng := rand.New(rand.NewPCG(*seed, 0))
	n := len(x.obs)
	priors := 0.0
	for bits := range x.log {
		priors += math.Exp(x.chain(bits))
	}
	require.InDelta(t, 1, priors, 1e-12)
	for range 100 {
		bits := rng.IntN(len(x.log))
		mean, _, chol := x.conditional(bits)
		var covariance mat.SymDense
		require.NoError(t, chol.InverseTo(&covariance))
		p, ok := distmv.NewNormal(mean.RawVector().Data, &covariance, rng)
		require.True(t, ok)
		vw := p.Rand(nil)
		z := make([]float64, d.Dim())
		want := x.log[bits] + p.LogProb(vw)
		centre := 0.0
		for i := range n + 1 {
			f := math.Abs(rng.NormFloat64())
			if bits>>i&1 == 0 {
				f = -f
			}
			z[3*i] = f
			want += distuv.UnitNormal.LogProb(f-centre) - math.Log(distuv.UnitNormal.CDF(math.Copysign(1, f)*centre))
			centre = math.Copysign(0.67, f)
			if i < n {
				z[3*i+1], z[3*i+2] = vw[i], vw[n+i]
			}
		}
		got, err := d.LogProb(z)
		require.NoError(t, err)
		require.InDelta(t, want, got, 1e-6)
		require.InDelta(t, spec.Oracle.LogDensity(z, models.Natural(z)), got, 1e-9)
	}
}

// levels is influenza in other coordinates: the latents of a month are its two
// possible mortalities, a_i and d_i = a_i + c_i, instead of their noises v_i and
// w_i. The Jacobian is 1, so that it is the same posterior.
func levels(obs []float64) *graph.Model {
	m := graph.NewModel()
	f := m.Sample("f0", graph.Normal(0, 1))
	var a, b, c graph.Expr
	for i, x := range obs {
		name := func(latent string) string { return fmt.Sprintf("%s%d", latent, i+1) }
		a, b = m.Sample(name("a"), graph.Normal(graph.Sub(graph.Mul(1.406, a), graph.Mul(0.622, b)), 0.023)), a
		d := m.Sample(name("d"), graph.Normal(graph.Add(graph.Add(a, 0.21), graph.Mul(-0.312, c)), 0.112))
		c = graph.Sub(d, a)
		f = m.Sample(name("f"), graph.Normal(graph.If(graph.Greater(f, 0), 0.67, -0.67), 1))
		m.Observe("obs", graph.Normal(graph.If(graph.Greater(f, 0), a, d), 0.002), x)
	}
	return m
}

func TestInfluenzaLevelsAreInfluenza(t *testing.T) {
	_, noises := paperSpec(t, "influenza")
	other := mustCompile(t, levels(models.InfluenzaData()))
	rng := rand.New(rand.NewPCG(*seed, 0))
	for range 20 {
		z, y := make([]float64, noises.Dim()), make([]float64, noises.Dim())
		var a, b, c float64
		z[0] = rng.NormFloat64()
		y[0] = z[0]
		for i := range len(models.InfluenzaData()) {
			v, w, f := 0.1*rng.NormFloat64(), 0.1*rng.NormFloat64(), rng.NormFloat64()
			z[3*i+1], z[3*i+2], z[3*i+3] = v, w, f
			a, b = 1.406*a-0.622*b+v, a
			c = -0.312*c + 0.21 + w
			y[3*i+1], y[3*i+2], y[3*i+3] = a, a+c, f
		}
		want, err := noises.LogProb(z)
		require.NoError(t, err)
		got, err := other.LogProb(y)
		require.NoError(t, err)
		require.InEpsilon(t, want, got, 1e-9)
	}
}

// fitInfluenza fits with the defaults, the best of ten restarts, and once more
// with small steps.
func fitInfluenza(t *testing.T, d *graph.Density) *Posterior {
	p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Restarts: 10, Steps: 4000}})
	require.NoError(t, err)
	p, err = Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Start: p.Q, StepSize: 0.001, Steps: 4000}})
	require.NoError(t, err)
	return p
}

// compare tells the exact probability of each guard beside that of Q, and returns
// by how much Q is off.
func (x *influenzaExact) compare(t *testing.T, p *Posterior) (off []float64) {
	report := "guard    exact    fit\n"
	for i, exact := range x.is {
		fit := p.Q.Law(p.Density.Arrangement().Plane(i)).Above(0)
		off = append(off, math.Abs(fit-exact))
		remark := ""
		switch sure := fit < 0.01 || fit > 0.99; {
		case x.decided(i) && off[i] > 0.1:
			remark = "decided, and the fit is on the wrong side"
		case x.decided(i):
			remark = "decided, and the fit agrees"
		case sure:
			remark = "too tight: the fit is sure and the posterior is not"
		}
		report += fmt.Sprintf("f%-2d > 0  %.5f  %.5f  %s\n", i, exact, fit, remark)
	}
	elbo, err := p.ELBO(10_000, *seed)
	require.NoError(t, err)
	t.Logf("log evidence %.4f, ELBO %v\n%s", x.z, elbo, report)
	return off
}

// Every guard that the exact posterior decides, with a probability below 0.1 or
// above 0.9, the fit in coordinates of levels decides alike.
func TestInfluenzaGuardsAgree(t *testing.T) {
	long.Skip(t) // the fit of influenza in internal/posterior is by cells, and is nearer
	x := newInfluenzaExact(models.InfluenzaData())
	p := fitInfluenza(t, mustCompile(t, levels(x.obs)))
	off := x.compare(t, p)
	decided := 0
	for i := range off {
		if x.decided(i) {
			decided++
			require.Less(t, off[i], 0.1, "f%d", i)
		}
	}
	require.Equal(t, 7, decided)
	bits, prob := 0, 1.0 // the most probable region of independent normals
	for i := range x.is {
		up := p.Q.Law(p.Density.Arrangement().Plane(i)).Above(0)
		if up > 0.5 {
			bits |= 1 << i
		}
		prob *= max(up, 1-up)
	}
	exact := math.Exp(x.log[bits] - x.z)
	t.Logf("region %s: exact %.3f, fit %.3f", x.pattern(bits), exact, prob)
	require.Greater(t, prob, exact+0.1, "mean-field is too sure of it")
}

// In the coordinates of noises, which are the paper's, the family itself puts three
// decided guards on the wrong side. Noises add up over the months, so that the
// posterior ties them together; independent normals can follow that only at a
// price, which depends on the region and is larger than what the regions differ
// in: the posterior's own region costs 38 nats, the family's favourite 18, and it
// is only 5 nats less probable. It is not for want of a better optimum: this fits
// from every region that could hold one.
func TestInfluenzaGuardsOfTheNoises(t *testing.T) {
	long.Skip(t)
	spec, d := paperSpec(t, "influenza")
	x := newInfluenzaExact(models.InfluenzaData())
	penalty, order := make([]float64, len(x.log)), make([]int, len(x.log))
	for bits := range penalty {
		penalty[bits], order[bits] = x.penalty(bits), bits
	}
	bound := func(bits int) float64 { return x.log[bits] - penalty[bits] }
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(bound(b), bound(a)) })
	mode := slices.MaxFunc(order, func(a, b int) int { return cmp.Compare(x.log[a], x.log[b]) })

	var best *Posterior
	favourite, elbo, tried := 0, math.Inf(-1), 0
	for _, bits := range order {
		if bound(bits) < elbo {
			break
		}
		if bits&1 == 1 {
			continue // f0 is undecided: a fit covers both of its sides
		}
		tried++
		start := x.start(bits)
		p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Start: start, StepSize: 0.001, Steps: 4000}})
		require.NoError(t, err)
		if e := exactELBO(t, spec, d, p.Q); e > elbo {
			best, favourite, elbo = p, bits, e
		}
	}
	off := x.compare(t, best)
	t.Logf("ELBO %.3f, the best of fits from %d regions: region %s has probability %.4f and costs %.2f nats; the posterior's region %s has %.4f, costs %.2f, and bounds the ELBO by %.3f",
		elbo, tried, x.pattern(favourite), math.Exp(x.log[favourite]-x.z), penalty[favourite],
		x.pattern(mode), math.Exp(x.log[mode]-x.z), penalty[mode], bound(mode))
	require.Greater(t, tried, 1)
	require.Less(t, bound(mode), elbo-4, "a fit in the posterior's region is worse")
	wrong := []int(nil)
	for i := range off {
		if x.decided(i) && off[i] > 0.1 {
			wrong = append(wrong, i)
		}
	}
	require.Equal(t, []int{10, 11, 12}, wrong, "decided guards on which the family is off")

	search := fitInfluenza(t, d)
	require.Less(t, exactELBO(t, spec, d, search.Q), elbo+0.05, "no start does better")
}

// start is a mean-field normal in a region, with the best normals for (v, w) there.
func (x *influenzaExact) start(bits int) family.Q {
	mean, precision, _ := x.conditional(bits)
	n := len(x.obs)
	mu, sd := make([]float64, 3*n+1), make([]float64, 3*n+1)
	for i := range n + 1 {
		mu[3*i], sd[3*i] = float64(2*(bits>>i&1)-1)*1.3, 0.3
	}
	for i := range n {
		for k, j := range []int{i, n + i} {
			mu[3*i+1+k], sd[3*i+1+k] = mean.AtVec(j), 1/math.Sqrt(precision.At(j, j))
		}
	}
	return family.Independent(mu, sd)
}

// The examples' exact posterior of influenza, from the covariance of the mortality,
// is the one that filter and regression give here.
func TestInfluenzaExactAgrees(t *testing.T) {
	x, exact := newInfluenzaExact(models.InfluenzaData()), models.InfluenzaExact(models.InfluenzaData())
	require.InDelta(t, x.z, exact.LogEvidence, 1e-9)
	require.InDeltaSlice(t, x.is[1:], exact.Guards, 1e-9)
	n := len(x.obs)
	mean, square := make([]float64, 2*n), make([]float64, 2*n)
	for bits, l := range x.log {
		p := math.Exp(l - x.z)
		if p < 1e-12 {
			continue
		}
		at, _, chol := x.conditional(bits)
		var covariance mat.SymDense
		require.NoError(t, chol.InverseTo(&covariance))
		for i := range mean {
			mean[i] += p * at.AtVec(i)
			square[i] += p * (at.AtVec(i)*at.AtVec(i) + covariance.At(i, i))
		}
	}
	for i := range mean {
		sd := math.Sqrt(square[i] - mean[i]*mean[i])
		latent := exact.Latents[3*(i%n)+1+i/n] // v_1, …, w_1, … are v_1, w_1, f_1, v_2, … there
		require.InDelta(t, mean[i], latent.Mean, 1e-7*sd)
		require.InEpsilon(t, sd, latent.SD, 1e-7)
	}
}
