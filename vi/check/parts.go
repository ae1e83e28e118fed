package check

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/mc"
)

// Statistics of the gradient's parts come from batches of samples: chunks of
// them, each with a stream of its own, evaluated concurrently.
const (
	partBatch  = 32 // samples
	partChunks = 16
)

// checkDraws reports a q that is not one of d's latents, and a number of draws that nobody waits for.
func checkDraws(d *graph.Density, q family.Q, n int) error {
	err := family.Check(q, d)
	if err == nil {
		err = parallel.CheckDraws(n)
	}
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	return nil
}

// batchesFor is the number of batches in a chunk.
func batchesFor(samples int) int {
	return max(2, (samples+partChunks*partBatch-1)/(partChunks*partBatch))
}

// replicate does batches of partBatch samples, for different chunks concurrently.
// Each processor binds what does a batch for a chunk.
func replicate(batches int, seed uint64, bind func() (func(chunk int, rng *rand.Rand) error, error)) error {
	bound := make([]func(int, *rand.Rand) error, parallel.Processors(partChunks))
	return parallel.Do(len(bound), partChunks, func(p, c int) (err error) {
		if bound[p] == nil {
			if bound[p], err = bind(); err != nil {
				return err
			}
		}
		rng := rand.New(parallel.Stream(seed, c))
		for range batches {
			if err := bound[p](c, rng); err != nil {
				return err
			}
		}
		return nil
	})
}

// chunked are running moments of vectors, by chunk.
type chunked [partChunks][]mc.Moments

func newChunked(n int) *chunked {
	var c chunked
	for k := range c {
		c[k] = make([]mc.Moments, n)
	}
	return &c
}

func (c *chunked) add(chunk int, v []float64) {
	for i, x := range v {
		c[chunk][i].Add(x)
	}
}

// total are the moments of all chunks.
func (c *chunked) total() []mc.Moments {
	all := make([]mc.Moments, len(c[0]))
	for _, chunk := range c {
		for i := range all {
			all[i].Merge(chunk[i])
		}
	}
	return all
}

// estimates are means and standard errors; it reports a component that is not
// finite.
func (c *chunked) estimates(d *graph.Density, q family.Q, what string) ([]mc.Estimate, error) {
	var list []mc.Estimate
	for i, m := range c.total() {
		if e := (mc.Estimate{Value: m.Mean, SE: m.SE()}); finite(e.Value) && finite(e.SE) {
			list = append(list, e)
			continue
		}
		err := fmt.Errorf("check: the %s gradient is not finite for %s", what, q.Param(i).Label(d.Latents()))
		if why := gradient.Blame(d, q); why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
		return nil, err
	}
	return list, nil
}

// norm estimates the Euclidean norm of a vector's mean from equally long chunks
// of its replicates, with what their noise adds taken off. The standard error is
// that along the mean.
func norm(chunks [][]float64) mc.Estimate {
	n := float64(len(chunks))
	mean := make([]float64, len(chunks[0]))
	for _, c := range chunks {
		for i, x := range c {
			mean[i] += x / n
		}
	}
	length2, noise2 := 0.0, 0.0
	for i, m := range mean {
		length2 += m * m
		for _, c := range chunks {
			noise2 += (c[i] - m) * (c[i] - m) / (n * (n - 1))
		}
	}
	if length2 == 0 {
		return mc.Estimate{}
	}
	var along mc.Moments
	for _, c := range chunks {
		dot := 0.0
		for i, m := range mean {
			dot += c[i] * m / math.Sqrt(length2)
		}
		along.Add(dot)
	}
	return mc.Estimate{Value: math.Sqrt(max(0, length2-noise2)), SE: along.SE()}
}

// means are the chunks' means.
func (c *chunked) means() [][]float64 {
	all := make([][]float64, partChunks)
	for k := range all {
		all[k] = make([]float64, len(c[k]))
		for i, m := range c[k] {
			all[k][i] = m.Mean
		}
	}
	return all
}

// size is the root mean square of one sample's gradient.
func size(c *chunked) float64 {
	sum := 0.0
	for _, m := range c.total() {
		sum += m.Mean*m.Mean + partBatch*m.Variance()
	}
	return math.Sqrt(sum)
}
