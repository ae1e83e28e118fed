package weighted

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

const (
	enoughDraws = 30  // of a stratum, for a control variate and a variance of its own
	mostErrors  = 5.0 // standard errors that a control variate may be off
)

// Expect estimates the posterior expectation of a function with values f at the draws. known, if not nil, has its exact expectation
// under the part of the proposal that each stratum is drawn from, NaN where there is no closed form; see Known.
//
// Without f the Value is 1, and SE is the standard error of the log evidence.
func (s *Sample) Expect(f []float64, known []float64) mc.Estimate {
	n := float64(s.Len())
	mean := 1.0
	if f != nil {
		if mean = floats.Dot(s.Weights, f); math.IsNaN(mean) { // f may have no value where the posterior is 0
			mean = 0
			for k, w := range s.Weights {
				if w > 0 {
					mean += w * f[k]
				}
			}
		}
	}
	if s.chains > 0 {
		return mc.Estimate{Value: mean, SE: s.chainError(f, mean)}
	}
	variance, shift := 0.0, 0.0 // of the sum over the draws
	var few []int               // draws of small strata
	for j, t := range s.strata {
		if t.len() < enoughDraws {
			for k := t.first; k < t.end; k++ {
				few = append(few, k)
			}
			continue
		}
		c, beta := s.covariances(f, t, mean), 0.0
		if known != nil && !math.IsNaN(known[j]) {
			var by, more float64
			by, beta, more = c.control(known[j], t.len())
			shift -= float64(t.len()) * by
			variance += float64(t.len()) * more
		}
		variance += s.ofSum(f, t, mean, c, beta)
	}
	for k := 1; k < len(few); k += 2 { // neighbours, mostly of one stratum
		off := s.residual(f, few[k], mean) - s.residual(f, few[k-1], mean)
		variance += off * off
	}
	return mc.Estimate{Value: mean + shift/n, SE: math.Sqrt(max(0, variance)) / n}
}

// Known calls f for the part of the proposal that each stratum is drawn from, and returns the values for Expect. It is NaN for a
// part that does not know its law of h exactly, and for a stratum of fewer than 30 draws.
func (s *Sample) Known(h regions.Hyperplane, f func(q family.Q) float64) []float64 {
	list := make([]float64, len(s.strata))
	for j, t := range s.strata {
		if list[j] = math.NaN(); s.chains == 0 && t.len() >= enoughDraws && family.Exact(t.q, h) {
			list[j] = f(t.q)
		}
	}
	return list
}

// residual is n·w·(f − mean) at draw k, or n·w without f.
func (s *Sample) residual(f []float64, k int, mean float64) float64 {
	w := float64(s.Len()) * s.Weights[k]
	if f == nil || w == 0 {
		return w
	}
	return w * (f[k] - mean)
}

// covariances are those of f, the weights w and the residuals e in a stratum.
type covariances struct {
	meanF, meanW   float64
	meanE          float64
	ff, ee, fe, ww float64
	finite         bool
}

func (s *Sample) covariances(f []float64, t stratum, mean float64) (c covariances) {
	n, all := float64(t.len()), float64(s.Len())
	c.meanW, c.ww, c.ee, c.finite = t.meanW, t.ww, t.ww, true
	if f == nil {
		return c
	}
	f, weights := f[t.first:t.end], s.Weights[t.first:t.end]
	c.meanF = f[0]
	rest := slices.IndexFunc(f, func(x float64) bool { return x != f[0] })
	if rest < 0 && !math.IsInf(f[0], 0) { // as of a guard inside a cell
		c.ee = (f[0] - mean) * (f[0] - mean) * t.ww
		return c
	}
	for k, w := range weights {
		c.meanF += (f[k] - f[0]) / n // so that of nearly equal values there is no rounding
		c.finite = c.finite && !math.IsInf(f[k], 0) && !math.IsNaN(f[k])
		if w > 0 {
			c.meanE += all * w * (f[k] - mean) / n
		}
	}
	c.ee = 0
	for k, w := range weights {
		de, df := -c.meanE, f[k]-c.meanF
		if w > 0 {
			de += all * w * (f[k] - mean)
		}
		c.ee += de * de / (n - 1)
		c.ff += df * df / (n - 1)
		c.fe += df * de / (n - 1)
	}
	return c
}

// control is by how much f's average in a stratum of n draws, whose expectation is want, is off in the estimate, the
// coefficient of f in that, and how much variance a draw has beyond that of what is left.
func (c covariances) control(want float64, n int) (by, beta, more float64) {
	off := c.meanF - want
	switch {
	case !c.finite || math.IsInf(want, 0):
		return 0, 0, 0
	case c.ff == 0: // all draws say the same, and the rest is too rare for them
		return c.meanW * off, 0, off * off * c.ww * float64(n)
	case math.Abs(off) > mostErrors*math.Sqrt(c.ff/float64(n)):
		return 0, 0, 0
	}
	beta = c.fe / c.ff
	return beta * off, beta, 0
}

