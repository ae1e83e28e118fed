package vi

import (
	"fmt"
	"math"
	"strings"

	"github.com/facetvi/facet/internal/text"
)

// String is the ELBO, the log evidence, the verdict, how many observations are missing, if any are, the warnings, and a table each of the first ten cells, if there are
// several, of parameters, latents, vectors, masses, correlations and guards. The numbers of a latent have as many decimals
// as show two digits of its standard deviation. Thirteen guards of one name, or more, are one row.
func (s Summary) String() string {
	var parts []string
	if head := s.head(); head != "" {
		parts = append(parts, head)
	}
	if len(s.Cells) > 1 {
		parts = append(parts, s.cells())
	}
	if len(s.Params) > 0 {
		rows := [][]string{{"parameter", "value"}}
		for _, x := range s.Params {
			rows = append(rows, []string{x.Name, fmt.Sprintf("%.4g", x.Value)})
		}
		parts = append(parts, text.Table(rows, 1))
	}
	if len(s.Latents) > 0 {
		parts = append(parts, rowsOf("latent", s.Latents))
	}
	if len(s.Vectors) > 0 {
		parts = append(parts, rowsOf("vector", s.Vectors))
	}
	if masses := s.masses(); masses != "" {
		parts = append(parts, masses)
	}
	if len(s.Correlations) > 0 {
		rows := [][]string{{"latents", "", "correlation"}}
		for _, c := range s.Correlations {
			rows = append(rows, []string{c.A, c.B, fmt.Sprintf("%.2f", c.Value)})
		}
		parts = append(parts, text.Table(rows, 2))
	}
	if len(s.Guards) > 0 {
		parts = append(parts, s.guards())
	}
	return strings.Join(parts, "\n")
}

// grouped is from how many guards of one name, or of one place, on they are one row of the table.
const grouped = 13

// guards is the table of guards. Many of one name are a row, with the range of their probabilities.
func (s Summary) guards() string {
	rows := [][]string{{"guard", "holds where", "probability"}}
	for from := 0; from < len(s.Guards); {
		name, to := array(s.Guards[from].Name), from+1
		for to < len(s.Guards) && array(s.Guards[to].Name) == name {
			to++
		}
		group := s.Guards[from:to]
		from = to
		if len(group) < grouped {
			for _, g := range group {
				rows = append(rows, []string{g.Name, g.Condition, text.Probability(g.Prob.Value)})
			}
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, g := range group {
			low, high = min(low, g.Prob.Value), max(high, g.Prob.Value)
		}
		first, last := group[0], group[len(group)-1]
		row := []string{name + "[…]", first.Condition + " … " + last.Condition, text.Probability(low) + " to " + text.Probability(high)}
		if first.Condition == "" {
			row[1] = ""
		}
		rows = append(rows, row)
	}
	return text.Table(rows, 2)
}

// array is the name without an index.
func array(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return name
}

// head has the ELBO and the log evidence, unless they are zero, the verdict and the
// warnings.
func (s Summary) head() string {
	var b strings.Builder
	if s.ELBO != (Estimate{}) {
		fmt.Fprintf(&b, "ELBO %v nats\n", s.ELBO)
	}
	if s.LogEvidence != (Estimate{}) {
		fmt.Fprintf(&b, "log evidence %v nats\n", s.LogEvidence)
	}
	verdict := s.Verdict.String()
	if verdict != "" {
		fmt.Fprintf(&b, "verdict: %s\n", verdict)
	}
	if s.Missing > 0 {
		fmt.Fprintf(&b, "missing: %d of %d observations\n", s.Missing, s.Observations)
	}
	for _, w := range s.Warnings {
		if w != verdict {
			fmt.Fprintf(&b, "warning: %s\n", w)
		}
	}
	return b.String()
}

// listedCells is how many cells a table has.
const listedCells = 10

// cells is a table of the first cells, and a line about the others.
func (s Summary) cells() string {
	rows := [][]string{{"cell", "weight", "ELBO", "log evidence"}}
	rest := 0.0
	for k, c := range s.Cells {
		if k >= listedCells {
			rest += c.Weight
			continue
		}
		rows = append(rows, []string{c.Where, text.Probability(c.Weight), fmt.Sprintf("%.3f", c.ELBO.Value), short(c.LogEvidence)})
	}
	table := text.Table(rows, 1)
	if more := len(s.Cells) - listedCells; more > 0 {
		table += fmt.Sprintf("and %d more, of weight %s\n", more, text.Probability(rest))
	}
	if s.Tried > 0 {
		table += fmt.Sprintf("%d cells tried, %s of the posterior left out\n", s.Tried, text.Probability(s.Left))
	}
	return table
}

// short is an estimate in nats with three decimals, and two digits of its error.
func short(e Estimate) string { return fmt.Sprintf("%.3f ± %.2g", e.Value, e.SE) }

// rowsOf is the table of latents, or of components of vectors. The standard error of the mean is "± se".
func rowsOf(what string, list []LatentSummary) string {
	rows := [][]string{{what, "mean", "± se", "sd", "5%", "50%", "95%"}}
	for _, l := range list {
		cells := text.Moments(l.Mean.Value, l.Mean.SE, l.SD.Value, l.SD.SE, l.Q5.Value, l.Q50.Value, l.Q95.Value)
		rows = append(rows, append([]string{l.Name}, cells...))
	}
	return text.Table(rows, 1)
}

// listedMass is the least probability of a value that is listed.
const listedMass = 0.0005

// masses is a table of the discrete latents' probabilities, a row for each latent.
func (s Summary) masses() string {
	rows := [][]string{{"latent", "probability of its values"}}
	for _, l := range s.Latents {
		var list []string
		for j, v := range l.Values {
			if p := l.Masses[j].Value; p >= listedMass {
				list = append(list, fmt.Sprintf("%v: %s", v, text.Probability(p)))
			}
		}
		if list != nil {
			rows = append(rows, []string{l.Name, strings.Join(list, ", ")})
		}
	}
	if len(rows) == 1 {
		return ""
	}
	return text.Table(rows, 2)
}
