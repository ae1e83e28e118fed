package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var ask = flag.Bool("battery", false, "run dieharder, half a minute on two processors")

// battery are tests of dieharder that take a few seconds each, by its numbers.
var battery = []string{
	"0",   // Diehard's birthdays
	"3",   // ranks of binary 6×8 matrices
	"8",   // ones in overlapping bytes
	"10",  // parking lot
	"12",  // spheres in a cube
	"15",  // runs up and down
	"100", // ones
	"204", // uniformity by Kolmogorov and Smirnov
	"206", // cosine transforms of 256 numbers
}

// least is the probability below which a test has failed, and 1 − least that above
// which it has: dieharder's own.
const least = 1e-6

// controls are those by which the streams that are not random are known.
var controls = []string{"8", "206"}

// probabilities are those of the stream by some tests, which it names. Each test reads the
// stream from its start: how much of a pipe a test takes beyond what it uses is chance.
func probabilities(t *testing.T, in func() io.Reader, tests []string) map[string]float64 {
	all := map[string]float64{}
	for _, test := range tests {
		var out bytes.Buffer
		c := exec.Command("dieharder", "-g", "200", "-d", test, "-D", "test_name", "-D", "ntuple", "-D", "pvalues", "-c", ",")
		c.Stdin, c.Stdout = in(), &out
		require.NoError(t, c.Run())
		lines := 0
		for line := range strings.Lines(out.String()) {
			f := strings.Split(strings.TrimSpace(line), ",")
			if len(f) < 3 {
				continue
			}
			x, err := strconv.ParseFloat(strings.TrimSpace(f[2]), 64)
			require.NoError(t, err, line)
			all[fmt.Sprintf("%s %s, %d", f[0], f[1], lines)] = x
			lines++
		}
		require.Positive(t, lines, "dieharder's test %s said: %s", test, out.String())
	}
	return all
}

// failed are the names of tests that the stream has not passed.
func failed(all map[string]float64) (names []string) {
	for name, x := range all {
		if !(x > least && x < 1-least) {
			names = append(names, name)
		}
	}
	return names
}

// The normals that fits draw pass a battery of tests, in short rows and in one of millions, and those in between
// the tests that two streams do not pass: short rows of which each 16th has the key of the one
// before, and a congruential generator of 24 bits.
func TestBattery(t *testing.T) {
	if !*ask {
		t.Skip("without -battery")
	}
	if _, err := exec.LookPath("dieharder"); err != nil {
		t.Skip("no dieharder, Debian's package of that name: the normals are not put to its tests")
	}
	for n, tests := range map[int][]string{16: battery, 1000: controls, 1 << 22: battery} {
		t.Run(fmt.Sprintf("rows of %d", n), func(t *testing.T) {
			t.Parallel()
			all := probabilities(t, func() io.Reader { return rows(n, keysOf(1)) }, tests)
			require.Empty(t, failed(all), "%v", all)
		})
	}
	t.Run("a key used twice", func(t *testing.T) {
		t.Parallel()
		all := probabilities(t, func() io.Reader {
			keys, k, last := keysOf(1), 0, [2]uint64{}
			return rows(16, func() [2]uint64 {
				if k++; k%16 > 0 {
					last = keys()
				}
				return last
			})
		}, controls)
		require.Len(t, failed(all), len(controls), "%v", all)
	})
	t.Run("a congruential generator", func(t *testing.T) {
		t.Parallel()
		all := probabilities(t, func() io.Reader {
			x, u := uint32(1), make([]float64, 1000)
			return &stream{next: func() []float64 {
				for k := range u {
					x = (x*1140671485 + 12820163) % (1 << 24)
					u[k] = float64(x) / (1 << 24)
				}
				return u
			}}
		}, controls)
		require.Len(t, failed(all), len(controls), "%v", all)
	})
}
