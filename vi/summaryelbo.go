package vi

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// What a summary spends on the ELBO: it should take less time than to read.
const (
	summaryDraws = 1000
	summarySides = 100 // rare ones, the most probable
)

// summaryELBO is the ELBO with rare sides of guards, and what a user should know
// of it; "" if there is nothing.
func (p *Posterior) summaryELBO() (Estimate, string) {
	r, err := rareSidesOf(p.Density, p.Q, summaryDraws, summarySides, 0)
	switch {
	case err != nil:
		return Estimate{math.NaN(), math.NaN()}, "no ELBO: " + strings.TrimPrefix(err.Error(), "vi: ")
	case r.Misleading():
		return r.Corrected, fmt.Sprintf("estimates of the ELBO may mislead: %d draws say %v, for they see too little of rare sides of guards; see RareSides",
			r.Samples, r.Plain)
	}
	return r.Corrected, ""
}

// likeliest are the n most probable sides.
func likeliest(sides []RareSide, n int) []RareSide {
	if len(sides) <= n {
		return sides
	}
	slices.SortStableFunc(sides, func(a, b RareSide) int { return cmp.Compare(b.Prob, a.Prob) })
	return sides[:n]
}
