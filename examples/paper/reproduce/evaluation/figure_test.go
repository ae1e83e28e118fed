//go:build long

package evaluation

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The axis rises with the ELBO, shows the optimum at 0, and is logarithmic far
// from it and linear near it.
func TestELBOScale(t *testing.T) {
	s := elboScale{-43, 0.1}
	require.Zero(t, s.at(-43))
	require.Less(t, s.at(-43.02), s.at(-43.01))
	require.Greater(t, s.at(-42), 0.0)
	require.InDelta(t, math.Log(10), s.at(-43-1e5)-s.at(-43-1e6), 1e-9)
	require.InDelta(t, 2*s.at(-43.001), s.at(-43.002), 1e-6)
}

func TestTicks(t *testing.T) {
	s := elboScale{-43, 0.1}
	var labels []string
	last := math.Inf(1)
	for _, tick := range s.Ticks(s.at(-43-3e3), s.at(-43+20)) {
		labels = append(labels, tick.Label)
		if strings.HasPrefix(tick.Label, "−") {
			require.Less(t, tick.Value, last)
			last = tick.Value
		}
	}
	require.Equal(t, []string{"optimum", "−1", "+1", "−10", "+10", "−10²", "−10³"}, labels)
}

func TestFormat(t *testing.T) {
	for x, want := range map[float64]string{
		-43.1223: "−43.12", -123456: "−123456", -2.345678e6: "−2.346e6", 0: "0.00",
	} {
		require.Equal(t, want, nats(x))
	}
	for x, want := range map[float64]string{
		4.45e-9: "4.45e-9", 0.0277: "0.0277", 1.234e18: "1.23e18", 736354: "736354", -0.5: "−0.5", math.Inf(-1): "−Inf", math.NaN(): "—",
	} {
		require.Equal(t, want, sig(x, 3))
	}
}
