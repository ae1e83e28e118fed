package weighted

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

const (
	mostErrors  = 5.0  // standard errors that a control variate may be off
	closedForms = 3e-6 // standard deviations of f that what is known of it may be off, by quadrature and by the smoothing of uneven weights
)

// scratch is memory that is used again: to allocate it takes longer than to compute what is in it.
type scratch[T any] struct{ sync.Pool }

// borrow returns a slice of n elements of any values, which is to be Put back.
func (m *scratch[T]) borrow(n int) *[]T {
	x, ok := m.Get().(*[]T)
	if !ok {
		x = new([]T)
	}
	*x = slices.Grow((*x)[:0], n)[:n]
	return x
}

var (
	cubeSums scratch[sums]
	rows     scratch[float64]
)

// Expect estimates the posterior expectation of a function with values f at the draws.
func (s *Sample) Expect(f []float64) mc.Estimate { return s.expect(f, known{}) }

// expect is Expect of a function of which something is known. Without f it is of the mean weight, about 1.
func (s *Sample) expect(f []float64, of known) mc.Estimate {
	n, mean := float64(s.Len()), 1.0
	r := residuals{s: s, base: math.NaN()}
	if f == nil {
		r.f, r.base, r.one = slices.Repeat([]float64{1}, s.Len()), of.base, 1
	} else {
		if mean = floats.Dot(s.Weights, f); math.IsNaN(mean) { // it may have no value where the posterior is 0
			f = slices.Clone(f)
			for k, w := range s.Weights {
				if w == 0 && !finite(f[k]) {
					f[k] = 0
				}
			}
			mean, of = floats.Dot(s.Weights, f), known{}
		}
		r.f, r.mean = f, mean
		if of.parts != nil {
			r.base = of.base
		}
	}
	if s.chains > 0 {
		return mc.Estimate{Value: mean, SE: r.chainError()}
	}
	list := cubeSums.borrow(s.strata.cubes)
	defer cubeSums.Put(list)
	r.sum(*list)
	r.control()
	variance, shift := n*closedForms*closedForms*r.uneven, 0.0 // of the sum over the draws
	for j, t := range s.strata.list {
		shift -= r.less(r.strata[j])
		if t.len() < enoughDraws {
			continue
		}
		beta, exact := 0.0, of.parts != nil && !math.IsNaN(of.parts[j])
		var c covariances
		if exact || len(t.cubes) < 2 {
			c = r.covariances(j)
		}
		if exact {
			var by, more float64
			by, beta, more = c.control(of.parts[j], t.len())
			shift -= float64(t.len()) * by
			variance += float64(t.len()) * more
		}
		variance += r.ofSum(j, c, beta)
	}
	for k := 1; k < len(s.strata.few); k += 2 { // neighbours, mostly of one stratum
		off := r.at(s.strata.few[k]) - r.at(s.strata.few[k-1])
		variance += off * off
	}
	return mc.Estimate{Value: mean + shift/n, SE: math.Sqrt(max(0, variance)) / n}
}

// residuals are e = n·w·(f − mean) − beta·c at the draws, with the control variate c = q*/q·(f − base) − one, whose expectation is 0 (Owen and
// Zhou, JASA 2000): but for a factor, what they would be if the base q* of the defensive mixture were the posterior. For the mean weight f and
// one are 1, and mean and base are 0; else one is 0.
type residuals struct {
	s                     *Sample
	f                     []float64
	mean, base, one, beta float64 // base is the expectation of f under q*, NaN if there is none
	strata                []sums
	cubes                 [][]sums // by stratum
	// uneven is the sum of squares of what beta·c has where q*/q is not 1.
	uneven float64
}

// sums are those of n·w·(f − mean), of c, and of f less what it is at the stratum's first draw, over n draws.
type sums struct{ e, c, f, n float64 }

func (r *residuals) at(k int) float64 {
	e := float64(r.s.Len()) * r.s.Weights[k] * (r.f[k] - r.mean)
	if r.beta != 0 {
		e -= r.beta * (r.s.ratios[k]*(r.f[k]-r.base) - r.one)
	}
	return e
}

// less is beta times the control variate.
func (r *residuals) less(x sums) float64 {
	if r.beta == 0 { // c may be infinite
		return 0
	}
	return r.beta * x.c
}

