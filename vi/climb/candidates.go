package climb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/cells"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/internal/watch"
	"github.com/facetvi/facet/vi/scout"
)

// How starts are looked for. Widths and step sizes are in units of the prior's
// scale.
const (
	startWidth   = 0.1 // of the narrow normal around a draw
	climbSteps   = 20
	climbRate    = 0.1
	startSamples = 8 // that judge a draw
	trials       = 10
)

// Around are independent normals of d's latents, and masses of discrete ones; the sd of a
// parameter is its unit.
func Around(d *graph.Density, mean, sd []float64) family.Q {
	q, _ := family.MeanField{}.New(d) // it suits every program
	q.Place(mean, sd)
	return q
}

// Prior are independent normals at the centre of the prior, as wide as it is there.
func Prior(d *graph.Density) family.Q {
	center, scale := d.PriorStart()
	return Around(d, center, scale)
}

// counting returns what tells the progress of a part of that search: it is to be
// called with how many more of total things have been done.
func counting(w *watch.Watch, total int, things string) (done func(n int)) {
	var all atomic.Int64
	return func(n int) { w.Soon("looking for a start: %d of %d %s", all.Add(int64(n)), total, things) }
}

// A candidate is a start that competes with others.
type candidate struct {
	q      family.Q
	region string
	score  float64 // an ELBO, but for a constant that is the same for all
}

// rank sorts candidates, the best ones first and NaN last. Scores are compared to
// 1e-9 nats: what they differ by less is rounding, which depends on the data's units.
func rank(list []candidate) {
	best := math.Inf(-1)
	for _, c := range list {
		if c.score > best {
			best = c.score
		}
	}
	quality := func(c candidate) float64 {
		if c.score == best { // which may be infinite
			return 0
		}
		return -math.Round((best - c.score) * 1e9)
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(quality(b), quality(a)) })
}

// bestOf returns the n best candidates, each of another region as long as there
// are others.
func bestOf(list []candidate, n int) []candidate {
	first, rest := byRegion(list)
	list = append(first, rest...)
	return list[:min(n, len(list))]
}

// firstOfRegions returns the n best candidates of different regions.
func firstOfRegions(list []candidate, n int) []candidate {
	first, _ := byRegion(list)
	return first[:min(n, len(first))]
}

// byRegion returns the best candidate of each region, and the others, by score.
func byRegion(list []candidate) (first, rest []candidate) {
	rank(list)
	seen := map[string]bool{}
	for _, c := range list {
		if seen[c.region] {
			rest = append(rest, c)
		} else {
			first = append(first, c)
		}
		seen[c.region] = true
	}
	return first, rest
}

// atModes are the best candidates at the modes of the regions of others, as wide
// as log r is curved there.
func atModes(ctx context.Context, d *graph.Density, f family.Family, list []candidate, w *watch.Watch) ([]candidate, error) {
	done := counting(w, len(list), "modes")
	_, scale := d.PriorStart()
	found := make([]candidate, len(list))
	finders := make([]*cells.ModeFinder, parallel.Processors(len(list)))
	err := parallel.Do(len(finders), len(list), func(w, k int) (err error) {
		defer done(1)
		if finders[w] == nil {
			if finders[w], err = cells.NewModeFinder(d, nil); err != nil || finders[w] == nil {
				return err
			}
		}
		z := make([]float64, d.Dim())
		for i := range z {
			z[i] = list[k].q.Mean(i)
		}
		precision, top, err := finders[w].Find(ctx, z)
		if err != nil || precision == nil {
			return err
		}
		sd := slices.Clone(scale)
		for i := d.Params(); i < len(sd); i++ {
			sd[i] = 1 / math.Sqrt(precision.At(i, i))
		}
		q, err := family.Of(f, d, Around(d, z, sd))
		if err != nil {
			return err
		}
		q.Correlate(precision)
		var normal family.Gaussian = family.Independent(z[d.Params():], sd[d.Params():])
		if g, ok := q.(family.Gaussian); ok {
			normal = g
		}
		found[k] = candidate{q, list[k].region, top + normal.Entropy()} // the integral, as if the region had no end
		return nil
	})
	found = slices.DeleteFunc(found, func(c candidate) bool { return c.q == nil })
	return firstOfRegions(found, trials), err
}

// scouted puts draws of a scout before the candidates, of the regions with most draws. Parameters
// are drawn too, from around their starts: at one place there may be no way to a better one.
func scouted(ctx context.Context, d *graph.Density, s Job, list []candidate) ([]candidate, error) {
	sample, err := scout.Run(ctx, d.Loosened(), scout.Settings{Seed: parallel.Mix(s.Seed, streams.Scout), Over: s.Watch.Half.Over, Progress: func(beta float64) {
		s.Watch.Soon("independent search: the data at %.2g of their weight", beta)
	}})
	if errors.Is(err, scout.ErrNowhere) {
		return list, nil // the fit will say why
	}
	if err != nil {
		return nil, err
	}
	_, sd := d.PriorStart()
	floats.Scale(startWidth, sd[d.Params():])
	var found []candidate
	for _, z := range cells.Different(d, sample.Z, 2*trials) {
		found = append(found, candidate{q: Around(d, z, sd), region: d.Arrangement().Signs(z).String()})
	}
	return append(found, list...), nil
}

