package parallel

import (
	"fmt"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/vec"
)

// Blocks are how N samples are cut: into blocks of Size samples, of which the
// last may be shorter.
type Blocks struct{ N, Size int }

// Cut cuts samples of dim latents: into blocks long enough for kernels to run at
// full speed, few enough numbers for a block to stay in the cache, and enough
// blocks to share among processors.
func Cut(samples, dim int) Blocks {
	size := 128
	for size > 16 && (samples < 4*size || dim*size > 1<<16) {
		size /= 2
	}
	return Blocks{samples, size}
}

// mostDraws is the largest number of draws: more would take months at least.
const mostDraws = 1 << 40

// CheckDraws reports a number of draws that nobody waits for, though they take no
// memory.
func CheckDraws(n int) error {
	if n > mostDraws {
		return fmt.Errorf("%d draws would take months: at most %d", n, mostDraws)
	}
	return nil
}

// Len is the number of blocks.
func (b Blocks) Len() int { return b.N/b.Size + min(1, b.N%b.Size) }

// Width is the number of samples in block k.
func (b Blocks) Width(k int) int { return min(b.Size, b.N-k*b.Size) }

// Stream is the random stream of a block.
func Stream(seed uint64, block int) *rand.PCG {
	// In cache lines of its own: processors would fight over shared ones.
	s := new(struct {
		rand.PCG
		_ [112]byte
	})
	Reseed(&s.PCG, seed, block)
	return &s.PCG
}

// Reseed makes s the stream of a block.
func Reseed(s *rand.PCG, seed uint64, block int) {
	s.Seed(seed, uint64(block)*0x9e3779b97f4a7c15+0x632be59bd9b4e019)
}

// OwnLines is a slice of n zeros that shares no cache line with another.
func OwnLines(n int) []float64 { return make([]float64, n+16)[:n:n] }

// Mix is a seed that differs from seed, and with n.
func Mix(seed, n uint64) uint64 { return rand.NewPCG(seed, n).Uint64() }

// NewRand is the stream of random numbers that seed fixes, for draws that are
// not cut into blocks.
func NewRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5851f42d4c957f2d)) }

const fewNormals = 8 // a key pays for so many

// Normals writes a row of independent standard normals to dst, with a key from rng, or
// one by one if they are few.
func Normals(dst []float64, rng *rand.Rand) {
	if len(dst) < fewNormals {
		for i := range dst {
			dst[i] = rng.NormFloat64()
		}
		return
	}
	vec.Normals(dst, [2]uint64{rng.Uint64(), rng.Uint64()})
}

// Restarted is a random stream that is put where a seed and a number say, again and again.
type Restarted struct {
	pcg *rand.PCG
	rng *rand.Rand
}

// NewRestarted returns one.
func NewRestarted() *Restarted {
	s := Stream(0, 0)
	return &Restarted{s, rand.New(s)}
}

// At is the stream of a block, good until the next call.
func (r *Restarted) At(seed uint64, block int) *rand.Rand {
	Reseed(r.pcg, seed, block)
	return r.rng
}
