// Package sbc judges whether fits are calibrated, by simulation.
//
// Draw θ from the prior and data from the program given θ, and fit the program to the data: θ is then a draw of the posterior as
// much as the fit's own draws are. So of each quantity f(θ) the rank among those is uniform (Talts, Betancourt, Simpson, Vehtari
// and Gelman, 2018):
//
//	θ ~ prior ──▶ data ──▶ fit ──▶ L draws θ_l ──▶ u = (#{f(θ_l) < f(θ)} + U·(1 + #{f(θ_l) = f(θ)})) / (L + 1)
//
// with U uniform on (0, 1), over many fits. A fit that is too narrow has u near 0 and 1, one that is too wide near ½, a biased one
// on one side. The judgement is by simultaneous bands of their distribution function (Säilynoja, Bürkner and Vehtari, Statistics
// and Computing 32, 2022).
package sbc

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/facetvi/facet/internal/parallel"
)

// Level is the probability with which a right program and fit is said to be wrong.
const Level = 0.05

// A Result says whether fits are calibrated.
type Result struct {
	Quantities []Quantity // in the order of the program: latents, named guards, deterministic expressions
	// P is the probability that a right program has a quantity as far from uniform as the worst of these, if they were
	// independent. Below Level the program or its fit is wrong.
	P float64
	// Errors are those of data sets that could not be fitted; Untrusted is how many fits have a verdict that is not to trust them.
	Errors    []error
	Untrusted int
}

// A Quantity is a latent, guard or expression.
type Quantity struct {
	Name  string
	Ranks []float64 // u by fit, uniform on (0, 1) if the fits are right
	P     float64   // the probability that uniform ranks are as far from uniform
}

// Rank is u of a value among those of draws, with ties broken by tie, which is uniform on (0, 1).
func Rank(value float64, draws []float64, tie float64) float64 {
	below, same := 0, 1
	for _, x := range draws {
		switch {
		case x < value:
			below++
		case x == value:
			same++
		}
	}
	return (float64(below) + tie*float64(same)) / float64(len(draws)+1)
}

// Of judges the ranks of quantities.
func Of(quantities []Quantity) Result {
	r := Result{Quantities: slices.Clone(quantities), P: 1}
	if len(quantities) == 0 {
		return r
	}
	bands := map[int]*bands{}
	for k := range r.Quantities {
		q := &r.Quantities[k]
		n := len(q.Ranks)
		if bands[n] == nil {
			bands[n] = newBands(n)
		}
		q.P = bands[n].pValue(q.Ranks)
		r.P = min(r.P, q.P)
	}
	r.P = among(len(r.Quantities), r.P)
	return r
}

// among is the probability that the least of n independent p-values is as low.
func among(n int, p float64) float64 { return 1 - math.Pow(1-p, float64(n)) }

// worst are the quantities that are wrong by themselves, the worst first.
func (r Result) worst() (list []Quantity) {
	for _, q := range r.Quantities {
		if among(len(r.Quantities), q.P) < Level {
			list = append(list, q)
		}
	}
	slices.SortStableFunc(list, func(a, b Quantity) int { return int(math.Copysign(1, a.P-b.P)) })
	return list
}

// String is the judgement in a sentence or two.
func (r Result) String() string {
	n := 0
	if len(r.Quantities) > 0 {
		n = len(r.Quantities[0].Ranks)
	}
	var b strings.Builder
	if bad := r.worst(); len(bad) == 0 {
		fmt.Fprintf(&b, "%d fits are calibrated, as far as they tell: the ranks of %d quantities are uniform (p = %.2g)", n, len(r.Quantities), r.P)
	} else {
		var says []string
		for _, q := range bad[:min(len(bad), 4)] {
			says = append(says, fmt.Sprintf("%s is %s", q.Name, shape(q.Ranks)))
		}
		fmt.Fprintf(&b, "%d fits are not calibrated (p = %.2g): %s", n, r.P, strings.Join(says, ", "))
		if more := len(bad) - 4; more > 0 {
			fmt.Fprintf(&b, ", and %d others", more)
		}
	}
	if r.Untrusted > 0 {
		fmt.Fprintf(&b, "; %d fits say themselves that they are not to be trusted", r.Untrusted)
	}
	if len(r.Errors) > 0 {
		fmt.Fprintf(&b, "; %d data sets could not be fitted: %v", len(r.Errors), r.Errors[0])
	}
	return b.String()
}

