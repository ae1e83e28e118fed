package graph_test

import (
	"math"
	"math/big"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
)

// bits is a precision, and its methods are arithmetic with numbers of so many
// bits: all but the last few are right.
type bits uint

type num = *big.Float

func (b bits) new() num                   { return new(big.Float).SetPrec(uint(b)) }
func (b bits) num(x float64) num          { return b.new().SetFloat64(x) }
func (b bits) add(x, y num) num           { return b.new().Add(x, y) }
func (b bits) sub(x, y num) num           { return b.new().Sub(x, y) }
func (b bits) mul(x, y num) num           { return b.new().Mul(x, y) }
func (b bits) div(x, y num) num           { return b.new().Quo(x, y) }
func (b bits) times(k float64, x num) num { return b.mul(b.num(k), x) }

// pow2 is 2^e.
func (b bits) pow2(e int) num { return b.new().SetMantExp(b.num(1), e) }

// exp is eˣ, by the power series of e^(r/2^s) for a small r = x − k log 2.
func (b bits) exp(x num) num {
	k, _ := b.div(x, b.constants().ln2).Int64()
	r := b.sub(x, b.times(float64(k), b.constants().ln2))
	return b.mul(b.expSmall(r), b.pow2(int(k)))
}

// expSmall is eʳ for |r| ≤ 1.
func (b bits) expSmall(r num) num {
	s := int(math.Sqrt(float64(b)))
	w := b + bits(2*s) // squaring costs s bits
	r = w.mul(r, w.pow2(-s))
	sum, term := w.num(1), w.num(1)
	for n := 1.0; term.Sign() != 0 && term.MantExp(nil) > -int(w); n++ {
		term = w.div(w.mul(term, r), w.num(n))
		sum = w.add(sum, term)
	}
	for range s {
		sum = w.mul(sum, sum)
	}
	return b.new().Set(sum)
}

// log is log x, by Halley's iteration for eʸ = m, where x = m·2^e.
func (b bits) log(x num) num {
	m := b.new()
	e := x.MantExp(m)
	y := b.logSmall(m)
	if e == 0 {
		return y
	}
	return b.add(y, b.times(float64(e), b.constants().ln2))
}

// logSmall is log m for m in [1/2, 1].
func (b bits) logSmall(m num) num {
	near, _ := m.Float64()
	y := b.num(math.Log(near))
	for right := bits(40); right < b; right *= 3 {
		w := min(b, 3*right) + 64
		e := w.expSmall(y)
		y = w.add(y, w.times(2, w.div(w.sub(m, e), w.add(m, e))))
	}
	return b.new().Set(y)
}

func (b bits) log1p(x num) num { return b.log(b.add(b.num(1), x)) }

// lgamma is log Γ(x) for x > 0: by Γ(x) = Γ(x+n)/(x(x+1)…) and Stirling's series
// for a large x+n.
func (b bits) lgamma(x num) num {
	product := b.num(1)
	for large := b.num(0.2 * float64(b)); x.Cmp(large) < 0; x = b.add(x, b.num(1)) {
		product = b.mul(product, x)
	}
	sum := b.sub(b.mul(b.sub(x, b.num(0.5)), b.log(x)), x)
	sum = b.add(sum, b.times(0.5, b.constants().log2pi))
	power := b.div(b.num(1), x)
	square := b.mul(power, power)
	for k := 1; ; k++ {
		term := b.mul(b.stirling(k), power)
		if term.MantExp(nil) < sum.MantExp(nil)-int(b) {
			return b.sub(sum, b.log(product))
		}
		sum, power = b.add(sum, term), b.mul(power, square)
	}
}

type constants struct{ pi, ln2, log2pi num }

var constantsOf = map[bits]constants{}

func (b bits) constants() constants {
	c, ok := constantsOf[b]
	if !ok {
		w := b + 64
		c = constants{pi: w.gaussLegendre(), ln2: w.times(-1, w.logSmall(w.num(0.5)))}
		c.log2pi = w.add(w.times(3, c.ln2), w.logSmall(w.times(0.25, c.pi)))
		constantsOf[b] = c
	}
	return c
}

