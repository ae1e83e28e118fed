package models

import "math"

// probability is P(event) under q, its complement, and the derivative of P. Both are kept because 1 − P loses every
// digit where the event is nearly sure.
type probability struct {
	is, not float64
	d       []partial
}

// above is the event z_i > c.
func (e *expectation) above(i int, c float64) probability {
	u := (c - e.mu[i]) / e.sd[i]
	phi := math.Exp(-u*u/2) / sqrt2Pi / e.sd[i]
	return probability{
		is: math.Erfc(u/math.Sqrt2) / 2, not: math.Erfc(-u/math.Sqrt2) / 2,
		d: []partial{{i, phi, phi * u}},
	}
}

// cascade is the event "no if z_i < lo, else yes if z_i > hi, else middle", where lo < hi and middle does not look at z_i:
//
//	P = P(z_i > hi) + P(lo < z_i < hi) P(middle)
func (e *expectation) cascade(i int, lo, hi float64, middle probability) probability {
	a, b := e.above(i, lo), e.above(i, hi)
	between := a.is - b.is
	if a.is > 0.5 { // of the two equal differences, the one of smaller numbers
		between = b.not - a.not
	}
	d := scaled(middle.not, b.d)
	d = append(d, scaled(middle.is, a.d)...)
	d = append(d, scaled(between, middle.d)...)
	return probability{is: b.is + between*middle.is, not: a.not + between*middle.not, d: d}
}

// scaled returns w·d.
func scaled(w float64, d []partial) []partial {
	out := make([]partial, len(d))
	for k, p := range d {
		out[k] = partial{p.latent, w * p.mu, w * p.sd}
	}
	return out
}
