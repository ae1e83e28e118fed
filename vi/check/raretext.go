package check

import (
	"fmt"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/text"
	"github.com/facetvi/facet/vi/mc"
)

// rareShown is the number of sides that String lists.
const rareShown = 10

// String is the two estimates and a table of the sides that bring most.
func (r Unseen) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-25s  %v\n", fmt.Sprintf("ELBO of %d draws", r.Samples), r.Plain)
	fmt.Fprintf(&b, "%-25s  %v\n", "with rare sides of guards", r.Corrected)
	if r.Misleading() {
		fmt.Fprintf(&b, "The draws miss rare sides that bring %v nats: do not use the first number.\n", r.Missed)
	}
	if r.Skipped > 0 {
		fmt.Fprintf(&b, "Of %d rare sides of guards nothing is known: the family cannot be drawn there.\n", r.Skipped)
	}
	if len(r.Sides) == 0 {
		if r.Skipped == 0 {
			b.WriteString("No side of a guard is rare.\n")
		}
		return b.String()
	}
	rows := [][]string{{"rare side", "where", "probability", "draws", "gap in nats", "brings"}}
	for _, s := range r.Sides[:min(rareShown, len(r.Sides))] {
		rows = append(rows, []string{
			s.Condition, graph.Places(s.Guards), fmt.Sprintf("%.2g", s.Prob), fmt.Sprint(s.Seen), s.Gap.Short(), s.Missed.Short(),
		})
	}
	b.WriteString("\n")
	b.WriteString(text.Table(rows, 2))
	if rest := r.Sides[min(rareShown, len(r.Sides)):]; len(rest) > 0 {
		e := mc.Estimate{}
		for _, s := range rest {
			e = e.Plus(s.Missed)
		}
		fmt.Fprintf(&b, "%d more rare sides bring %s\n", len(rest), e.Short())
	}
	return b.String()
}
