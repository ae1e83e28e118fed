package calibration

import "math"

// A rate is the parameter of the counts in one regime: a latent with the prior
// that is conjugate, Gamma(a, b) or Beta(a, b), or a number if it has no name.
type rate struct {
	name  string
	a, b  float64
	known float64
}

// Counts are y_i ~ Poisson(exposure_i·rate), or successes in so many trials,
// y_i ~ Binomial(exposure_i, rate), with a rate for each regime. An exposure that
// is nil is 1 for all.
type counts struct {
	y, exposure []float64
	binomial    bool
	rates       []rate
}

func (c counts) law(k int) law {
	if c.binomial {
		return beta(c.rates[k].a, c.rates[k].b)
	}
	return gamma(c.rates[k].a, c.rates[k].b)
}

func (c counts) names() (names []string) {
	for _, r := range c.rates {
		if r.name != "" {
			names = append(names, r.name)
		}
	}
	return names
}

func (c counts) logPrior(param []float64) (sum float64) {
	for k, r := range c.rates {
		if r.name != "" {
			sum += c.law(k).logProb(param[0])
			param = param[1:]
		}
	}
	return sum
}

func (c counts) exposed(i int) float64 {
	if c.exposure == nil {
		return 1
	}
	return c.exposure[i]
}

func (c counts) logProb(side []int, param []float64) (sum float64) {
	at := make([]float64, len(c.rates))
	for k, r := range c.rates {
		at[k] = r.known
		if r.name != "" {
			at[k], param = param[0], param[1:]
		}
	}
	for i, y := range c.y {
		n, p := c.exposed(i), at[side[i]]
		if c.binomial {
			sum += lchoose(n, y) + y*math.Log(p) + (n-y)*math.Log1p(-p)
		} else {
			sum += poissonLog(y, n*p)
		}
	}
	return sum
}

func lchoose(n, k float64) float64 { return lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1) }

func lbeta(a, b float64) float64 { return lgamma(a) + lgamma(b) - lgamma(a+b) }

func (c counts) given(side []int, _ int) (log float64, mean, square []float64) {
	sum, size := make([]float64, len(c.rates)), make([]float64, len(c.rates))
	for i, y := range c.y {
		n, k := c.exposed(i), side[i]
		sum[k] += y
		size[k] += n
		if c.binomial {
			log += lchoose(n, y)
		} else {
			log += y*math.Log(n) - lgamma(y+1)
		}
	}
	for k, r := range c.rates {
		y, n, p := sum[k], size[k], r.known
		switch {
		case r.name == "" && c.binomial:
			log += y*math.Log(p) + (n-y)*math.Log1p(-p)
		case r.name == "":
			log += y*math.Log(p) - n*p
		case c.binomial:
			a, b := r.a+y, r.b+n-y
			log += lbeta(a, b) - lbeta(r.a, r.b)
			mean, square = append(mean, a/(a+b)), append(square, a*(a+1)/((a+b)*(a+b+1)))
		default:
			a, b := r.a+y, r.b+n
			log += r.a*math.Log(r.b) - lgamma(r.a) + lgamma(a) - a*math.Log(b)
			mean, square = append(mean, a/b), append(square, a*(a+1)/(b*b))
		}
	}
	return log, mean, square
}
