package cputime_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/cputime"
)

// A limit is reached by work, and not by waiting.
func TestLimit(t *testing.T) {
	var none cputime.Limit
	assert.False(t, none.Over())
	limit := cputime.In(100 * time.Millisecond)
	require.False(t, limit.Over())
	time.Sleep(150 * time.Millisecond)
	assert.False(t, limit.Over(), "after sleeping")
	left := limit.Left()
	assert.Positive(t, left)
	began, sum := cputime.Seconds(), 0
	for !limit.Over() {
		for k := range 1000 {
			sum += k
		}
	}
	assert.InDelta(t, left.Seconds(), cputime.Seconds()-began, 0.05)
	assert.Zero(t, limit.Left())
}

func TestLimitContext(t *testing.T) {
	var none cputime.Limit
	ctx, stop := none.Context(t.Context())
	stop()
	require.NoError(t, ctx.Err())

	ctx, _ = cputime.In(0).Context(t.Context())
	require.ErrorIs(t, context.Cause(ctx), context.DeadlineExceeded)

	ctx, stop = cputime.In(20 * time.Millisecond).Context(t.Context())
	defer stop()
	for ctx.Err() == nil { // works
	}
	require.ErrorIs(t, context.Cause(ctx), context.DeadlineExceeded)

	ctx, stop = cputime.In(time.Hour).Context(t.Context())
	require.NoError(t, ctx.Err())
	stop()
	require.NotErrorIs(t, context.Cause(ctx), context.DeadlineExceeded)
}
