package vi

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/vec"
)

// Samples are drawn and evaluated in blocks, each with a random stream of its
// own, and block results are summed in order. So the seed alone fixes a result,
// whatever the number of processors.

// A split is how n samples are cut into blocks of the given size, of which the
// last may be shorter.
type split struct{ n, size int }

// splitOf cuts samples of dim latents: into blocks long enough for kernels to
// run at full speed, few enough numbers for a block to stay in the cache, and
// enough blocks to share among processors.
func splitOf(samples, dim int) split {
	size := 128
	for size > 16 && (samples < 4*size || dim*size > 1<<16) {
		size /= 2
	}
	return split{samples, size}
}

func (s split) blocks() int { return (s.n + s.size - 1) / s.size }

// width is the number of samples in block b.
func (s split) width(b int) int { return min(s.size, s.n-b*s.size) }

// stream is the random stream of a block.
func stream(seed uint64, block int) *rand.PCG {
	// In cache lines of its own: processors would fight over shared ones.
	s := new(struct {
		rand.PCG
		_ [112]byte
	})
	s.Seed(seed, uint64(block)*0x9e3779b97f4a7c15+0x632be59bd9b4e019)
	return &s.PCG
}

// ownLines is a slice of n numbers that shares no cache line with another.
func ownLines(n int) []float64 { return make([]float64, n+16)[:n:n] }

// draw fills eps with standard normals, and the executor's Z and Signs with the
// samples z = μ + s⊙ε and their regions.
func draw(d *graph.Density, x *graph.Executor, eps, mu, s []float64, rng *rand.Rand) {
	n := x.N
	if n == 1 {
		for i, m := range mu {
			e := rng.NormFloat64()
			eps[i], x.Z[i] = e, m+float64(s[i]*e)
		}
		d.Arrangement().SignBatch(x.Signs, x.Z, 1)
		return
	}
	for k := range eps {
		eps[k] = rng.NormFloat64()
	}
	vec.AffineRows(x.Z, eps, n, s, mu)
	d.Arrangement().SignBatch(x.Signs, x.Z, n)
}

// pool runs work on blocks 0 … n−1 on p goroutines; worker w, below p, handles
// one block at a time. Who keeps state for each worker fixes p with it, since
// GOMAXPROCS may change meanwhile.
func pool(p, n int, work func(w, block int) error) error {
	if p == 1 {
		for b := range n {
			if err := work(0, b); err != nil {
				return err
			}
		}
		return nil
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, n)
	for w := range p {
		wg.Go(func() {
			for {
				b := int(next.Add(1)) - 1
				if b >= n {
					return
				}
				errs[b] = work(w, b)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// workers is the number of goroutines for n blocks.
func workers(n int) int { return max(1, min(n, runtime.GOMAXPROCS(0))) }

func entropyOf(s []float64) float64 {
	h := 0.5 * float64(len(s)) * (1 + math.Log(2*math.Pi))
	for _, x := range s {
		h += math.Log(x)
	}
	return h
}