// candidates are the best of the prior's draws and its centre.
func candidates(ctx context.Context, d *graph.Density, s Job) ([]candidate, error) {
	done := counting(s.Watch, 1+s.StartDraws, "draws")
	cut := parallel.Cut(1+s.StartDraws, d.Dim())
	found := make([][]candidate, cut.Len())
	climbers := make([]*climber, parallel.Processors(len(found)))
	n := max(5*trials, s.Restarts)
	err := parallel.Do(len(climbers), len(found), func(w, b int) error {
		if climbers[w] == nil {
			c, err := newClimber(d, cut.Size)
			if err != nil {
				return err
			}
			climbers[w] = c
		}
		list, err := climbers[w].run(ctx, b, cut.Width(b), rand.New(parallel.Stream(parallel.Mix(s.Seed, streams.Draws), b)))
		found[b] = bestOf(list, n)
		done(cut.Width(b))
		return err
	})
	return bestOf(slices.Concat(found...), n), err
}

// A climber improves a batch of points, each by its own gradient. Parameters stay where
// they are: log r may have no maximum in them and the latents together.
type climber struct {
	d             *graph.Density
	x             *graph.Executor
	center, scale []float64
	u, g          []float64 // points and gradients in units of scale, as in x.Z
}

func newClimber(d *graph.Density, n int) (*climber, error) {
	x, err := d.Executor(n, graph.Compute{Out: true, Grad: true})
	if err != nil {
		return nil, err
	}
	c := &climber{d: d, x: x, u: make([]float64, len(x.Z)), g: make([]float64, len(x.Z))}
	c.center, c.scale = d.PriorStart()
	return c, nil
}

// run draws width points from the prior and returns where they climb to. In block
// 0 the first of them is the centre of the prior. The executor's columns beyond
// width are at the centre, too, and are not returned.
func (c *climber) run(ctx context.Context, block, width int, rng *rand.Rand) ([]candidate, error) {
	if err := stopped(ctx); err != nil {
		return nil, err
	}
	z := make([]float64, len(c.center))
	for k := range c.x.N {
		copy(z, c.center)
		if k < width && (k > 0 || block > 0) {
			c.d.PriorDraw(z, rng)
		}
		for i, v := range z {
			c.u[i*c.x.N+k] = v / c.scale[i]
		}
	}
	adam, falling := Adam{}, Schedule{Shape: Cosine}
	for t := 1; t <= climbSteps; t++ {
		if err := c.evaluate(ctx, 0, rng); err != nil {
			return nil, err
		}
		for i := c.d.Params() * c.x.N; i < len(c.g); i++ {
			c.g[i] = c.x.Grad[i] * c.scale[i/c.x.N]
		}
		adam.StepSize = climbRate * falling.At(t, climbSteps+1)
		adam.Step(c.u, c.g)
	}
	score := make([]float64, width)
	for range startSamples {
		if err := c.evaluate(ctx, startWidth, rng); err != nil {
			return nil, err
		}
		for k := range score {
			score[k] += c.x.Out[k] / startSamples
		}
	}
	return c.candidates(score), nil
}

// evaluate computes log r and its gradient at normals of the given width around
// the points.
func (c *climber) evaluate(ctx context.Context, width float64, rng *rand.Rand) error {
	if err := stopped(ctx); err != nil {
		return err
	}
	for i, u := range c.u {
		if width > 0 && i >= c.d.Params()*c.x.N {
			u += width * rng.NormFloat64()
		}
		c.x.Z[i] = u * c.scale[i/c.x.N]
	}
	c.d.Arrangement().SignBatch(c.x.Signs, c.x.Z, c.x.N)
	return c.x.Run()
}

func stopped(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("stopped while looking for a start: %w", cause(ctx))
}

// candidates are the points with finite scores.
func (c *climber) candidates(score []float64) []candidate {
	sd := slices.Clone(c.scale)
	floats.Scale(startWidth, sd[c.d.Params():])
	var list []candidate
	one := Around(c.d, c.center, sd)
	for k, v := range score {
		if !finite(v) {
			continue
		}
		z := make([]float64, len(c.scale))
		for i := range z {
			z[i] = c.u[i*c.x.N+k] * c.scale[i]
		}
		q := one.Clone()
		q.Place(z, sd)
		list = append(list, candidate{q: q, region: c.d.Arrangement().Signs(z).String(), score: v})
	}
	return list
}
