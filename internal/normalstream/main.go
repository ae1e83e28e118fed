// Command normalstream writes Φ(z)·2³² of the normals that fits draw to standard
// output, as unsigned numbers of 32 bits, for a battery of tests of random numbers:
//
//	go run ./internal/normalstream | dieharder -g 200 -a
//
// Each -row numbers have a key of their own, as each batch of samples has in a fit.
// It ends when nobody reads on.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"math"
	"math/rand/v2"
	"os"

	"github.com/facetvi/facet/internal/vec"
)

func main() {
	seed := flag.Uint64("seed", 1, "fixes the numbers")
	n := flag.Int("row", 656, "numbers of one key")
	flag.Parse()
	keys, row := rand.NewPCG(*seed, 0), make([]float64, *n)
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	var word [4]byte
	for {
		vec.Normals(row, [2]uint64{keys.Uint64(), keys.Uint64()})
		for _, z := range row {
			u := 0.5 * math.Erfc(-z/math.Sqrt2)
			binary.LittleEndian.PutUint32(word[:], uint32(min(u*(1<<32), 1<<32-1)))
			if _, err := out.Write(word[:]); err != nil {
				return // the reader has enough
			}
		}
	}
}
