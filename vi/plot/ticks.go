package plot

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// ticks sets three to nine labelled ticks at multiples of 1, 2 or 5 times a power
// of ten, where gonum's own has two or three. In small pictures, few, there are at most six.
type ticks struct{ few bool }

// Ticks implements plot.Ticker.
func (t ticks) Ticks(low, high float64) []plot.Tick {
	most := 8.0
	if t.few {
		most = 5
	}
	step := roundStep((high - low) / most)
	if !(step > 0) || math.IsInf(step, 0) {
		return []plot.Tick{{Value: low, Label: tickLabel(low, 1)}}
	}
	var out []plot.Tick
	for k := math.Ceil(low/step - 1e-9); k*step <= high+1e-9*step; k++ {
		v := k * step
		out = append(out, plot.Tick{Value: v, Label: tickLabel(v, step)})
		if v+step == v { // an axis as short as rounding
			break
		}
	}
	return out
}

// roundStep is the least 1, 2 or 5 times a power of ten that is not below x.
func roundStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// tickLabel writes a multiple of step, with a true minus sign.
func tickLabel(v, step float64) string {
	if math.Abs(v) < step/2 {
		v = 0 // not −0
	}
	var s string
	switch digits := max(0, -int(math.Floor(math.Log10(step)+1e-9))); {
	case digits <= 5 && step < 1e6:
		s = strconv.FormatFloat(v, 'f', digits, 64)
	case v == 0:
		s = "0"
	default:
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 11, 64), 64) // drop rounding
		s = strconv.FormatFloat(v, 'e', -1, 64)
	}
	return strings.Replace(s, "-", "−", 1)
}
