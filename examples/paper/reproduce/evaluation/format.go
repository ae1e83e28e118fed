package evaluation

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// nats is an ELBO with digits that matter.
func nats(x float64) string {
	switch {
	case math.IsNaN(x):
		return "—"
	case math.Abs(x) < 1000:
		return minus(strconv.FormatFloat(x, 'f', 2, 64))
	case math.Abs(x) < 1e6:
		return minus(strconv.FormatFloat(x, 'f', 0, 64))
	}
	return sig(x, 4)
}

// amount is a size in nats, to two digits.
func amount(x float64) string { return sig(x, 2) }

// sig is x to some significant digits, with an exponent only where that is
// shorter.
func sig(x float64, digits int) string {
	if math.IsNaN(x) {
		return "—"
	}
	s := strconv.FormatFloat(x, 'g', digits, 64)
	if mantissa, exp, ok := strings.Cut(s, "e"); ok {
		n, _ := strconv.Atoi(exp) // FormatFloat's own
		if n >= 0 && n < 6 {
			return minus(strconv.FormatFloat(x, 'f', 0, 64))
		}
		s = fmt.Sprintf("%se%d", mantissa, n)
	}
	return minus(s)
}

// minus has a minus sign instead of a hyphen before the number.
func minus(s string) string {
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return "−" + rest
	}
	return s
}
