// Command normalstream writes Φ(z)·2³² of the normals that fits draw to standard
// output, as unsigned numbers of 32 bits, for a battery of tests of random numbers:
//
//	go run ./internal/normalstream | dieharder -g 200 -a
//
// Each -row numbers have a key of their own, as each batch of samples has in a fit.
// It ends when nobody reads on. Its test is a part of that battery.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/facetvi/facet/internal/vec"
)

func main() {
	seed := flag.Uint64("seed", 1, "fixes the numbers")
	n := flag.Int("row", 656, "numbers of one key")
	flag.Parse()
	_, _ = io.Copy(os.Stdout, bufio.NewReaderSize(rows(*n, keysOf(*seed)), 1<<16)) // until the reader has enough
}

// keysOf are the keys of a fit's batches.
func keysOf(seed uint64) func() [2]uint64 {
	rng := rand.NewPCG(seed, 0)
	return func() [2]uint64 { return [2]uint64{rng.Uint64(), rng.Uint64()} }
}

// rows is the endless stream of rows of n numbers with these keys.
func rows(n int, keys func() [2]uint64) io.Reader {
	row := make([]float64, n)
	return &stream{next: func() []float64 {
		vec.Normals(row, keys())
		for k, z := range row {
			row[k] = 0.5 * math.Erfc(-z/math.Sqrt2)
		}
		return row
	}}
}

// A stream writes the uniform numbers that next returns as words of 32 bits.
type stream struct {
	next func() []float64
	word []byte
	read int // bytes of word
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if s.read == len(s.word) {
		s.word, s.read = s.word[:0], 0
		for _, u := range s.next() {
			s.word = binary.LittleEndian.AppendUint32(s.word, uint32(min(u*(1<<32), 1<<32-1)))
		}
	}
	n := copy(p, s.word[s.read:])
	s.read += n
	return n, nil
}
