// Package report writes a fit as one HTML file, to look at, to print and to send:
//
//	err := report.Save("fit.html", fit, report.Options{Title: "Disasters in coal mines"})
//
// The file has all in it, its pictures too, and asks nothing of a network:
//
//	verdict       whether the numbers can be relied on, and why
//	latents       means with their standard errors, quantiles, and the prior beside the posterior
//	explanations  the parts of the posterior between which it falls off a cliff, with their weights
//	guards        how probable it is that each holds
//	predictions   what the fit predicts beside the data, and named expressions
//	program       latents ─▶ guards ─▶ observations
//	search        how the fit was found
//
// Save is of one fit, SaveModels of programs for the same data, SaveLines of one program for many data, and SaveTable of any results.
//
// It is light or dark as the reader's screen is, fits a telephone and a sheet of paper, and its tables can be copied into a
// spreadsheet. What is long is folded. One fit always gives the same file. All numbers are those of the methods of
// vi.Posterior, and the pictures are those of package plot.
package report
