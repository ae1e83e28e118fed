package sumout

import (
	"slices"
	"sync"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
)

// A Given is the posterior of switches given the rest.
type Given struct {
	d        *graph.Density
	Switches []derive.SwitchLatent
	idle     sync.Map // by number of points: a sync.Pool of completers
}

// NewGiven returns that of switches of d.
func NewGiven(d *graph.Density, switches []derive.SwitchLatent) *Given {
	return &Given{d: d, Switches: switches}
}

// take is a completer for n points, perhaps one that was put back: to make one takes longer than to use it.
func (c *Given) take(n int) *completer {
	pool, ok := c.idle.Load(n)
	if !ok {
		pool, _ = c.idle.LoadOrStore(n, &sync.Pool{New: func() any { return c.Completer(n) }})
	}
	return pool.(*sync.Pool).Get().(*completer)
}

func (c *Given) put(x *completer) {
	if pool, ok := c.idle.Load(x.n); ok {
		pool.(*sync.Pool).Put(x)
	}
}

// Equal implements mixture.Completion.
func (c *Given) Equal(other mixture.Completion) bool {
	o, ok := other.(*Given)
	return ok && o.d == c.d && slices.EqualFunc(c.Switches, o.Switches, func(a, b derive.SwitchLatent) bool { return a.Latent == b.Latent })
}

// LogProb implements mixture.Completion.
func (c *Given) LogProb(z []float64) float64 {
	one, log := c.take(1), make([]float64, 1)
	defer c.put(one)
	one.LogProb(log, z)
	return log[0]
}

// A completer works through a batch of n points a few at a time, as many as have what
// is known of their intervals in fast memory.
type completer struct {
	sum  *Sum
	n    int
	logR []float64 // at what was drawn
}

const (
	fastNumbers = 1 << 18
	fewPoints   = 16
)

// Completer implements mixture.Completion.
func (c *Given) Completer(n int) mixture.Completer {
	batches := (n-1)/max(fewPoints, fastNumbers/c.d.Arrangement().Len()) + 1
	sum, err := New(c.d, c.Switches, (n-1)/batches+1)
	if err != nil {
		panic("sumout: " + err.Error()) // New has worked before
	}
	return &completer{sum, n, make([]float64, n)}
}

// each runs the sum for all points of z, and calls f with the place in the sum and in
// z of each.
func (c *completer) each(z []float64, f func(k, at int)) {
	c.batches(z, c.n, func(first, some int) {
		if err := c.sum.Run(nil); err != nil {
			panic("sumout: " + err.Error())
		}
		for k := range some {
			f(k, first+k)
		}
	})
}

// batches calls f with as many of the n points of z at a time as the sum has samples, which are these, the last ones repeated.
func (c *completer) batches(z []float64, n int, f func(first, some int)) {
	width := c.sum.N
	for first := 0; first < n; first += width {
		for i := range c.sum.d.Dim() {
			row := c.sum.X.Z[i*width:][:width]
			for k := copy(row, z[i*n:][first:n]); k < width; k++ {
				row[k] = row[0]
			}
		}
		f(first, min(width, n-first))
	}
}

// Uniforms implements mixture.Completer.
func (c *completer) Uniforms() int { return 2 * len(c.sum.Switches) }

// Draw implements mixture.Completer.
func (c *completer) Draw(log, z, u []float64) {
	c.each(z, func(k, at int) {
		c.sum.draw(k, u[at*c.Uniforms():], z, at, c.n)
		if log != nil {
			log[at] = c.sum.logDrawn(k, z, at, c.n)
			c.logR[at] = c.sum.Out[k] + log[at]
		}
	})
}

// LogR implements mixture.Completer.
func (c *completer) LogR(p family.Program) []float64 {
	if p != family.Program(c.sum.d) {
		return nil
	}
	return c.logR
}

// LogProb implements mixture.Completer.
func (c *completer) LogProb(log, z []float64) {
	c.each(z, func(k, at int) { log[at] = c.sum.logProb(k, z, at, c.n) })
}
