// Package powerscale says which priors matter, without another fit.
//
// Raise one part of the posterior, a prior or the likelihood, to the power α near 1, and weigh the draws anew:
//
//	p_α(θ) ∝ p(θ)·part(θ)^(α−1),   w_α ∝ w·part(θ)^(α−1)
//
// How far the distribution of a quantity moves is its sensitivity to that part (Kallioinen, Paananen, Bürkner and Vehtari,
// Statistics and Computing 34, 2024; R's package priorsense):
//
//	draws, weights, log part ──▶ Of ──▶ D(p_α, p)/|log₂ α|,   a cumulative Jensen–Shannon distance
package powerscale

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Threshold is the sensitivity from which on a part matters, as in priorsense: a normal distribution's mean moves by a twelfth of
// its standard deviation, if α is doubled.
const Threshold = 0.05

// Likelihood is the part that is no prior.
const Likelihood = "likelihood"

// A Result is how sensitive quantities are to the parts of a posterior.
type Result struct {
	Quantities, Parts []string
	// Distance is by quantity and part, and Shift the derivative of the quantity's mean by log₂ α, in its standard deviations.
	Distance, Shift [][]float64
}

// Draws are draws of a posterior with weights: Values[i][k] is quantity i at draw k, and Log[j][k] the logarithm of part j there.
type Draws struct {
	Quantities, Parts []string
	Values, Log       [][]float64
	Weights           []float64
}

const step = 1.01 // α, and 1/α

// Of computes sensitivities. It is an error if a part is not finite where a draw has a weight.
func Of(d Draws) (Result, error) {
	if len(d.Values) != len(d.Quantities) || len(d.Log) != len(d.Parts) {
		return Result{}, errors.New("powerscale: as many names as lists are needed")
	}
	r := Result{Quantities: d.Quantities, Parts: d.Parts}
	var scaled [2][][]float64 // weights by direction and part
	for k, logs := range d.Log {
		for side, power := range []float64{step - 1, 1/step - 1} {
			w, err := weigh(d.Weights, logs, power)
			if err != nil {
				return Result{}, fmt.Errorf("powerscale: %s: %w", d.Parts[k], err)
			}
			scaled[side] = append(scaled[side], w)
		}
	}
	for _, x := range d.Values {
		order := make([]int, len(x))
		for s := range order {
			order[s] = s
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
		var distance, shift []float64
		for k := range d.Parts {
			up, down := scaled[0][k], scaled[1][k]
			distance = append(distance, (apart(x, order, d.Weights, up)+apart(x, order, d.Weights, down))/(2*math.Log2(step)))
			shift = append(shift, (floats.Dot(x, up)-floats.Dot(x, down))/(2*math.Log2(step)*stat.PopStdDev(x, d.Weights)))
		}
		r.Distance, r.Shift = append(r.Distance, distance), append(r.Shift, shift)
	}
	return r, nil
}

// weigh are the weights times part^power, with the sum 1.
func weigh(weights, logs []float64, power float64) ([]float64, error) {
	w, top := make([]float64, len(weights)), math.Inf(-1)
	for s, l := range logs {
		if weights[s] > 0 {
			if math.IsNaN(l) || math.IsInf(l, 0) {
				return nil, fmt.Errorf("its logarithm is %v at a draw", l)
			}
			top = max(top, power*l)
		}
	}
	for s, l := range logs {
		if weights[s] > 0 {
			w[s] = weights[s] * math.Exp(power*l-top)
		}
	}
	floats.Scale(1/floats.Sum(w), w)
	return w, nil
}

// apart is the cumulative Jensen–Shannon distance between the draws x with weights p and with weights q, the larger of those of x and −x.
func apart(x []float64, order []int, p, q []float64) float64 {
	var below, above cumulative
	cp, cq := 0.0, 0.0
	for j, s := range order[:len(order)-1] {
		cp, cq = cp+p[s], cq+q[s]
		width := x[order[j+1]] - x[s]
		below.add(cp, cq, width)
		above.add(1-cp, 1-cq, width)
	}
	return max(below.distance(), above.distance())
}

// cumulative are integrals over two distribution functions.
type cumulative struct{ p, q, pq, qp float64 }

func (c *cumulative) add(p, q, width float64) {
	c.p, c.q = c.p+p*width, c.q+q*width
	if p > 1e-15 && q > 1e-15 {
		half := math.Log2((p + q) / 2)
		c.pq += width * p * (math.Log2(p) - half)
		c.qp += width * q * (math.Log2(q) - half)
	}
}

func (c cumulative) distance() float64 {
	if c.p+c.q == 0 {
		return 0
	}
	return math.Sqrt(max(0, c.pq+c.qp) / (c.p + c.q)) // what is linear in p and q cancels
}

// String has a sentence for each quantity to which a prior matters.
func (r Result) String() string {
	var b strings.Builder
	for i, name := range r.Quantities {
		data, _ := r.to(i, Likelihood)
		for k, part := range r.Parts {
			if part == Likelihood || !(r.Distance[i][k] >= Threshold) {
				continue
			}
			why := "the data say little of it"
			if data >= Threshold {
				why = "so do the data, which pull the other way"
				if l := slices.Index(r.Parts, Likelihood); r.Shift[i][k]*r.Shift[i][l] > 0 {
					why = "so do the data, which pull the same way"
				}
			}
			of := "to " + name
			if part == name {
				of = "to it"
			}
			fmt.Fprintf(&b, "the prior of %s matters %s (%.2f): %s; twice its weight moves the mean by %.2g standard deviations\n",
				part, of, r.Distance[i][k], why, r.Shift[i][k])
		}
	}
	if b.Len() == 0 {
		return fmt.Sprintf("no prior matters to %s\n", strings.Join(r.Quantities, ", "))
	}
	return b.String()
}

// to is the distance of quantity i to a part.
func (r Result) to(i int, part string) (float64, bool) {
	k := slices.Index(r.Parts, part)
	if k < 0 {
		return 0, false
	}
	return r.Distance[i][k], true
}
