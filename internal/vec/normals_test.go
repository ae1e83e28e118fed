package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
)

// normalPaths are the settings of useAVX512 and useAVX2 that this machine can run.
func normalPaths() map[string][2]bool {
	paths := map[string][2]bool{"Go": {}}
	if useAVX2 {
		paths["AVX2"] = [2]bool{false, true}
	}
	if useAVX512 {
		paths["AVX512"] = [2]bool{true, useAVX2}
	}
	return paths
}

// by runs f with the loops of one path.
func by(path [2]bool, f func()) {
	defer setLoops(useAVX512, useAVX2)
	setLoops(path[0], path[1])
	f()
}

// All paths give the same bits, and a short row is the start of a long one.
func TestNormalsOnAllPaths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 20 {
		key, row := [2]uint64{rng.Uint64(), rng.Uint64()}, make([]float64, 1000)
		by([2]bool{}, func() { Normals(row, key) })
		for name, path := range normalPaths() {
			for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 41, 656, 999, 1000, rng.IntN(1000)} {
				got := make([]float64, n)
				by(path, func() { Normals(got, key) })
				require.Equal(t, row[:n], got, "%s, %d numbers", name, n)
			}
		}
	}
}

// NumPy's SFC64 gives these numbers, the 13th and later, from the state (a, b, c, 1).
func TestSFC64IsNumPys(t *testing.T) {
	for _, c := range []struct {
		seed [3]uint64
		want []uint64
	}{
		{[3]uint64{1, 2, 3}, []uint64{0x43f18723cbd74146, 0x0274759cf623808d, 0x709cc2d648942177, 0x410445d3d048b085, 0x4ca97951aac81484}},
		{[3]uint64{0x0123456789abcdef, 0xfedcba9876543210, 7}, []uint64{0xbdd09df4402077a5, 0x55bdf0fc35906e7e, 0xac721d591f71fc2d, 0x72a4ecddb64f6506, 0x0b8d445816784ac0}},
	} {
		s := newSFC64([2]uint64(c.seed[:2]), c.seed[2])
		for _, want := range c.want {
			require.Equal(t, want, s.next())
		}
	}
}

// A flipped bit of the key, or another stream, flips each bit of a stream's first
// number with probability ½.
func TestKeysAndStreamsAreIndependent(t *testing.T) {
	const n = 4000
	rng := rand.New(rand.NewPCG(2, 0))
	var flips [131][64]int
	for range n {
		key, stream := [2]uint64{rng.Uint64(), rng.Uint64()}, rng.Uint64N(normalLanes)
		first := newSFC64(key, stream)
		x := first.next()
		for bit := range flips {
			k, l := key, stream
			switch {
			case bit < 128:
				k[bit/64] ^= 1 << (bit % 64)
			default:
				l ^= 1 << (bit - 128)
			}
			s := newSFC64(k, l)
			changed := x ^ s.next()
			for j := range flips[bit] {
				flips[bit][j] += int(changed >> j & 1)
			}
		}
	}
	for bit := range flips {
		for j, count := range flips[bit] {
			require.InDelta(t, n/2, count, 5.5*math.Sqrt(n)/2, "bit %d of the seeds, bit %d of the number", bit, j)
		}
	}
}

// ends are numbers of a stream near the ends of their range and of its halves, and
// others.
func ends() []uint64 {
	rng := rand.New(rand.NewPCG(3, 0))
	list := []uint64{0, 1, 2, 3}
	for k := 2; k < 64; k++ {
		list = append(list, 1<<k-1, 1<<k, 1<<k+1, rng.Uint64()>>k)
	}
	for _, p := range list[:] {
		list = append(list, ^p, p^1<<63)
	}
	return list
}

// The map from a stream's numbers is Box's and Muller's, at the ends of the uniforms too.
func TestNormalPair(t *testing.T) {
	largest := 0.0
	for i, p := range ends() {
		square := 128*math.Ln2 - 2*math.Log(float64(p)+0.5)
		if p>>63 == 1 {
			square = -2 * math.Log1p(-(float64(^p)+0.5)/(1<<64))
		}
		for j, q := range ends() {
			if !long.On() && i > 0 && (i+j)%5 > 0 {
				continue
			}
			theta := math.Pi * ((float64(q>>13)+0.5)/(1<<51) - 0.5)
			sin, cos := math.Sincos(theta)
			if q&1 == 1 {
				cos = -cos
			}
			x, y := normalPair(p, q)
			r := math.Hypot(x, y)
			require.InDelta(t, square, r*r, 1e-11+2e-10*square, "p = %#x", p)
			require.InDelta(t, r*cos, x, 1e-10*r, "p = %#x, q = %#x", p, q)
			require.InDelta(t, r*sin, y, 1e-10*r, "p = %#x, q = %#x", p, q)
			largest = max(largest, math.Abs(x), math.Abs(y))

			x1, y1 := normalPair(p, q^1) // the other sign of x
			require.Equal(t, [2]float64{-x, y}, [2]float64{x1, y1})
			x2, y2 := normalPair(p, ^q) // the other signs of both
			require.Equal(t, [2]float64{-x, -y}, [2]float64{x2, y2})
		}
	}
	require.InDelta(t, math.Sqrt(130*math.Ln2), largest, 1e-9)
}