// ofSum is the variance of the sum of the residuals of f over a stratum, less beta times f.
func (s *Sample) ofSum(f []float64, t stratum, mean float64, c covariances, beta float64) float64 {
	switch {
	case f == nil:
		return t.sumsW
	case c.ff == 0 && c.finite:
		return (f[t.first] - mean) * (f[t.first] - mean) * t.sumsW
	}
	n := float64(s.Len())
	return t.ofSum(func(k int) float64 {
		x := -c.meanE
		if beta != 0 {
			x -= beta * (f[k] - c.meanF)
		}
		if w := s.Weights[k]; w > 0 {
			x += n * w * (f[k] - mean)
		}
		return x
	}, max(0, c.ee-beta*c.fe))
}

// Moments are the mean and the standard deviation of latent i on the program's own scale.
func (s *Sample) Moments(i int) (mean, sd mc.Estimate) {
	var sds []float64
	means := s.Known(axis(i), func(q family.Q) float64 {
		mean, sd := PartMoments(s.density, q, i)
		sds = append(sds, sd)
		return mean
	})
	return s.moments(s.Latent(i), means, sds)
}

// TailK is the k-hat of the products w·f, whose sum is the expectation of f ≥ 0. From 0.7 on the draws do not tell that
// expectation, and from 1 on it is infinite.
func (s *Sample) TailK(f []float64) float64 {
	logs := make([]float64, len(f))
	for k, x := range f {
		logs[k] = math.Log(x) + math.Log(s.Weights[k])
	}
	smoothed, err := ParetoSmooth(logs)
	if err != nil {
		return math.NaN()
	}
	return smoothed.K
}

// MomentsOf are the mean and the standard deviation of a number that has the values x at the draws; given that it has a
// value, if x is NaN at some.
func (s *Sample) MomentsOf(x []float64) (mean, sd mc.Estimate) {
	if given, all := s.having(x); all != nil {
		return all.moments(given, nil, nil)
	}
	return s.moments(x, nil, nil)
}

// having is the sample where x is not NaN, if it is somewhere: x there is given, and 0 elsewhere.
func (s *Sample) having(x []float64) (given []float64, of *Sample) {
	if !slices.ContainsFunc(x, math.IsNaN) {
		return x, nil
	}
	given, of = make([]float64, len(x)), new(Sample)
	*of = *s
	of.Weights = slices.Clone(s.Weights)
	for k, v := range x {
		if given[k] = v; math.IsNaN(v) {
			given[k], of.Weights[k] = 0, 0
		}
	}
	floats.Scale(1/floats.Sum(of.Weights), of.Weights)
	of.strata = slices.Clone(of.strata)
	of.spread()
	return given, of
}

// moments are those of x, which has the means and standard deviations where these are known.
func (s *Sample) moments(x, means, sds []float64) (mean, sd mc.Estimate) {
	mean = s.Expect(x, means)
	square := make([]float64, len(x))
	for k, v := range x {
		square[k] = (v - mean.Value) * (v - mean.Value)
	}
	for j, m := range means {
		if !math.IsNaN(m) {
			means[j] = sds[0]*sds[0] + (m-mean.Value)*(m-mean.Value)
			sds = sds[1:]
		}
	}
	variance := s.Expect(square, means)
	sd.Value = math.Sqrt(max(0, variance.Value))
	if sd.Value > 0 {
		sd.SE = variance.SE / (2 * sd.Value)
	}
	return mean, sd
}

// PartMoments are the mean and the standard deviation of latent i of d under q, on the program's own scale.
func PartMoments(d *graph.Density, q family.Q, i int) (mean, sd float64) {
	values, _ := d.Values(i)
	switch {
	case values != nil:
		square := 0.0
		for j, p := range valueProbs(d, q, i) {
			mean += p * values[j]
			square += p * values[j] * values[j]
		}
		return mean, math.Sqrt(max(0, square-mean*mean))
	case d.Transformed(i):
		return q.Law(axis(i)).Expect(func(u float64) float64 { return d.ConstrainOne(i, u) })
	}
	return q.Mean(i), q.SD(i)
}

func axis(i int) regions.Hyperplane { return regions.Hyperplane{Index: []int{i}, Coef: []float64{1}} }

// valueProbs are the probabilities of a discrete latent's values under q.
func valueProbs(d *graph.Density, q family.Q, i int) (probs []float64) {
	_, cuts := d.Values(i)
	law, low := family.Marginal(q, i), math.Inf(-1)
	for _, cut := range append(slices.Clone(cuts), math.Inf(1)) {
		probs = append(probs, law.Between(low, cut))
		low = cut
	}
	return probs
}

