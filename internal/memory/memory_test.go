package memory

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	require.NoError(t, Check("a matrix", 0))
	require.NoError(t, Check("a matrix", Most))
	for bytes, want := range map[float64]string{
		Most + 1e5:  "69 GB",
		1.26e12:     "1.3 TB",
		8e15:        "8 PB",
		7.2e19:      "72 EB",
		7.2e22:      "7.2e+04 EB",
		math.Inf(1): "+Inf EB",
		math.NaN():  "NaN GB",
	} {
		require.EqualError(t, Check("a matrix", bytes), "a matrix would need "+want+" of memory, and the limit is 69 GB")
	}
}
