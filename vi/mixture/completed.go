package mixture

import (
	"math/rand/v2"

	"github.com/facetvi/facet/vi/family"
)

// A Completed is a family.Q of which some latents have a law of their own given the others, the
// rest: log q(z) = log q(rest) + log p(z | rest). A mixture whose parts have that law in common
// needs it once for each draw, and for many draws at a time.
type Completed interface {
	family.Q
	// LogRest is log q(rest).
	LogRest(z []float64) float64
	// LogRests sets logs to it at points z, latents × len(logs). room is scratch of (Dim() + 1)·len(logs) numbers.
	LogRests(logs, z, room []float64)
	// RandRest draws the rest of z.
	RandRest(z []float64, rng *rand.Rand)
	// Completion is the law of the others.
	Completion() Completion
}

// A Completion is the law of some latents given the rest.
type Completion interface {
	// Equal reports whether another one is the same law.
	Equal(Completion) bool
	// LogProb is log p(z | rest).
	LogProb(z []float64) float64
	// Completer returns what works on batches of n points.
	Completer(n int) Completer
}

// A Completer works on batches of points, latents × n. It is for one goroutine.
type Completer interface {
	// Uniforms is how many uniform numbers the draw of a point takes.
	Uniforms() int
	// Draw draws what is not the rest of z, given Uniforms numbers for each point, one
	// point after another, and stores log p(z | rest) in log, if that is not nil.
	Draw(log, z, u []float64)
	// LogR is log r of p at what Draw has drawn with log; nil if it is not known.
	LogR(p family.Program) []float64
	// LogProb stores log p(z | rest) in log.
	LogProb(log, z []float64)
}

// completion is what all parts have in common; nil if they have not.
func completion(parts []family.Q) (common Completion) {
	for _, q := range parts {
		c, ok := q.(Completed)
		switch {
		case !ok:
			return nil
		case common == nil:
			common = c.Completion()
		case !common.Equal(c.Completion()):
			return nil
		}
	}
	return common
}
