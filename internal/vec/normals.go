package vec

import "math"

const (
	normalBlock  = 16 // normals made at a time
	normalLanes  = normalBlock / 2
	sfc64WarmUp  = 12 // rounds between a seed and the first number
	bitsOfOne    = 0x3ff0000000000000
	bitsAbove    = bitsOfOne + 1      // 1 + 2⁻⁵²
	bitsOfTiny   = 0x3f30000000000000 // 2⁻¹²
	bitsBelow    = 0x3f2fffffffffffff // 2⁻¹² − 2⁻⁶⁵
	fractionBits = 1<<52 - 1
	lowBits      = 1<<12 - 1
)

// Normals writes independent standard normals to dst, which the key fixes: the first
// len(dst) of its row. Keys that differ in any bit give independent rows.
//
// Numbers 16j + l and 16j + 8 + l of a row, l < 8, are r·cos θ, with a random sign, and
// r·sin θ (Box and Muller 1958):
//
//	r = √(−2·log u),  u = (p + ½)/2⁶⁴,    θ = π·((⌊q/2¹³⌋ + ½)/2⁵¹ − ½),
//
// where p and q are the next numbers of stream l, and q's last bit is the sign. A
// stream is Doty-Humphrey's generator sfc64 with the seeds key[0], key[1] and l. So
// |z| goes to 9.49, and probabilities of tails are right to 1e-5 up to 8 standard
// deviations. r² is right to 1e-11, and sine and cosine to 1e-10 of themselves, by
// polynomials.
func Normals(dst []float64, key [2]uint64) {
	if len(dst) == 0 {
		return
	}
	var last [normalBlock]float64
	var tail *[normalBlock]float64 // a block more, if dst does not end with one
	whole := len(dst) &^ (normalBlock - 1)
	if whole < len(dst) {
		tail = &last
	}
	switch {
	case useAVX512:
		normalsAVX512(&dst[0], tail, whole/normalBlock, key[0], key[1], &normalTable)
	case useAVX2:
		normalsAVX2(&dst[0], tail, whole/normalBlock, key[0], key[1], &normalTable)
	default:
		normals(dst[:whole], tail, key)
	}
	copy(dst[whole:], last[:])
}

// normals is what the vector loops do.
func normals(dst []float64, tail *[normalBlock]float64, key [2]uint64) {
	var streams [normalLanes]sfc64
	for l := range streams {
		streams[l] = newSFC64(key, uint64(l))
	}
	for ; len(dst) > 0; dst = dst[normalBlock:] {
		normalPairs((*[normalBlock]float64)(dst), &streams)
	}
	if tail != nil {
		normalPairs(tail, &streams)
	}
}

func normalPairs(dst *[normalBlock]float64, streams *[normalLanes]sfc64) {
	for l := range streams {
		s := &streams[l]
		p := s.next()
		dst[l], dst[normalLanes+l] = normalPair(p, s.next())
	}
}

// normalPair is the map from two numbers of a stream to two normals.
func normalPair(p, q uint64) (x, y float64) {
	u := (math.Float64frombits(p>>12|bitsOfOne) - 1) +
		(math.Float64frombits(p&lowBits|bitsOfTiny) - math.Float64frombits(bitsBelow))
	m := math.Float64frombits(math.Float64bits(u)&fractionBits | bitsOfOne)
	e := float64(int64(math.Float64bits(u)>>52) - 1023)
	s := (m - math.Sqrt2) / (m + math.Sqrt2) // log u = e·log 2 + ½·log 2 + 2·artanh s
	r2 := (-math.Ln2 - float64(2*math.Ln2*e)) - float64(s*quartic(&artanhs, s*s))
	r := math.Sqrt(max(r2, 0))

	v := math.Float64frombits(q>>12|bitsAbove) - 1.5 // θ = πv
	w := v * v
	sin := v * quartic(&sines, w)
	t := r * sin
	x = r - float64(t*sin) // cos θ = 1 − 2·sin²(θ/2), sin θ = 2·sin(θ/2)·cos(θ/2)
	return math.Float64frombits(math.Float64bits(x) ^ q<<63), t * quartic(&cosines, w)
}

// quartic is a polynomial of degree 4.
func quartic(c *[5]float64, z float64) float64 {
	z2 := z * z
	return (c[0] + float64(c[1]*z)) + float64(z2*((c[2]+float64(c[3]*z))+float64(c[4]*z2)))
}

// The polynomials through Chebyshev's points of 4·artanh(√z)/√z for √z up to
// (√2 − 1)/(√2 + 1), and of √2·sin(π√w/2)/√w and √2·cos(π√w/2) for w up to ¼.
var (
	artanhs = [5]float64{4.000000000016719, 1.333333304949739, 0.8000076934498583, 0.5707010206068406, 0.4723271848873192}
	sines   = [5]float64{2.221441469069571, -0.913531185576876, 0.11270233131112666, -0.006620310229341788, 0.00022373750014248505}
	cosines = [5]float64{1.414213562305905, -1.7447160364704377, 0.35874242816544416, -0.02950059319931881, 0.0012779230668159257}
)

// An sfc64 is a stream of Doty-Humphrey's small fast chaotic generator (PractRand).
type sfc64 struct{ a, b, c, count uint64 }

func newSFC64(key [2]uint64, third uint64) sfc64 {
	s := sfc64{key[0], key[1], third, 1}
	for range sfc64WarmUp {
		s.next()
	}
	return s
}

func (s *sfc64) next() uint64 {
	x := s.a + s.b + s.count
	s.count++
	s.a = s.b ^ s.b>>11
	s.b = s.c + s.c<<3
	s.c = s.c<<24 | s.c>>40
	s.c += x
	return x
}

// normalTable has what the vector loops read, each row a vector of four.
var normalTable = func() (t [31][4]uint64) {
	row := 0
	put := func(v ...uint64) {
		if len(v) == 1 {
			v = []uint64{v[0], v[0], v[0], v[0]}
		}
		copy(t[row][:], v)
		row++
	}
	for _, x := range []uint64{bitsOfOne, bitsAbove, lowBits, bitsOfTiny, bitsBelow, fractionBits, 1} {
		put(x)
	}
	for _, x := range []float64{1 << 52, 1<<52 + 1023, math.Sqrt2, 2 * math.Ln2, -math.Ln2, 1.5} {
		put(math.Float64bits(x))
	}
	for _, c := range [][5]float64{artanhs, sines, cosines} {
		for _, x := range c {
			put(math.Float64bits(x))
		}
	}
	put(0, 1, 2, 3)
	put(4, 5, 6, 7)
	const bytes, more = 0x0403020100070605, 0x0808080808080808 // a rotation by 24, byte by byte
	put(bytes, bytes+more, bytes, bytes+more)
	return t
}()
