package mc

import (
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// An Estimate is a number that was found by Monte Carlo and its standard error, which
// is 0 if the number is exact.
type Estimate struct{ Value, SE float64 }

// String is "mean ± standard error", without the latter if it is 0: Text(6).
func (e Estimate) String() string { return e.Text(6) }

// Text is the mean with the given number of digits, or with more if two digits of
// the standard error need them.
func (e Estimate) Text(digits int) string {
	if e.SE == 0 {
		return fmt.Sprintf("%.*g", digits, e.Value)
	}
	if need := math.Floor(math.Log10(math.Abs(e.Value))) - math.Floor(math.Log10(e.SE)) + 2; need > float64(digits) {
		digits = int(min(need, 17))
	}
	return fmt.Sprintf("%.*g ± %.2g", digits, e.Value, e.SE)
}

// Short is the estimate in a column: four digits, and two of the error; one
// without error is a number.
func (e Estimate) Short() string {
	if e.SE == 0 {
		return fmt.Sprintf("%.4g", e.Value)
	}
	return fmt.Sprintf("%.4g ± %.2g", e.Value, e.SE)
}

// Plus is the sum of independent estimates; an infinite one has no error.
func (e Estimate) Plus(o Estimate) Estimate {
	if sum := e.Value + o.Value; math.IsInf(sum, 0) {
		return Estimate{Value: sum}
	}
	return Estimate{e.Value + o.Value, math.Hypot(e.SE, o.SE)}
}

type estimateJSON struct{ Mean, SE Number }

// MarshalJSON implements json.Marshaler; NaN and infinities are strings.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(estimateJSON{Number(e.Value), Number(e.SE)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	var j estimateJSON
	err := json.Unmarshal(data, &j)
	*e = Estimate{float64(j.Mean), float64(j.SE)}
	return err
}

// Moments are a running mean and variance (Welford). The zero value is empty.
type Moments struct {
	N        int
	Mean, m2 float64
	infinite bool // a value was −Inf
}

// Add counts x in. A value of −Inf makes the mean −Inf, without a variance: so
// a log density's mean is what its infinite values say.
func (m *Moments) Add(x float64) {
	m.N++
	if math.IsInf(x, -1) {
		m.infinite = true
	}
	d := x - m.Mean
	m.Mean += d / float64(m.N)
	m.m2 += d * (x - m.Mean)
}

// Merge counts the values of o in.
func (m *Moments) Merge(o Moments) {
	if o.N == 0 {
		return
	}
	n := float64(m.N + o.N)
	d := o.Mean - m.Mean
	m.m2 += o.m2 + d*d*float64(m.N)*float64(o.N)/n
	m.Mean += d * float64(o.N) / n
	m.N += o.N
	m.infinite = m.infinite || o.infinite
}

// Variance is that of the values, with the divisor n − 1.
func (m *Moments) Variance() float64 { return m.m2 / float64(m.N-1) }

// SE is the standard error of the mean.
func (m *Moments) SE() float64 { return math.Sqrt(m.Variance() / float64(m.N)) }

// Estimate is the mean with its standard error: −Inf without error if a value
// was −Inf.
func (m *Moments) Estimate() Estimate {
	if m.infinite {
		return Estimate{Value: math.Inf(-1)}
	}
	return Estimate{m.Mean, m.SE()}
}

// Mean is the mean of values, as [Moments.Estimate] has it.
func Mean(values []float64) Estimate {
	var m Moments
	for _, v := range values {
		m.Add(v)
	}
	return m.Estimate()
}

// LogMean is the log of the mean of exp r.
func LogMean(r []float64) Estimate {
	top := floats.Max(r)
	if !(top > math.Inf(-1)) {
		return Estimate{Value: math.Inf(-1)}
	}
	var m Moments
	for _, x := range r {
		m.Add(math.Exp(x - top))
	}
	e := m.Estimate()
	return Estimate{Value: top + math.Log(e.Value), SE: e.SE / e.Value}
}
