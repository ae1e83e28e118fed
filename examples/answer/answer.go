// Package answer is what the reports of the examples begin with: whether a fit can be trusted, and the explanations of the
// data that it has found:
//
//	Verdict: trust
//
//	change in (1891, 1892)   0.24   ████████        a part of the posterior, its weight π_k, Σ_k π_k = 1
//
// They are asked of vi.Posterior: Verdict and Cells.
package answer

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/facetvi/facet/vi"
)

// Verdict prints whether the fit can be trusted, and why.
func Verdict(out io.Writer, fit *vi.Posterior) error {
	v, err := fit.Verdict()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Verdict: %s\n", v.Trust)
	for _, reason := range v.Reasons {
		fmt.Fprintf(out, "  because %s\n", reason)
	}
	for _, try := range v.Try {
		fmt.Fprintf(out, "  try %s\n", try)
	}
	fmt.Fprintln(out)
	return nil
}

// Cells prints the most probable cells, at most as many as most.
func Cells(out io.Writer, fit *vi.Posterior, most int) {
	cells := fit.Cells()
	shown := cells[:min(most, len(cells))]
	width, rest := utf8.RuneCountInString("explanation"), 1.0
	for _, c := range shown {
		width = max(width, utf8.RuneCountInString(c.Where))
	}
	fmt.Fprintf(out, "%-*s  weight\n", width, "explanation")
	for _, c := range shown {
		rest -= c.Weight
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-*s  %6.3f  %s", width, c.Where, c.Weight, Bar(c.Weight)), " "))
	}
	if n := len(cells) - len(shown); n > 0 {
		fmt.Fprintf(out, "%-*s  %6.3f\n", width, fmt.Sprintf("%d more", n), max(0, rest))
	}
}

// Bar draws a probability, to a sixtieth.
func Bar(p float64) string { return strings.Repeat("█", int(60*p+0.5)) }

// Draws are n draws of each latent, by name.
func Draws(fit *vi.Posterior, n int, seed uint64) (map[string][]float64, error) {
	draws, err := fit.Draws(n, seed)
	if err != nil {
		return nil, err
	}
	all := map[string][]float64{}
	for _, name := range draws.Names {
		if all[name], err = draws.Of(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}
