package vi

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/sealed"
)

// The tests TestLong… look for what is rare: go test ./vi -run TestLong -tags long -longtime 1h
// -timeout 0. Other seeds give other kills and other models.
var longTime = flag.Duration("longtime", 3*time.Second, "how long each of the tests TestLong… runs")

// longRun says when such a test is to end, and skips it without -tags long.
func longRun(t *testing.T) (more func() bool) {
	long.Skip(t)
	end := time.Now().Add(*longTime)
	return func() bool { return time.Now().Before(end) }
}

// Fits that are killed at any time leave nothing, or a whole checkpoint from which
// the same fit comes as if nothing had been; and who goes on cleans up.
func TestLongKills(t *testing.T) {
	more := longRun(t)
	d, rng := chain(t), rand.New(rand.NewPCG(*seed, 1))
	var want []*Posterior
	for _, f := range allFamilies {
		p, err := Fit(context.Background(), d, killedSettings("", f))
		require.NoError(t, err)
		want = append(want, p)
	}
	kills, early, parts := 0, 0, 0
	for ; more(); kills++ {
		k, dir := rng.IntN(len(allFamilies)), t.TempDir()
		path := filepath.Join(dir, "fit.json")
		child := exec.Command(os.Args[0], "-test.run=^TestResumeAfterKill$", fmt.Sprintf("-seed=%d", *seed))
		child.Env = append(os.Environ(), "FACET_KILLED_FIT="+path, fmt.Sprintf("FACET_KILLED_FAMILY=%d", k), "GOMAXPROCS=2")
		require.NoError(t, child.Start())
		time.Sleep(time.Duration(rng.Int64N(int64(700 * time.Millisecond))))
		require.NoError(t, child.Process.Kill())
		require.ErrorContains(t, child.Wait(), "killed")
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		if _, err := os.Stat(path); err != nil {
			early++
			continue
		}
		parts += max(0, len(files)-2) // beside the checkpoint and its lock
		p := loadFile(t, path, d)
		p.Settings.Checkpoint, p.Settings.climb().CheckpointEvery = path, 100
		got, err := p.Resume(context.Background())
		require.NoError(t, err)
		requireSameFit(t, want[k], got)
		requireSameFit(t, want[k], loadFile(t, path, d))
		files, err = os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 1, "nothing is left")
	}
	t.Logf("%d kills, %d of them before the first checkpoint, %d in the middle of one", kills, early, parts)
}

// The memory of a fit does not grow with its steps, and none of its goroutines
// stays.
func TestLongIsFlat(t *testing.T) {
	more := longRun(t)
	_, d := paperSpec(t, "textmsg")
	heap := func() float64 {
		var m runtime.MemStats
		for range 3 { // what a pool has lent out is free after two
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	const warm = 250_000 // steps, and two checkpoints
	before, first, grown, steps := runtime.NumGoroutine(), 0.0, 0.0, 0
	path := filepath.Join(t.TempDir(), "fit.json")
	s := Settings{Seed: *seed, Checkpoint: path, Method: Climb{Start: PriorStart(d), Samples: 2, Steps: 1e12, TraceEvery: 1e9, CheckpointEvery: 100_000}}
	s.climb().OnStep = func(step Step) error {
		steps = step.T
		if step.T == warm {
			first = heap()
		}
		if step.T%1000 == 0 && step.T > 2*warm && !more() {
			grown = heap() - first // not what the end makes of it
			return context.DeadlineExceeded
		}
		return nil
	}
	p, err := Fit(context.Background(), d, s)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	t.Logf("%d steps: %.0f bytes more than after %d", steps, grown, warm)
	require.Less(t, grown, 100e3)
	require.Equal(t, steps, p.Steps)
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// No bit of a saved fit of any family can change, and no byte be lost, without an
// error.
func TestLongBits(t *testing.T) {
	more := longRun(t)
	rng := rand.New(rand.NewPCG(*seed, 2))
	flips, fits := 0, 0
	for ; more() || fits < len(allFamilies); fits++ {
		d := chain(t)
		s := Settings{Seed: rng.Uint64(), Method: Climb{Family: allFamilies[fits%len(allFamilies)], StartDraws: 20, Steps: 1 + rng.IntN(150), Restarts: 1 + rng.IntN(2)}}
		p, err := Fit(context.Background(), d, s)
		require.NoError(t, err)
		var file bytes.Buffer
		require.NoError(t, p.Save(&file))
		for i, was := range file.Bytes() {
			for bit := range 8 {
				file.Bytes()[i] = was ^ 1<<bit
				requireRefused(t, file.Bytes(), d, sealed.ErrDamaged)
				flips++
			}
			file.Bytes()[i] = was
			requireRefused(t, file.Bytes()[:i], d, sealed.ErrTruncated)
		}
	}
	t.Logf("%d bits of %d fits", flips, fits)
}

// requireRefused asks that Load says why.
func requireRefused(t *testing.T, file []byte, d *graph.Density, why error) {
	if p, err := Load(bytes.NewReader(file), d); p != nil || err == nil {
		t.Fatalf("accepted: %q", file)
	} else {
		require.ErrorIs(t, err, why)
	}
}
