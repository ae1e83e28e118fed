package vi

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/facetvi/facet/internal/text"
)

// String is the ELBO, the warnings and a table of each kind. A latent's numbers have as many decimals as
// show two digits of its standard deviation.
func (s Summary) String() string {
	var parts []string
	if head := s.head(); head != "" {
		parts = append(parts, head)
	}
	if len(s.Latents) > 0 {
		rows := [][]string{{"latent", "mean", "sd", "5%", "50%", "95%"}}
		for _, l := range s.Latents {
			write := writer(l.SD, l.Mean, l.Q5, l.Q95)
			rows = append(rows, []string{l.Name, write(l.Mean), write(l.SD), write(l.Q5), write(l.Q50), write(l.Q95)})
		}
		parts = append(parts, text.Table(rows, 1))
	}
	if len(s.Correlations) > 0 {
		rows := [][]string{{"latents", "", "correlation"}}
		for _, c := range s.Correlations {
			rows = append(rows, []string{c.A, c.B, fmt.Sprintf("%.2f", c.Value)})
		}
		parts = append(parts, text.Table(rows, 2))
	}
	if len(s.Guards) > 0 {
		rows := [][]string{{"guard", "holds where", "probability"}}
		for _, g := range s.Guards {
			rows = append(rows, []string{g.Name, g.Condition, probability(g.Prob)})
		}
		parts = append(parts, text.Table(rows, 2))
	}
	return strings.Join(parts, "\n")
}

// head is the ELBO, unless it is zero, and the warnings.
func (s Summary) head() string {
	var b strings.Builder
	if s.ELBO != (Estimate{}) {
		fmt.Fprintf(&b, "ELBO %v nats\n", s.ELBO)
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}

// writer returns how to write the values of a row and their standard deviation.
func writer(sd float64, values ...float64) func(float64) string {
	top := 0.0
	for _, v := range append(values, sd) {
		if finite(v) {
			top = max(top, math.Abs(v))
		}
	}
	decimals := 3
	if sd > 0 && finite(sd) {
		decimals = 1 - int(math.Floor(math.Log10(sd)))
	}
	format := byte('f')
	if decimals > 6 || top >= 1e7 { // too long
		format = 'e'
		decimals = min(15, decimals+int(math.Floor(math.Log10(top))))
	}
	return func(x float64) string { return strconv.FormatFloat(x, format, max(0, decimals), 64) }
}

// probability keeps what is nearly certain apart from what is certain.
func probability(p float64) string {
	switch {
	case p > 0 && p < 0.0005:
		return "<0.001"
	case p < 1 && p > 0.9995:
		return ">0.999"
	}
	return fmt.Sprintf("%.3f", p)
}
