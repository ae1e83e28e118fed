package series

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An interval has the digits in which its ends differ, however far from 0 it is.
func TestIntervalText(t *testing.T) {
	for _, c := range []struct {
		i    Interval
		want string
	}{
		{Interval{1093.2, 1052.4, 1133.1}, "1093 (1052 to 1133)"},
		{Interval{0.77912, 0.74311, 0.81702}, "0.779 (0.743 to 0.817)"},
		{Interval{2, 0, 5}, "2 (0 to 5)"},
		{Interval{1e9 + 3.871, 1e9 + 3.612, 1e9 + 4.133}, "1000000003.87 (1000000003.61 to 1000000004.13)"},
		{Interval{1234567, 1134567, 1334567}, "1234567 (1134567 to 1334567)"},
		{Interval{3.2e-5, 2.9e-5, 3.6e-5}, "3.2e-05 (2.9e-05 to 3.6e-05)"},
		{Interval{1.00004, 1.00001, 1.00007}, "1.000040 (1.000010 to 1.000070)"},
		{Interval{-0.02, -1.44, 1.51}, "-0.0200 (-1.44 to 1.51)"},
		{Interval{2e17, 1e17, 3e17}, "2e+17 (1e+17 to 3e+17)"},
		{Interval{5, 5, 5}, "5 (5 to 5)"},
	} {
		require.Equal(t, c.want, c.i.String())
	}
}