// Masses are the posterior probabilities of the values of a discrete latent.
func (s *Sample) Masses(i int) (list []mc.Estimate) {
	values, cuts := s.density.Values(i)
	z, in := s.Z[i*s.Len():][:s.Len()], make([]float64, s.Len())
	for j := range values {
		for k, u := range z {
			in[k] = 0
			if (j == 0 || u > cuts[j-1]) && (j == len(cuts) || u <= cuts[j]) {
				in[k] = 1
			}
		}
		p := s.Expect(in, s.Known(axis(i), func(q family.Q) float64 { return valueProbs(s.density, q, i)[j] }))
		list = append(list, probability(p))
	}
	return list
}

const rounding = 1e-12 // of a sum of weights

// probability clips an estimate to [0, 1], and is 0 or 1 where it is that but for rounding.
func probability(p mc.Estimate) mc.Estimate {
	switch {
	case p.SE > rounding:
		p.Value = min(max(p.Value, 0), 1)
	case p.Value > 1-rounding:
		p = mc.Estimate{Value: 1}
	case p.Value < 0:
		p = mc.Estimate{}
	}
	return p
}

// Side is the posterior probability of one side of the hyperplane h. signs are 1 at the draws on its positive side, and 0 at
// others. It is exactly 1 if there are draws on the other side and all have weight 0.
func (s *Sample) Side(h regions.Hyperplane, positive bool, signs []float64) mc.Estimate {
	in := signs
	if !positive {
		in = make([]float64, len(signs))
		for k, x := range signs {
			in[k] = 1 - x
		}
	}
	if floats.Sum(in) < float64(len(in)) && floats.Dot(in, s.Weights) > 1-rounding {
		return mc.Estimate{Value: 1}
	}
	return probability(s.Expect(in, s.Known(h, func(q family.Q) float64 {
		if positive {
			return q.Law(h).Above(0)
		}
		return q.Law(h).CDF(0)
	})))
}

// Quantile is the posterior quantile of latent i at probability p, on the program's own scale. Its standard error is that of
// the distribution function there divided by the density, which is taken over about √n draws on either side.
func (s *Sample) Quantile(i int, p float64) mc.Estimate { return s.Quantiles(i, p)[0] }

// Quantiles are the posterior quantiles of latent i at some probabilities.
func (s *Sample) Quantiles(i int, probs ...float64) []mc.Estimate {
	cdf := func(u float64) []float64 {
		return s.Known(axis(i), func(q family.Q) float64 { return family.Marginal(q, i).CDF(u) })
	}
	list := s.quantiles(s.Z[i*s.Len():][:s.Len()], cdf, probs)
	for k, e := range list {
		x := func(u float64) float64 { return s.density.ConstrainOne(i, u) }
		list[k] = mc.Estimate{Value: x(e.Value), SE: (x(e.Value+e.SE) - x(e.Value-e.SE)) / 2}
	}
	return list
}

// QuantilesOf are the quantiles of a number that has the values x at the draws; given that it has a value, if x is NaN at
// some.
func (s *Sample) QuantilesOf(x []float64, probs ...float64) []mc.Estimate {
	none := func(float64) []float64 { return nil }
	if given, of := s.having(x); of != nil {
		return of.quantiles(given, none, probs)
	}
	return s.quantiles(x, none, probs)
}

// quantiles are those of x. cdf is what is known of its distribution function.
func (s *Sample) quantiles(x []float64, cdf func(u float64) []float64, probs []float64) (list []mc.Estimate) {
	order := make([]int, 0, len(x))
	for k, w := range s.Weights {
		if w > 0 {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	cumulative, sum := make([]float64, len(order)), 0.0
	for j, k := range order {
		sum += s.Weights[k]
		cumulative[j] = sum
	}
	at := func(p float64) float64 {
		j := sort.SearchFloat64s(cumulative, min(max(p, 0), 1)*sum)
		return x[order[min(j, len(order)-1)]]
	}
	below := make([]float64, len(x))
	distribution := func(u float64) (f mc.Estimate, plain float64) {
		for k, v := range x {
			if below[k] = 0; v <= u {
				below[k] = 1
				plain += s.Weights[k]
			}
		}
		return s.Expect(below, cdf(u)), plain
	}
	for _, p := range probs {
		u := at(p)
		f, plain := distribution(u)
		h := max(f.SE, 2*math.Sqrt(p*(1-p)/float64(len(x))))
		slope := (at(p+h) - at(p-h)) / (2 * h)
		if f.Value != plain { // which may be known better than draws are near each other: the place between them by Newton's method
			u = at(p + plain - f.Value)
			for range 2 {
				f, _ = distribution(u)
				u += (p - f.Value) * slope
			}
		}
		list = append(list, mc.Estimate{Value: u, SE: f.SE * slope})
	}
	return list
}

// Share is the posterior probability of the draws where in is 1, or, if not positive, of those where it is 0.
func (s *Sample) Share(in []float64, positive bool) mc.Estimate {
	p := probability(s.Expect(in, nil))
	if !positive {
		p.Value = 1 - p.Value
	}
	return p
}
