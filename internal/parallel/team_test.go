package parallel

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every piece is done once in every round, and no two at a time by one
// goroutine, whether the helpers are awake or have ended.
func TestTeam(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, p := range []int{1, 2, 4} {
		const n, rounds = 7, 500
		done := make([]atomic.Int64, n)
		busy := make([]atomic.Int64, p)
		team := NewTeam(p, n, func(w, b int) error {
			if busy[w].Add(1) != 1 {
				return errors.New("two pieces at once")
			}
			done[b].Add(1)
			busy[w].Add(-1)
			return nil
		})
		for r := range rounds {
			require.NoError(t, team.Round())
			for b := range done {
				require.EqualValues(t, r+1, done[b].Load(), "piece %d with %d goroutines", b, p)
			}
			if r%100 == 99 {
				time.Sleep(5 * time.Millisecond) // helpers end
			}
		}
	}
}

// Helpers end by themselves.
func TestTeamEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	team := NewTeam(4, 8, func(int, int) error { return nil })
	require.NoError(t, team.Round())
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, time.Minute, time.Millisecond) // one more: Eventually's own
	for w := 1; w < 4; w++ {
		require.Eventually(t, func() bool { return !team.awake[w].Load() }, time.Minute, time.Millisecond)
	}
}

// The first piece's error is returned, once; the others are done all the same.
func TestTeamErrors(t *testing.T) {
	fail := errors.New("piece 2")
	failing := true
	var done atomic.Int64
	team := NewTeam(3, 6, func(_, b int) error {
		done.Add(1)
		if failing && b == 5 {
			return errors.New("piece 5")
		}
		if failing && b == 2 {
			return fail
		}
		return nil
	})
	require.Equal(t, fail, team.Round())
	require.EqualValues(t, 6, done.Load())
	failing = false
	require.NoError(t, team.Round())
}

// A panic on any goroutine is one of Round, when all else is done, and the next round is as any other.
func TestTeamPanics(t *testing.T) {
	for k := range 4 {
		var done atomic.Int64
		failing := true
		team := NewTeam(2, 4, func(_, piece int) error {
			if failing && piece == k {
				panic("torn")
			}
			done.Add(1)
			return nil
		})
		func() {
			defer func() {
				p, is := recover().(*Panic)
				require.True(t, is)
				require.Equal(t, "torn", p.Value)
				require.Contains(t, p.Error(), "TestTeamPanics")
			}()
			_ = team.Round()
		}()
		require.EqualValues(t, 3, done.Load())
		failing = false
		require.NoError(t, team.Round())
	}
}

// Rounds stay apart when their number wraps around.
func TestTeamCountsOn(t *testing.T) {
	for _, number := range []int64{1<<31 - 3, -3} {
		var done atomic.Int64
		team := NewTeam(3, 5, func(int, int) error { done.Add(1); return nil })
		team.ticket.Store(number << 32)
		for r := range 10 {
			require.NoError(t, team.Round())
			require.EqualValues(t, 5*(r+1), done.Load(), "round %d after %d", r, number)
		}
	}
}

// Several teams with more goroutines than processors, whose number changes
// meanwhile, come to an end, and each piece is seen by who asked for it.
func TestTeamsSideBySide(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const teams, n, rounds = 4, 5, 300
	var others sync.WaitGroup
	for range teams {
		others.Go(func() {
			sum := make([]int, n) // not atomic: for the race detector
			team := NewTeam(3, n, func(_, b int) error { sum[b]++; return nil })
			for r := range rounds {
				assert.NoError(t, team.Round())
				for b := range sum {
					assert.Equal(t, r+1, sum[b])
				}
			}
		})
	}
	ended := make(chan bool)
	go func() { others.Wait(); close(ended) }()
	for p := 1; ; p = 1 + (p+2)%8 {
		runtime.GOMAXPROCS(p)
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
