package regions

import "fmt"

// Signs is a sign vector σ: one sign, + or −, for each plane of an arrangement. It names a region, and is the region's key: Signs are
// immutable, equal under == exactly if they have one length and the same signs, and fit as keys of a map. The zero value is the
// empty sign vector, the one region of an arrangement without planes. It takes one bit a sign, and a copy of those to change one.
type Signs struct {
	n    int
	bits string // sign l is bit l%8 of byte l/8; the bits beyond n are zero, or == would see them
}

// NewSigns returns the sign vector that is + where positive is true.
func NewSigns(positive []bool) Signs {
	return makeSigns(len(positive), func(l int) bool { return positive[l] })
}

// makeSigns returns the n signs that positive names.
func makeSigns(n int, positive func(l int) bool) Signs {
	bits := make([]byte, (n+7)/8)
	for l := range n {
		if positive(l) {
			bits[l/8] |= 1 << (l % 8)
		}
	}
	return Signs{n: n, bits: string(bits)}
}

// Len returns the number of signs.
func (s Signs) Len() int { return s.n }

// Positive reports whether sign l is +. It panics unless 0 ≤ l < Len().
func (s Signs) Positive(l int) bool {
	s.check(l)
	return s.bits[l/8]>>(l%8)&1 == 1
}

// Flip returns s with sign l reversed: the neighbour across a facet on plane l. It panics unless 0 ≤ l < Len().
func (s Signs) Flip(l int) Signs {
	s.check(l)
	bits := []byte(s.bits)
	bits[l/8] ^= 1 << (l % 8)
	return Signs{n: s.n, bits: string(bits)}
}

// Force returns s with sign l set to + if positive, else to −. It panics unless 0 ≤ l < Len().
func (s Signs) Force(l int, positive bool) Signs {
	if s.Positive(l) == positive {
		return s
	}
	return s.Flip(l)
}

// String returns one + or - for each sign, the first for plane 0.
func (s Signs) String() string {
	text := make([]byte, s.n)
	for l := range text {
		text[l] = '-'
		if s.Positive(l) {
			text[l] = '+'
		}
	}
	return string(text)
}

// Floats writes 1 for each + and 0 for each − into dst, and returns it: a column of [Arrangement.SignBatch]. It allocates if dst is
// nil, and otherwise panics unless len(dst) is Len().
func (s Signs) Floats(dst []float64) []float64 {
	if dst == nil {
		dst = make([]float64, s.n)
	}
	if len(dst) != s.n {
		panic(fmt.Sprintf("regions: %d floats for %d signs", len(dst), s.n))
	}
	for l := range dst {
		dst[l] = 0
		if s.Positive(l) {
			dst[l] = 1
		}
	}
	return dst
}

func (s Signs) check(l int) {
	if l < 0 || l >= s.n {
		panic(fmt.Sprintf("regions: sign %d of %d", l, s.n))
	}
}
