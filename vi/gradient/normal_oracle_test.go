package gradient_test

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
)

// A normalLaw is N(μ, LLᵀ), the law of z = μ + L·e, by the rows of L.
type normalLaw struct {
	mu   []float64
	root [][]float64
}

// lawOf is the member of f at θ, by the definition of its family: the rows of
// (I − B)⁻¹S, or of (S, U).
func lawOf(f family.Family, parents [][]int, theta []float64) normalLaw {
	n := len(parents)
	low, _ := f.(family.LowRank)
	more := theta[2*n:]
	q := normalLaw{make([]float64, n), make([][]float64, n)}
	for i := range n {
		row := make([]float64, n+low.Rank)
		q.mu[i], row[i] = theta[2*i], theta[2*i+1]
		if f == (family.Softplus{}) {
			row[i] = math.Log1p(math.Exp(row[i]))
		}
		if low.Rank > 0 {
			more = more[copy(row[n:], more[:low.Rank]):]
		} else {
			for _, j := range parentsIn(f, parents, i) {
				floats.AddScaled(row, more[0], q.root[j])
				more = more[1:]
			}
		}
		q.root[i] = row
	}
	return q
}

// parentsIn are the parents of latent i in family f, of a program with the given
// ones.
func parentsIn(f family.Family, parents [][]int, i int) []int {
	switch f.(type) {
	case family.Structured:
		return parents[i]
	case family.FullRank:
		all := make([]int, i)
		for j := range all {
			all[j] = j
		}
		return all
	}
	return nil
}

// covariance is LLᵀ.
func (q normalLaw) covariance() *mat.SymDense {
	cov := mat.NewSymDense(len(q.mu), nil)
	for i, row := range q.root {
		for j := range i + 1 {
			cov.SetSym(i, j, floats.Dot(row, q.root[j]))
		}
	}
	return cov
}

func (q normalLaw) entropy() float64 {
	var c mat.Cholesky
	if !c.Factorize(q.covariance()) {
		return math.NaN()
	}
	return 0.5 * (float64(len(q.mu))*(1+math.Log(2*math.Pi)) + c.LogDet())
}

// of is the law of an affine function: its mean, and the row aᵀL.
func (q normalLaw) of(h regions.Hyperplane) (mean float64, row []float64) {
	row = make([]float64, len(q.root[0]))
	for k, i := range h.Index {
		floats.AddScaled(row, h.Coef[k], q.root[i])
	}
	return h.At(q.mu), row
}

// A term of log r is Π_l 1[gate_l > 0] · f(y), with f(y) = Σ_k power[k]·y^k +
// rate·exp(y), for an affine y. There are at most two gates, and two of them with
// an affine f only.
type term struct {
	gates []regions.Hyperplane
	y     regions.Hyperplane
	power [3]float64
	rate  float64
}

// expect is the term's expectation in closed form, where each gate may see z = f_θ(e)
// at another θ than y does, for the same e. With x_l the mean of gate l
// in its standard deviations, N and φ the normal distribution function and
// density, α and v the mean and variance of y and β_l its covariance with the
// standardised gate,
//
//	E[1[X > 0]·y]  = α·N(x) + β·φ(x)
//	E[1[X > 0]·y²] = (α² + v)·N(x) + (2αβ − β²x)·φ(x)
//	E[1[X > 0]·eʸ] = exp(α + v/2)·N(x + β)
//
// and for two gates Stein's lemma.
func (t term) expect(gate func(regions.Hyperplane) normalLaw, value normalLaw) float64 {
	mean, row := value.of(t.y)
	variance := floats.Dot(row, row)
	x, unit := make([]float64, len(t.gates)), make([][]float64, len(t.gates))
	for l, h := range t.gates {
		m, r := gate(h).of(h)
		sd := floats.Norm(r, 2)
		floats.Scale(1/sd, r)
		x[l], unit[l] = m/sd, r
	}
	switch len(t.gates) {
	case 0:
		return t.power[0] + t.power[1]*mean + t.power[2]*(mean*mean+variance) + t.exponential(mean+variance/2)
	case 1:
		beta, cdf, pdf := floats.Dot(row, unit[0]), normalCDF(x[0]), distuv.UnitNormal.Prob(x[0])
		return t.power[0]*cdf + t.power[1]*(mean*cdf+beta*pdf) +
			t.power[2]*((mean*mean+variance)*cdf+(2*mean-beta*x[0])*beta*pdf) + t.exponential(mean+variance/2)*normalCDF(x[0]+beta)
	}
	rho := floats.Dot(unit[0], unit[1])
	root := math.Sqrt(1 - rho*rho)
	both := orthant(x[0], x[1], rho)
	return t.power[0]*both + t.power[1]*(mean*both+
		floats.Dot(row, unit[0])*distuv.UnitNormal.Prob(x[0])*normalCDF((x[1]-rho*x[0])/root)+
		floats.Dot(row, unit[1])*distuv.UnitNormal.Prob(x[1])*normalCDF((x[0]-rho*x[1])/root))
}