// shape says how ranks are not uniform: by their mean, or else by their spread.
func shape(u []float64) string {
	mean, square, n := 0.0, 0.0, float64(len(u))
	for _, x := range u {
		mean += x / n
		square += (x - 0.5) * (x - 0.5) / n
	}
	z, wide := (mean-0.5)*math.Sqrt(12*n), (square-1./12)*math.Sqrt(180*n)
	switch {
	case math.Abs(z) > math.Abs(wide) && z > 0:
		return "too low in the fits"
	case math.Abs(z) > math.Abs(wide):
		return "too high in the fits"
	case wide > 0:
		return "too narrow in the fits"
	}
	return "too wide in the fits"
}

// Of the bands.
const (
	points      = 100  // where distribution functions are compared, at most
	simulations = 2000 // of n uniform ranks
)

// bands knows how far from uniform n uniform ranks are.
type bands struct {
	n    int
	tail [][]float64 // by point and count of ranks below it: twice the smaller binomial tail
	all  []float64   // the least tail of each simulation, ascending
}

func newBands(n int) *bands {
	b := &bands{n: n}
	if n == 0 {
		return b
	}
	for i := 1; i < b.points(); i++ {
		b.tail = append(b.tail, tails(n, float64(i)/float64(b.points())))
	}
	rng := parallel.NewRand(uint64(n))
	u := make([]float64, n)
	for range simulations {
		for k := range u {
			u[k] = rng.Float64()
		}
		b.all = append(b.all, b.least(u))
	}
	slices.Sort(b.all)
	return b
}

func (b *bands) points() int { return min(points, b.n) }

// tails are twice the smaller of P(X ≤ k) and P(X ≥ k) of a binomial X, by k.
func tails(n int, p float64) []float64 {
	mass := make([]float64, n+1)
	all, _ := math.Lgamma(float64(n + 1))
	for k := range mass {
		a, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		mass[k] = math.Exp(all - a - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	t, below, above := make([]float64, n+1), 0.0, 0.0
	for k := range t {
		below += mass[k]
		t[k] = below
	}
	for k := n; k >= 0; k-- {
		above += mass[k]
		t[k] = min(1, 2*min(t[k], above))
	}
	return t
}

// least is the least tail of the counts of ranks.
func (b *bands) least(u []float64) float64 {
	count := make([]int, b.points()+1) // by interval between points
	for _, x := range u {
		count[min(int(x*float64(b.points())), b.points())]++
	}
	least, below := 1.0, 0
	for i, t := range b.tail {
		below += count[i]
		least = min(least, t[below])
	}
	return least
}

func (b *bands) pValue(u []float64) float64 {
	if b.n == 0 {
		return 1
	}
	below := sort.SearchFloat64s(b.all, math.Nextafter(b.least(u), 2))
	return float64(below+1) / float64(len(b.all)+1)
}

// Band is where the distribution function of n uniform ranks lies at all x at once, with the given probability.
func Band(n int, prob float64) (x, low, high []float64) {
	b := newBands(n)
	if n == 0 {
		return nil, nil, nil
	}
	gamma := b.all[int((1-prob)*float64(len(b.all)))]
	for i, t := range b.tail {
		first, last := 0, n
		for t[first] < gamma {
			first++
		}
		for t[last] < gamma {
			last--
		}
		x = append(x, float64(i+1)/float64(b.points()))
		low, high = append(low, float64(first)/float64(n)), append(high, float64(last)/float64(n))
	}
	return x, low, high
}
