package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	var out bytes.Buffer
	file := filepath.Join(t.TempDir(), "models.html")
	require.NoError(t, run(context.Background(), &out, 1, file))
	require.Regexp(t, `changes: 1 .* best .* >0.999 .* trust\n`, out.String())
	require.Contains(t, out.String(), "at time 37: between -12.") // the line that falls by a unit a time goes on
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(page), "How often has the slope changed?")
}