func (t term) exponential(at float64) float64 {
	if t.rate == 0 {
		return 0
	}
	return t.rate * math.Exp(at)
}

func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// orthant is P(X > −x, Y > −y) of standard normals with correlation rho (Plackett):
//
//	N(x)·N(y) + ∫_0^{asin ρ} exp(−(x² + y² − 2xy·sin t)/(2cos²t)) dt/2π
func orthant(x, y, rho float64) float64 {
	top, sum := math.Asin(rho), 0.0
	for k, u := range gaussNodes {
		sin, cos := math.Sincos(0.5 * top * (1 + u))
		sum += gaussWeights[k] * math.Exp(-(x*x+y*y-2*x*y*sin)/(2*cos*cos))
	}
	return normalCDF(x)*normalCDF(y) + top*sum/(4*math.Pi)
}

// gaussNodes and gaussWeights are a rule of Gauss and Legendre on (−1, 1).
var gaussNodes, gaussWeights = func() (x, w []float64) {
	x, w = make([]float64, 24), make([]float64, 24)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}()

// A normalOracle is the exact gradient of the ELBO of a sum of terms under every
// member of a family.
type normalOracle struct {
	terms   []term
	family  family.Family
	parents [][]int // of the program
}

func (o normalOracle) law(theta []float64) normalLaw { return lawOf(o.family, o.parents, theta) }

// eliminates reports whether the family's samples move onto a guard by the noise of one latent, beside which there is other noise.
func (o normalOracle) eliminates() bool {
	return o.family == (family.Structured{}) || o.family == (family.FullRank{})
}

func (o normalOracle) elbo(theta []float64) float64 {
	q := o.law(theta)
	sum := q.entropy()
	for _, t := range o.terms {
		sum += t.expect(always(q), q)
	}
	return sum
}

// always is one law for all gates.
func always(q normalLaw) func(regions.Hyperplane) normalLaw {
	return func(regions.Hyperplane) normalLaw { return q }
}

// gradient is that of elbo in its two parts: with θ of the gates and that of the
// rest apart, the derivative by the first is the boundary part, and that by the
// second the part inside the regions.
func (o normalOracle) gradient(theta []float64) (inside, boundary []float64) {
	inside = o.insideOf(theta, o.terms)
	floats.Add(inside, o.differentiate(theta, []term{{}}, nil, func(_ term, moved, _ normalLaw) float64 { return moved.entropy() }))
	return inside, o.boundaryOf(theta, func(regions.Hyperplane) bool { return true })
}

// insideOf is the part of terms inside the regions.
func (o normalOracle) insideOf(theta []float64, terms []term) []float64 {
	return o.differentiate(theta, terms, func(t term) []regions.Hyperplane { return []regions.Hyperplane{t.y} },
		func(t term, moved, at normalLaw) float64 { return t.expect(always(at), moved) })
}

// boundaryOf is the boundary part of some gates.
func (o normalOracle) boundaryOf(theta []float64, gates func(regions.Hyperplane) bool) []float64 {
	return o.differentiate(theta, o.terms, func(t term) []regions.Hyperplane { return t.gates },
		func(t term, moved, at normalLaw) float64 {
			return t.expect(func(h regions.Hyperplane) normalLaw {
				if gates(h) {
					return moved
				}
				return at
			}, at)
		})
}

