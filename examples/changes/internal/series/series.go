// Package series finds the changes in one series: how many, when, how large, and what comes next. Each number of changes is a program
// of its own. Which row is before which change is a chain that only goes up and is summed out, so that the levels and the noise are
// the latents, and log r is smooth in them:
//
//	rows ─▶ likelihood ─▶ a program for each number of changes ─▶ vi.HowMany ─▶ Result
package series

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// A Series is a column in the order of another one.
type Series struct {
	Name  string    // of the column
	XName string    // of the other one; "row" if there is none
	X     []float64 // ascending
	Dates bool      // X are days since 1970
	Label []string  // of X, as in the file
	Y     []float64 // NaN where it is missing
	Place []string  // file:line:column of Y
}

// A Likelihood is a distribution of rows around their level.
type Likelihood string

// The likelihoods.
const (
	Normal           Likelihood = "normal"
	Student          Likelihood = "student"
	Poisson          Likelihood = "poisson"
	NegativeBinomial Likelihood = "negbin"
	Bernoulli        Likelihood = "bernoulli"
)

// Likelihoods are all of them.
var Likelihoods = []Likelihood{Normal, Student, Poisson, NegativeBinomial, Bernoulli}

// Counts tells whether rows are counts.
func (l Likelihood) Counts() bool { return l == Poisson || l == NegativeBinomial }

// known are the rows that are not missing.
func (s Series) known() (y []float64) {
	for _, v := range s.Y {
		if !math.IsNaN(v) {
			y = append(y, v)
		}
	}
	return y
}

// Missing is how many rows are.
func (s Series) Missing() int { return len(s.Y) - len(s.known()) }

// Enough reports what of the series leaves nothing to look for, with so many changes at most.
func (s Series) Enough(most int) error {
	y := s.known()
	if len(y) == 0 {
		return fmt.Errorf("all cells of column %q are missing", s.Name)
	}
	if least := max(3, most+2); len(y) < least {
		return fmt.Errorf("column %q has %s: up to %s need at least %d; a smaller -max needs fewer", s.Name, plural(len(y), "number"), plural(most, "change"), least)
	}
	if floats.Max(y) == floats.Min(y) {
		return fmt.Errorf("column %q is %v in all rows: nothing changes", s.Name, y[0])
	}
	return nil
}

// Possible reports a row that cannot be under a likelihood.
func (s Series) Possible(l Likelihood) error {
	for i, v := range s.Y {
		switch {
		case l.Counts() && v < 0:
			return fmt.Errorf("%s: %v in column %q is negative, and -likelihood %s is of counts; is it normal?", s.Place[i], v, s.Name, l)
		case l.Counts() && v != math.Floor(v) && !math.IsNaN(v):
			return fmt.Errorf("%s: %v in column %q is not whole, and -likelihood %s is of counts; is it normal?", s.Place[i], v, s.Name, l)
		case l == Bernoulli && v != 0 && v != 1 && !math.IsNaN(v):
			return fmt.Errorf("%s: %v in column %q: -likelihood bernoulli is of 0 and 1", s.Place[i], v, s.Name)
		}
	}
	return nil
}

// What tells likelihoods apart.
const (
	largeCounts = 100 // counts around such a level are like any numbers, unless they are wide apart
	farOut      = 6   // robust standard deviations from the median of five: an outlier
	dispersed   = 2   // times the variance of a Poisson distribution
)

// Guess is the likelihood that suits the numbers, and why.
func (s Series) Guess() (Likelihood, string) {
	y := s.known()
	whole := !slices.ContainsFunc(y, func(v float64) bool { return v < 0 || v != math.Floor(v) })
	mean, sd := stat.MeanStdDev(y, nil)
	switch {
	case whole && floats.Max(y) <= 1:
		return Bernoulli, "all are 0 or 1"
	case whole && (mean < largeCounts || sd > mean/2):
		if noise := noiseOf(y); noise*noise > dispersed*mean {
			return NegativeBinomial, "counts that vary more than a Poisson distribution does"
		}
		return Poisson, "counts"
	}
	if _, out := spread(y); out > 0 {
		return Student, fmt.Sprintf("%d outliers", out)
	}
	return Normal, "numbers without outliers"
}

// noiseOf is the standard deviation of neighbours around a level that they share.
func noiseOf(y []float64) float64 {
	sum := 0.0
	for i := 1; i < len(y); i++ {
		sum += (y[i] - y[i-1]) * (y[i] - y[i-1]) / 2
	}
	return math.Sqrt(sum / float64(max(1, len(y)-1)))
}

// spread is the standard deviation of the numbers that are not outliers, and how many are.
func spread(y []float64) (sd float64, outliers int) {
	off := make([]float64, len(y))
	for i := range y {
		off[i] = math.Abs(y[i] - median(y[max(0, i-2):min(len(y), i+3)]))
	}
	limit := farOut * 1.4826 * median(off)
	var in []float64
	for i, o := range off {
		if o <= limit || limit == 0 {
			in = append(in, y[i])
		}
	}
	return stat.StdDev(in, nil), len(y) - len(in)
}

func median(y []float64) float64 {
	s := slices.Sorted(slices.Values(y))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