// sum finds the sums over hypercubes, which it puts in list, and over strata.
func (r *residuals) sum(list []sums) {
	s, controlled := r.s, r.s.ratios != nil && finite(r.base)
	r.strata, r.cubes = make([]sums, len(s.strata.list)), make([][]sums, len(s.strata.list))
	for j, t := range s.strata.list {
		all, k, first := &r.strata[j], t.first, r.f[t.first]
		r.cubes[j], list = list[:len(t.cubes)], list[len(t.cubes):]
		for cube, end := range t.cubes {
			f, w := r.f[k:end], s.Weights[k:end]
			var sumF, sumE, sumC float64
			for i, x := range f {
				sumF += x - first
				sumE += w[i] * (x - r.mean)
			}
			if controlled {
				ratios := s.ratios[k:end]
				for i, x := range f {
					c := ratios[i] * (x - r.base)
					sumC += c
					more := (ratios[i] - 1) * c
					r.uneven += more * more
				}
			}
			c := sums{sumE * float64(s.Len()), sumC - r.one*float64(end-k), sumF, float64(end - k)}
			r.cubes[j][cube] = c
			*all = sums{all.e + c.e, all.c + c.c, all.f + c.f, all.n + c.n}
			k = end
		}
	}
}

// control finds beta, the coefficient of the control variate: that of sums over hypercubes. It is 0 where the draws are too far from
// what is known of them.
func (r *residuals) control() {
	if r.s.ratios == nil || !finite(r.base) {
		return
	}
	ec, cc, sum := 0.0, 0.0, 0.0
	for j, all := range r.strata {
		sum += all.c
		for _, x := range r.cubes[j] {
			c := x.c - x.n*all.c/all.n
			ec += (x.e - x.n*all.e/all.n) * c
			cc += c * c
		}
	}
	if beta := ec / cc; cc > 0 && finite(beta+cc+r.uneven) && !(math.Abs(sum) > mostErrors*math.Sqrt(cc)) {
		r.beta, r.uneven = beta, beta*beta*r.uneven
	} else {
		r.uneven = 0
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// covariances are those of f and the residuals e in a stratum, and of what e is a multiple of where all f are one number.
type covariances struct {
	meanF, meanE float64
	ff, ee, fe   float64
	meanW, ww    float64
}

func (r *residuals) covariances(j int) covariances {
	t, all := r.s.strata.list[j], r.strata[j]
	c := covariances{meanF: r.f[t.first] + all.f/all.n, meanE: (all.e - r.less(all)) / all.n, meanW: t.meanW - r.beta*t.meanRatio, ww: t.ww}
	for k := t.first; k < t.end; k++ {
		de, df := r.at(k)-c.meanE, r.f[k]-c.meanF
		c.ee += de * de
		c.ff += df * df
		c.fe += df * de
	}
	for _, x := range []*float64{&c.ee, &c.ff, &c.fe} {
		*x /= all.n - 1
	}
	return c
}

// control is by how much f's average in a stratum of n draws, whose expectation is want, is off in the estimate, the
// coefficient of f in that, and how much variance a draw has beyond that of what is left.
func (c covariances) control(want float64, n int) (by, beta, more float64) {
	off := c.meanF - want
	switch {
	case !finite(c.meanF) || math.IsInf(want, 0):
		return 0, 0, 0
	case c.ff == 0: // all draws say the same, and the rest is too rare for them
		return c.meanW * off, 0, off * off * c.ww * float64(n)
	case math.Abs(off) > mostErrors*math.Sqrt(c.ff/float64(n)):
		return 0, 0, 0
	}
	beta = c.fe / c.ff
	return beta * off, beta, 0
}

// ofSum is the variance of the sum of the residuals over stratum j, less beta times f, by the sums over hypercubes; or by the variance of one
// draw if there are no two of them.
func (r *residuals) ofSum(j int, c covariances, beta float64) (variance float64) {
	t, all := r.s.strata.list[j], r.strata[j]
	n := float64(len(t.cubes))
	if n < 2 {
		return all.n * max(0, c.ee-beta*c.fe)
	}
	by := func(x sums) float64 {
		e := x.e - r.less(x)
		if beta != 0 { // f may be infinite
			e -= beta * x.f
		}
		return e
	}
	mean := by(all) / all.n
	for _, x := range r.cubes[j] {
		off := by(x) - x.n*mean
		variance += off * off
	}
	return variance * n / (n - 1)
}

// apart is by how many times the variance between groups of chains is larger than their chains say, so that it is not by chance:
// once in a hundred times of 8 groups.
const apart = 2.7

// chainError is the standard error of the mean by the chains.
func (r *residuals) chainError() float64 {
	s := r.s
	totals, groups := make([]float64, s.chains), make([]float64, s.groups)
	n := float64(s.Len())
	for first := 0; first < s.Len(); first += s.chains {
		f, weights := r.f[first:min(first+s.chains, s.Len())], s.Weights[first:]
		for c, w := range weights[:len(f)] { // as at
			totals[c] += n * w * (f[c] - r.mean)
		}
	}
	per := s.chains / s.groups
	chains, between := 0.0, 0.0 // Σ of squares; the sum of residuals is 0
	for c, x := range totals {
		chains += x * x
		groups[c/per] += x
	}
	for _, x := range groups {
		between += x * x
	}
	chains *= float64(s.chains) / float64(s.chains-1)
	between *= float64(s.groups) / float64(s.groups-1)
	if between > apart*chains {
		chains = between
	}
	return math.Sqrt(chains) / n
}

// Moments are the mean and the standard deviation of latent i on the program's own scale.
func (s *Sample) Moments(i int) (mean, sd mc.Estimate) {
	var list [][2]float64
	means := s.forms.expect(axis(i), func(l family.Law) float64 {
		mean, sd := lawMoments(s.density, l, i)
		list = append(list, [2]float64{mean, sd})
		return mean
	})
	return s.moments(s.Latent(i), means, func(mean float64) known {
		rest := list
		return s.forms.expect(axis(i), func(family.Law) float64 {
			x := rest[0]
			rest = rest[1:]
			return x[1]*x[1] + (x[0]-mean)*(x[0]-mean)
		})
	})
}

// Scattered is the share of the draws that are of parts of the proposal with too few draws for a control variate. With more draws parts have enough,
// and errors fall faster than with the root of the number of draws.
func (s *Sample) Scattered() float64 { return float64(len(s.strata.few)) / float64(s.Len()) }

// TailK is the k-hat of the products w·f, whose sum is the expectation of f ≥ 0. From 0.7 on the draws do not tell that
// expectation, and from 1 on it is infinite.
func (s *Sample) TailK(f []float64) float64 {
	products := make([]float64, len(f))
	for k, x := range f {
		products[k] = x * s.Weights[k]
	}
	return tailK(products)
}

// tailK is the k-hat of products that are not negative.
func tailK(products []float64) float64 {
	n := tailLength(len(products))
	switch {
	case !slices.ContainsFunc(products, func(x float64) bool { return x > 0 }) || slices.ContainsFunc(products, func(x float64) bool { return !finite(x) }):
		return math.NaN()
	case n < minTail:
		return math.Inf(1)
	}
	order := largest(products, n+1)
	top, logs := products[order[n]], make([]float64, n+1)
	for i, k := range order {
		logs[i] = math.Log(products[k] / top)
	}
	return smoothTail(logs, n)
}

// MomentsOf are the mean and the standard deviation of a number that has the values x at the draws; given that it has a
// value, if x is NaN at some.
func (s *Sample) MomentsOf(x []float64) (mean, sd mc.Estimate) {
	if given, all := s.having(x); all != nil {
		return all.moments(given, known{}, nil)
	}
	return s.moments(x, known{}, nil)
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
	of.strata.list = slices.Clone(of.strata.list)
	of.strata.spread(of.Weights, of.ratios)
	return given, of
}

// moments are those of x. squares is what is known of the expectation of (x − mean)², if something is known of x.
func (s *Sample) moments(x []float64, means known, squares func(mean float64) known) (mean, sd mc.Estimate) {
	mean = s.expect(x, means)
	row := rows.borrow(len(x))
	defer rows.Put(row)
	square := *row
	for k, v := range x {
		square[k] = (v - mean.Value) * (v - mean.Value)
	}
	var of known
	if squares != nil {
		of = squares(mean.Value)
	}
	variance := s.expect(square, of)
	sd.Value = math.Sqrt(max(0, variance.Value))
	if sd.Value > 0 {
		sd.SE = variance.SE / (2 * sd.Value)
	}
	return mean, sd
}

// Masses are the posterior probabilities of the values of a discrete latent.
func (s *Sample) Masses(i int) (list []mc.Estimate) {
	_, cuts := s.density.Values(i)
	z, in, low := s.Z[i*s.Len():][:s.Len()], make([]float64, s.Len()), math.Inf(-1)
	for _, high := range append(slices.Clone(cuts), math.Inf(1)) {
		for k, u := range z {
			in[k] = 0
			if u > low && u <= high {
				in[k] = 1
			}
		}
		p := s.expect(in, s.forms.expect(axis(i), func(l family.Law) float64 { return l.Between(low, high) }))
		list = append(list, probability(p))
		low = high
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
		row := rows.borrow(len(signs))
		defer rows.Put(row)
		in = *row
		for k, x := range signs {
			in[k] = 1 - x
		}
	}
	if floats.Sum(in) < float64(len(in)) && floats.Dot(in, s.Weights) > 1-rounding {
		return mc.Estimate{Value: 1}
	}
	at := 0.0
	if len(h.Index) == 1 {
		at, positive, h = -h.Const/h.Coef[0], positive == (h.Coef[0] > 0), axis(h.Index[0])
	}
	return probability(s.expect(in, s.forms.expect(h, func(l family.Law) float64 {
		if positive {
			return l.Above(at)
		}
		return l.CDF(at)
	})))
}

// Quantile is the posterior quantile of latent i at probability p, on the program's own scale. Its standard error is that of
// the distribution function there divided by the density, which is taken over about √n draws on either side.
func (s *Sample) Quantile(i int, p float64) mc.Estimate { return s.Quantiles(i, p)[0] }

// Quantiles are the posterior quantiles of latent i at some probabilities.
func (s *Sample) Quantiles(i int, probs ...float64) []mc.Estimate {
	cdf := func(u float64) known {
		return s.forms.expect(axis(i), func(l family.Law) float64 { return l.CDF(u) })
	}
	list := s.quantiles(s.Z[i*s.Len():][:s.Len()], cdf, probs)
	for k, e := range list {
		x := func(u float64) float64 { return s.density.Coordinate(i).Value(u) }
		list[k] = mc.Estimate{Value: x(e.Value), SE: (x(e.Value+e.SE) - x(e.Value-e.SE)) / 2}
	}
	return list
}

// QuantilesOf are the quantiles of a number that has the values x at the draws; given that it has a value, if x is NaN at
// some.
func (s *Sample) QuantilesOf(x []float64, probs ...float64) []mc.Estimate {
	none := func(float64) known { return known{} }
	if given, of := s.having(x); of != nil {
		return of.quantiles(given, none, probs)
	}
	return s.quantiles(x, none, probs)
}

// quantiles are those of x. cdf is what is known of its distribution function.
func (s *Sample) quantiles(x []float64, cdf func(u float64) known, probs []float64) (list []mc.Estimate) {
	sorted, cumulative, sum := s.sorted(x)
	at := func(p float64) float64 {
		j := sort.SearchFloat64s(cumulative, min(max(p, 0), 1)*sum)
		return sorted[min(j, len(sorted)-1)]
	}
	below := make([]float64, len(x))
	distribution := func(u float64) (f mc.Estimate, plain float64) {
		for k, v := range x {
			if below[k] = 0; v <= u {
				below[k] = 1
				plain += s.Weights[k]
			}
		}
		return s.expect(below, cdf(u)), plain
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

// sorted are the values x at draws that have weight, ascending, and the sums of the weights up to each and of all.
func (s *Sample) sorted(x []float64) (values, cumulative []float64, sum float64) {
	if first := s.Weights[0]; first > 0 && !slices.ContainsFunc(s.Weights, func(w float64) bool { return w != first }) {
		values, cumulative = slices.Clone(x), make([]float64, len(x))
		slices.Sort(values)
		for j := range cumulative {
			sum += first
			cumulative[j] = sum
		}
		return values, cumulative, sum
	}
	type draw struct{ x, weight float64 }
	list := make([]draw, 0, len(x))
	for k, w := range s.Weights {
		if w > 0 {
			list = append(list, draw{x[k], w})
		}
	}
	slices.SortFunc(list, func(a, b draw) int { return cmp.Compare(a.x, b.x) })
	values, cumulative = make([]float64, len(list)), make([]float64, len(list))
	for j, d := range list {
		sum += d.weight
		values[j], cumulative[j] = d.x, sum
	}
	return values, cumulative, sum
}

// Share is the posterior probability of the draws where in is 1, or, if not positive, of those where it is 0.
func (s *Sample) Share(in []float64, positive bool) mc.Estimate {
	p := probability(s.Expect(in))
	if !positive {
		p.Value = 1 - p.Value
	}
	return p
}