// unseen is the part inside the regions that the sides of gates with less than the
// given probability bring: what an average misses over draws that are on none of
// them.
func (o normalOracle) unseen(theta []float64, prob float64) []float64 {
	at, terms := o.law(theta), []term(nil)
	for _, t := range o.terms {
		common, changed, open := t, false, true
		common.gates = nil
		for _, h := range t.gates {
			mean, row := at.of(h)
			switch x := mean / floats.Norm(row, 2); {
			case normalCDF(x) < prob:
				changed, open = true, false
			case normalCDF(-x) < prob:
				changed = true
			default:
				common.gates = append(common.gates, h)
			}
		}
		if !changed {
			continue
		}
		terms = append(terms, t)
		if open {
			for k := range common.power {
				common.power[k] *= -1
			}
			common.rate *= -1
			terms = append(terms, common)
		}
	}
	return o.insideOf(theta, terms)
}

// thin is the boundary part of the gates on one latent where the weights of n
// samples by elimination are worth fewer than 1000 of them: the weight is the
// density of the latent given all noise but its own, and where that is much
// narrower than the latent itself, hardly any sample has a weight that counts.
func (o normalOracle) thin(theta []float64, n float64) []float64 {
	q := o.law(theta)
	return o.boundaryOf(theta, func(h regions.Hyperplane) bool {
		mean, row := q.of(h)
		own := row[h.Index[0]]
		return n < 1000*weightSpread(mean, own*own, floats.Dot(row, row)-own*own)
	})
}

// weightSpread is E[w²]/E[w]² of the weight w = N(0; mean + x, own), x ~ N(0, rest),
// given variances.
func weightSpread(mean, own, rest float64) float64 {
	return (own + rest) / math.Sqrt(own*(own+2*rest)) * math.Exp(mean*mean*(1/(own+rest)-1/(own+2*rest)))
}

// differentiate is the gradient by θ of Σ value(term, law at θ, law at the given θ),
// by central differences in steps of 1e-4 of the latents' scales. A term with uses
// changes only where those do.
func (o normalOracle) differentiate(
	theta []float64, terms []term, uses func(term) []regions.Hyperplane, value func(t term, moved, at normalLaw) float64,
) []float64 {
	const h = 1e-4
	at, scale, g := o.law(theta), parameterScales(o.family, o.parents, theta), make([]float64, len(theta))
	err := parallel.Do(parallel.Processors(len(g)), len(g), func(_, k int) error {
		moved := func(by float64) normalLaw {
			to := slices.Clone(theta)
			to[k] += by * scale[k]
			return o.law(to)
		}
		up, down := moved(h), moved(-h)
		differs := up.differs(at)
		for _, t := range terms {
			if uses == nil || slices.ContainsFunc(uses(t), differs) {
				g[k] += (value(t, up, at) - value(t, down, at)) / (2 * h * scale[k])
			}
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return g
}

// differs tells which affine functions do not have the same law under both.
func (q normalLaw) differs(o normalLaw) func(h regions.Hyperplane) bool {
	changed := make([]bool, len(q.mu))
	for i := range changed {
		changed[i] = q.mu[i] != o.mu[i] || !slices.Equal(q.root[i], o.root[i])
	}
	return func(h regions.Hyperplane) bool {
		return slices.ContainsFunc(h.Index, func(i int) bool { return changed[i] })
	}
}

// parameterScales are how far the parameters of f go for a latent to move by
// about a standard deviation.
func parameterScales(f family.Family, parents [][]int, theta []float64) []float64 {
	n := len(parents)
	scale, s := make([]float64, 0, len(theta)), make([]float64, n)
	for i := range n {
		s[i] = theta[2*i+1]
		byRho := s[i]
		if f == (family.Softplus{}) {
			s[i] = math.Log1p(math.Exp(theta[2*i+1]))
			byRho = s[i] / -math.Expm1(-s[i])
		}
		scale = append(scale, s[i], byRho)
	}
	low, _ := f.(family.LowRank)
	for i := range n {
		for _, j := range parentsIn(f, parents, i) {
			scale = append(scale, s[i]/s[j])
		}
		scale = append(scale, slices.Repeat([]float64{s[i]}, low.Rank)...)
	}
	return scale
}
