// Package plot draws fits:
//
//	ELBO        the objective while a fit ran
//	Marginals   posterior and prior densities of latents
//	Intervals   posterior and prior intervals of many latents
//	Predictive  the posterior predictive against the data
//	Guards      probabilities of guards, over time for instance
//	Models      the probabilities of models
//	Calibration ranks by simulation, with their band
//	Sensitivity which priors matter
//	Cells       the weights of a posterior's cells
//
// and saves the pictures, or writes them for a page: [Save], [SVG]. Package report makes that page.
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
// All are pictures of the posterior: densities are of the fit's weighted draws,
// [vi.Posterior.Sample], and the numbers behind the other pictures are those of
// the fit's own methods: Probs, Cells, Predict.
package plot
