// Package streams numbers the streams of random numbers of a fit, beside those of its gradients, by what they are for. Each is
// mixed with the fit's seed.
package streams

// The streams.
const (
	Draws   = 1<<32 + iota // the prior's draws
	Trials                 // short fits
	Judge                  // the comparison of restarts, and weighted draws
	Gain                   // automatic stopping; the step is added
	Scout                  // the scout
	Cells                  // the search for cells
	Parts                  // parts of the data
	Sampler                // the sampler
	Trace   = 1 << 48      // the trace; the step is added
)
