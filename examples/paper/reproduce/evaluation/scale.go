package evaluation

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
)

// An elboScale shows an ELBO by its distance from an optimum: logarithmic far
// from it, where runs start, and linear within knee nats of it, so that ends can
// be told apart and the optimum itself is on the axis. Higher is better, also
// above the optimum.
type elboScale struct{ optimum, knee float64 }

// scaleOf is the scale of a model's panels. Its knee is a power of ten below
// the distance of the run that ends nearest, and at least a tenth of a nat.
func (s *summary) scaleOf(model string) elboScale {
	nearest := math.Inf(1)
	for _, r := range s.Final {
		if gap := math.Abs(s.optimum(model) - float64(r.Exact)); r.Model == model && gap < nearest {
			nearest = gap
		}
	}
	if math.IsInf(nearest, 0) {
		nearest = 1
	}
	return elboScale{s.optimum(model), math.Pow(10, math.Max(-1, math.Floor(math.Log10(nearest))))}
}

// at is where the ELBO is on the axis.
func (s elboScale) at(elbo float64) float64 { return math.Asinh((elbo - s.optimum) / s.knee / 2) }

// Ticks implements plot.Ticker, for an axis in units of at: the optimum, and
// powers of ten of the distance from it that are not in its name's way.
func (s elboScale) Ticks(lo, hi float64) []plot.Tick {
	ticks := []plot.Tick{{Value: 0, Label: "optimum"}}
	room := (hi - lo) / 16
	for e := int(math.Round(math.Log10(s.knee))); e <= 300; e++ {
		below, above := s.at(s.optimum-math.Pow(10, float64(e))), s.at(s.optimum+math.Pow(10, float64(e)))
		if below < lo && above > hi {
			break
		}
		if below >= lo && below < -room {
			ticks = append(ticks, plot.Tick{Value: below, Label: "−" + power(e)})
		}
		if above <= hi && above > room {
			ticks = append(ticks, plot.Tick{Value: above, Label: "+" + power(e)})
		}
	}
	return ticks
}

var superscript = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// power is 10ᵉ.
func power(e int) string {
	if e < 2 {
		return fmt.Sprint(math.Pow(10, float64(e)))
	}
	return "10" + superscript.Replace(fmt.Sprint(e))
}