// gaussLegendre is π, by the arithmetic–geometric mean of 1 and 1/√2.
func (b bits) gaussLegendre() num {
	x, y, t := b.num(1), b.new().Sqrt(b.num(0.5)), b.num(0.25)
	for p := 1.0; p < float64(b); p *= 2 { // the right bits double
		mean := b.times(0.5, b.add(x, y))
		d := b.sub(x, mean)
		x, y, t = mean, b.new().Sqrt(b.mul(x, y)), b.sub(t, b.times(p, b.mul(d, d)))
	}
	return b.div(b.mul(x, x), t)
}

// tangents are the tangent numbers T₁, T₂, … (R. P. Brent and D. Harvey, Fast
// computation of Bernoulli, tangent and secant numbers, 2013).
var tangents = sync.OnceValue(func() []*big.Int {
	const n = 800
	t := []*big.Int{big.NewInt(1)}
	for j := int64(1); j < n; j++ {
		t = append(t, new(big.Int).Mul(big.NewInt(j), t[j-1]))
	}
	for i := 1; i < n; i++ {
		for j := i; j < n; j++ {
			a := new(big.Int).Mul(big.NewInt(int64(j-i)), t[j-1])
			t[j] = a.Add(a, new(big.Int).Mul(big.NewInt(int64(j-i+2)), t[j]))
		}
	}
	return t
})

// stirling are the coefficients B₂ₖ/(2k(2k−1)) of Stirling's series, where
// B₂ₖ = (−1)ᵏ⁻¹ 2k Tₖ / (4ᵏ(4ᵏ − 1)).
func (b bits) stirling(k int) num {
	for n := len(stirlingOf[b]) + 1; n <= k; n++ {
		four := new(big.Int).Lsh(big.NewInt(1), uint(2*n))
		den := new(big.Int).Mul(four, new(big.Int).Sub(four, big.NewInt(1)))
		den.Mul(den, big.NewInt(int64(2*n-1)))
		v := b.div(b.new().SetInt(tangents()[n-1]), b.new().SetInt(den))
		if n%2 == 0 {
			v.Neg(v)
		}
		stirlingOf[b] = append(stirlingOf[b], v)
	}
	return stirlingOf[b][k-1]
}

var stirlingOf = map[bits][]num{}

// The arithmetic, against mpmath 1.3.0 with 400 digits.
func TestBigFloat(t *testing.T) {
	long.Skip(t) // what goes by these numbers would be wrong, too
	skipShort(t)
	const b = bits(700)
	one := b.num(1)
	for _, c := range []struct {
		want string
		got  num
	}{
		{"3.1415926535897932384626433832795028841971693993751", b.constants().pi},
		{"0.69314718055994530941723212145817656807550013436026", b.constants().ln2},
		{"2.7182818284590452353602874713526624977572470937", b.exp(one)},
		{"5.9801961186397912064121073304951000479807728926414e-305", b.exp(b.num(-700.5))},
		{"690.77552789821370525790219666051368115065999044149", b.log(b.num(1e300))},
		{"2.3025850929940456840179914546843642076011014886288", b.log(b.num(10))},
		{"-4.9090934652977265530957719549862756429752155124994e-91", b.log(b.sub(one, b.pow2(-300)))},
		{"1.2880225246980774573706104402197172959253775651129", b.lgamma(b.num(0.25))},
		{"690.77552789821370518033834457010050290861334158364", b.lgamma(b.num(1e-300))},
		{"97.521775222888204197513040744190022778128045851297", b.lgamma(b.num(37.5))},
		{"358413614879047291.94113642200180555118590767044464", b.lgamma(b.num(1e16))},
		{"6.8977552789821374147440091886329240343525672214703e+302", b.lgamma(b.num(1e300))},
	} {
		require.Equal(t, c.want, c.got.Text('g', 50))
	}
}
