package vi

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/graph"
)

// Statistics of the gradient's parts come from batches of samples: chunks of
// them, each with a stream of its own, evaluated concurrently.
const (
	partBatch  = 32 // samples
	partChunks = 16
)

// inside is Boundary whose worker adds RepGrad alone, and leaves BouContr in its
// Batch.
type inside struct{}

func (inside) Name() string { return "inside" }

func (inside) bind(d *graph.Density, n int) (worker, error) {
	w, err := Boundary{}.bind(d, n)
	if b, ok := w.(*boundaryWorker); ok {
		w = &insideWorker{b}
	}
	return w, err
}

type insideWorker struct{ *boundaryWorker }

func (w *insideWorker) add(eps, mu, s []float64, rng *rand.Rand, gMu, gScale []float64) error {
	err := w.Run(eps, rng)
	addRepGrad(w.Samples(), eps, gMu, gScale)
	return err
}

// batchesFor is the number of batches in a chunk.
func batchesFor(samples int) int {
	return max(2, (samples+partChunks*partBatch-1)/(partChunks*partBatch))
}

// replicate estimates the gradient with e from batches and gives each estimate
// to record, for different chunks concurrently. g, by θ, is valid during the
// call only.
func replicate(d *graph.Density, q MeanField, e Estimator, batches int, seed uint64, record func(chunk int, w worker, g []float64)) error {
	dim := d.Dim()
	s, slope := q.Scale(nil), slopes(q)
	bound := make([]worker, workers(partChunks))
	return pool(len(bound), partChunks, func(p, c int) error {
		if bound[p] == nil {
			var err error
			if bound[p], err = e.bind(d, partBatch); err != nil {
				return err
			}
			bound[p].locate(q.Mu, s)
		}
		w, rng := bound[p], rand.New(stream(seed, c))
		eps, g := make([]float64, dim*partBatch), make([]float64, 2*dim)
		gMu, gScale := make([]float64, dim), make([]float64, dim)
		for range batches {
			clear(gMu)
			clear(gScale)
			draw(d, w.samples(), eps, q.Mu, s, rng)
			if err := w.add(eps, q.Mu, s, rng, gMu, gScale); err != nil {
				return err
			}
			for i := range gMu {
				g[2*i] = gMu[i] / partBatch
				g[2*i+1] = (gScale[i]/partBatch + 1/s[i]) * slope[i]
			}
			record(c, w, g)
		}
		return nil
	})
}

// slopes are ds/dρ.
func slopes(q MeanField) []float64 {
	slope := make([]float64, len(q.Rho))
	for i, r := range q.Rho {
		_, slope[i] = softplusAndSlope(r)
	}
	return slope
}

// chunked are running moments of vectors, by chunk.
type chunked [partChunks][]moments

func newChunked(n int) *chunked {
	var c chunked
	for k := range c {
		c[k] = make([]moments, n)
	}
	return &c
}

func (c *chunked) add(chunk int, v []float64) {
	for i, x := range v {
		c[chunk][i].add(x)
	}
}

// total are the moments of all chunks.
func (c *chunked) total() []moments {
	all := make([]moments, len(c[0]))
	for _, chunk := range c {
		for i := range all {
			all[i].merge(chunk[i])
		}
	}
	return all
}

// estimates are means and standard errors; it reports a component that is not
// finite.
func (c *chunked) estimates(d *graph.Density, q MeanField, what string) ([]Estimate, error) {
	var list []Estimate
	for i, m := range c.total() {
		if e := (Estimate{m.mean, m.se()}); finite(e.Mean) && finite(e.SE) {
			list = append(list, e)
			continue
		}
		err := fmt.Errorf("vi: the %s gradient is not finite for %s", what, d.Latents()[i/2])
		if why := blame(d, q); why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
		return nil, err
	}
	return list, nil
}

// norm estimates the Euclidean norm of a vector's mean from equally long chunks
// of its replicates, with what their noise adds taken off. The standard error is
// that along the mean.
func norm(chunks [][]float64) Estimate {
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
		return Estimate{}
	}
	var along moments
	for _, c := range chunks {
		dot := 0.0
		for i, m := range mean {
			dot += c[i] * m / math.Sqrt(length2)
		}
		along.add(dot)
	}
	return Estimate{math.Sqrt(max(0, length2-noise2)), along.se()}
}

// means are the chunks' means.
func (c *chunked) means() [][]float64 {
	all := make([][]float64, partChunks)
	for k := range all {
		all[k] = make([]float64, len(c[k]))
		for i, m := range c[k] {
			all[k][i] = m.mean
		}
	}
	return all
}
