// Package plot draws fits: the ELBO while a fit ran, marginal densities, the
// posterior predictive against the data, and the probabilities of guards.
//
// Each function returns a plot of gonum.org/v1/plot in one fixed style. The plot
// can be changed before it is saved: its axes, titles and ranges are fields, and
// Add draws more into it.
//
//	p, err := plot.Marginals(fit, "before", "after")
//	if err != nil {
//		return err
//	}
//	p.X.Label.Text = "messages a day"
//	err = plot.Save(p, "rates.svg")
//
// Colours are those of Okabe and Ito, which most colour-blind readers can tell
// apart. The legend stands beside the data, never on it:
//
//	      title
//	y │   ╭──╮        ── before
//	  │  ╱    ╲       ── after
//	  └─────────────
//	        x
package plot
