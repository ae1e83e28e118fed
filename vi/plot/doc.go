// Package plot draws fits:
//
//	ELBO        the objective while a fit ran
//	Marginals   posterior densities of latents
//	Predictive  the posterior predictive against the data
//	Guards      probabilities of guards, over time for instance
//	Cells       the weights of a posterior's cells
//	Regions     two latents: regions, hyperplanes, contours and draws
//
// and saves the pictures: [Save].
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
//
// Densities are those of the fit: of a latent x = f(z)
//
//	p(x) = q(f⁻¹(x))·|df⁻¹/dx|,   q the law of z (family.Marginal),
//
// and where it is known exactly no draws are taken. The numbers behind a picture are those of
// the fit's own methods: Quantile, Probs, Cells, Predict.
package plot
