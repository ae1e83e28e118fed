package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) { require.NoError(t, run(context.Background(), 1, t.TempDir())) }