// The probability of |z| > a is counted over all 2⁶⁴ values of p, which r falls with,
// at 4096 angles, where the mean over all angles is exact to rounding.
func TestTailsOfNormals(t *testing.T) {
	const angles = 4096
	for _, c := range []struct{ a, within float64 }{
		{0.01, 1e-9}, {0.5, 1e-9}, {1, 1e-9}, {2, 1e-9}, {3, 1e-9}, {4, 1e-8}, {5, 1e-8}, {6, 1e-8}, {7, 1e-7}, {7.5, 1e-6}, {8, 1e-5}, {8.5, 1e-3}, {9, 0.03},
	} {
		want := math.Erfc(c.a / math.Sqrt2)
		var got [2]float64
		for k := range uint64(angles) {
			q := k<<52 | 1<<51
			for which := range got {
				far := func(p uint64) bool {
					x, y := normalPair(p, q)
					return math.Abs([2]float64{x, y}[which]) > c.a
				}
				first := uint64(0) // the first p that is not far
				for bit := uint64(1) << 63; bit > 0; bit >>= 1 {
					if far(first | bit - 1) {
						first |= bit
					}
				}
				got[which] += float64(first) / (1 << 64) / angles
			}
		}
		require.InEpsilon(t, want, got[0], c.within, "cosines, %v", c.a)
		require.InEpsilon(t, want, got[1], c.within, "sines, %v", c.a)
	}
}

// Moments to the eighth, the distribution and its tails, and correlations: inside a
// block, with the next one, and with the rows of keys that differ little.
func TestNormalsAsAGenerator(t *testing.T) {
	if testing.Short() {
		t.Skip("a million numbers")
	}
	const blocks = 41
	rows := long.Or(1500, 6000)
	n := float64(rows * blocks * normalBlock)
	rng := rand.New(rand.NewPCG(4, 0))
	row, near := make([]float64, blocks*normalBlock), make([]float64, blocks*normalBlock)
	var moments [9]float64
	var products, squares [3][normalBlock][normalBlock]float64 // in a block, with the next, with another row
	tails := map[float64]int{0.1: 0, 1: 0, 2: 0, 3: 0, 4: 0, 4.5: 0, 5: 0}
	const cells = 1000
	var counts [cells]int
	for k := range rows {
		key := [2]uint64{rng.Uint64(), rng.Uint64()}
		Normals(row, key)
		switch k % 3 {
		case 0:
			key[0]++
		case 1:
			key[1] ^= 1 << (k % 64)
		case 2:
			key[0], key[1] = key[1], key[0]
		}
		Normals(near, key)
		for _, z := range row {
			power := 1.0
			for m := range moments {
				moments[m] += power
				power *= z
			}
			for a := range tails {
				if math.Abs(z) > a {
					tails[a]++
				}
			}
			counts[int(cells*0.5*math.Erfc(-z/math.Sqrt2))]++
		}
		for b := 0; b+2*normalBlock <= len(row); b += normalBlock {
			for kind, other := range [3][]float64{row[b:], row[b+normalBlock:], near[b:]} {
				for i, x := range row[b:][:normalBlock] {
					for j, y := range other[:normalBlock] {
						products[kind][i][j] += x * y
						squares[kind][i][j] += (x*x - 1) * (y*y - 1)
					}
				}
			}
		}
	}
	even := func(m int) (x float64) { // E[z^m]
		x = float64(1 - m%2)
		for k := m - 1; k > 1; k -= 2 {
			x *= float64(k)
		}
		return x
	}
	for m := 1; m < len(moments); m++ {
		se := math.Sqrt((even(2*m) - even(m)*even(m)) / n)
		require.InDelta(t, even(m), moments[m]/n, 5*se, "moment %d", m)
	}
	for a, count := range tails {
		p := math.Erfc(a / math.Sqrt2)
		require.InDelta(t, n*p, count, 5*math.Sqrt(n*p*(1-p)), "beyond %v", a)
	}
	chi := 0.0
	for _, c := range counts {
		d := float64(c) - n/cells
		chi += d * d / (n / cells)
	}
	require.InDelta(t, cells-1, chi, 5*math.Sqrt(2*cells), "χ²")
	pairs := float64(rows * (blocks - 1))
	for kind := range products {
		for i := range normalBlock {
			for j := range normalBlock {
				if kind > 0 || i < j {
					where := fmt.Sprintf("kind %d, %d and %d", kind, i, j)
					require.InDelta(t, 0, products[kind][i][j]/pairs, 5/math.Sqrt(pairs), where)
					require.InDelta(t, 0, squares[kind][i][j]/pairs, 5*2/math.Sqrt(pairs), where)
				}
			}
		}
	}
}

// BenchmarkNormals reports the time of one number, beside that of NormFloat64: in rows
// of an iteration of 16 samples of 41 latents, of one sample, and of 3 latents.
func BenchmarkNormals(b *testing.B) {
	for _, n := range []int{656, 41, 3} {
		dst := make([]float64, n)
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("n=%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/number")
			})
		}
		rng := rand.New(rand.NewPCG(1, 0))
		run("NormFloat64", func() {
			for k := range dst {
				dst[k] = rng.NormFloat64()
			}
		})
		for name, path := range normalPaths() {
			by(path, func() { run(name, func() { Normals(dst, [2]uint64{rng.Uint64(), rng.Uint64()}) }) })
		}
	}
}
