package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi/mc"
)

// biasShown is the number of components that String lists.
const biasShown = 12

// Verdict is the overall statement, in one line.
func (c BiasCheck) Verdict() string {
	silent := !slices.ContainsFunc(c.Components, func(x BiasComponent) bool { return x.Term != (mc.Estimate{}) })
	switch {
	case c.Guards == 0:
		return "not biased: the program has no guards"
	case silent:
		return "not biased: log r jumps nowhere that this fit reaches"
	case !c.Biased:
		return fmt.Sprintf("no bias seen: the largest |z| is %s, and %.1f could be chance; a bias of %.2g would be seen", zText(c.MaxZ), c.Bound, c.sees())
	}
	return fmt.Sprintf("BIASED: reparameterization alone is off by %s, where the gradient is %s; the largest |z| is %s, and %.1f could be chance",
		c.Bias.Short(), c.Gradient.Short(), zText(c.MaxZ), c.Bound)
}

// sees is the size of a bias of one component that would be seen.
func (c BiasCheck) sees() float64 {
	se := 0.0
	for _, x := range c.Components {
		se = math.Max(se, x.Term.SE)
	}
	return c.Bound * se
}

// ScoreText is what the score estimator says, in one line.
func (c BiasCheck) ScoreText() string {
	say := []string{c.Score.String() + ": "}
	if c.Biased {
		say = append(say, fmt.Sprintf("it finds %s of the bias", c.Along.Short()))
	} else {
		say = append(say, fmt.Sprintf("it would see a difference of %.2g", c.ScoreSees))
	}
	if c.Score != ScoreTooNoisy {
		say = append(say, fmt.Sprintf("; the largest |z| is %s, and %.1f could be chance", zText(c.ScoreMaxZ), c.ScoreBound))
	} else if c.RareSides > 0 {
		say = append(say, fmt.Sprintf("; its draws see too little of %d rare sides of guards", c.RareSides))
	} else {
		say = append(say, "; take more samples")
	}
	return strings.Join(say, "")
}

// String is the verdicts and a table of the components with the largest |Z|.
func (c BiasCheck) String() string {
	list := slices.Clone(c.Components)
	slices.SortStableFunc(list, func(a, b BiasComponent) int { return cmp.Compare(math.Abs(b.Z), math.Abs(a.Z)) })
	rows := [][]string{{"gradient by", "reparam", "boundary term", "z", "boundary", "score", "z to boundary", "z to reparam"}}
	for _, x := range list[:min(biasShown, len(list))] {
		rows = append(rows, []string{
			x.Name, x.Reparam.Short(), x.Term.Short(), zText(x.Z),
			x.Boundary.Short(), x.Score.Short(), zText(x.ScoreZ), zText(x.ReparamZ),
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", c.Verdict(), c.ScoreText())
	b.WriteString(text.Table(rows, 1))
	if n := len(list) - biasShown; n > 0 {
		fmt.Fprintf(&b, "%d more components\n", n)
	}
	return b.String()
}

// zText is a z-score with one decimal, or its sign and size if it is enormous.
func zText(z float64) string {
	switch {
	case z > 1e6:
		return "> 1e6"
	case z < -1e6:
		return "< -1e6"
	case math.Abs(z) >= 1000:
		return fmt.Sprintf("%.2g", z)
	}
	return fmt.Sprintf("%.1f", z+0)
}
