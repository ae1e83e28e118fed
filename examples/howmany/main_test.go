//go:build long

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	file := filepath.Join(t.TempDir(), "models.html")
	const most = 2
	require.NoError(t, run(context.Background(), &out, most, file))
	exact := []string{"-101.7", "-74.5", "-60.2"} // by quadrature −101.767, −74.561, −60.268
	for k := range most + 1 {
		require.Regexp(t, fmt.Sprintf(`changes: %d +%s\d+ .* trust\n`, k, exact[k]), out.String())
	}
	require.NotContains(t, out.String(), "do not trust")
	require.Regexp(t, `At time 42, .*between -[456]\.`, out.String()) // the ends have their Monte Carlo errors
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(page), "How often has the slope changed?")
}
