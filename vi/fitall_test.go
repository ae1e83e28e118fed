package vi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/sealed"
	"github.com/facetvi/facet/vi/family"
)

// shifts are data sets of a model with a level shift: the key says at which of eight times.
func shifts(t testing.TB) (d *graph.Density, sets iter.Seq2[string, map[string][]float64]) {
	t.Helper()
	const n = 8
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, n))
	low, high := m.Sample("low", graph.Normal(0, 3)), m.Sample("high", graph.Normal(0, 3))
	for i := range n {
		m.Observe("y", graph.Normal(graph.If(graph.Less(when, float64(i)+0.5), high, low), 1), 0)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	return d, func(yield func(string, map[string][]float64) bool) {
		for at := range n + 1 {
			ys := make([]float64, n)
			for i := range ys {
				ys[i] = math.Sin(float64(7*i + at))
				if i >= at {
					ys[i] += 4
				}
			}
			data := map[string][]float64{"y": ys}
			if at == 3 {
				data = map[string][]float64{"y": {1}} // too few
			}
			if !yield(fmt.Sprintf("shift/%d", at), data) {
				return
			}
		}
		yield("shift/1", nil)
	}
}

// Every data set has its fit, that of Fit, in the order of the sets, whatever GOMAXPROCS is;
// what is wrong with one is its own error.
func TestFitAll(t *testing.T) {
	d, sets := shifts(t)
	s := Settings{Seed: *seed}
	var first []float64
	for _, p := range long.Or([]int{3}, []int{1, 3}) { // TestProcessorsChangeNothing is smaller
		before := runtime.GOMAXPROCS(p)
		var progress bytes.Buffer
		s.Progress = &progress
		k := 0
		var evidence []float64
		for f := range FitAll(context.Background(), d, sets, s) {
			switch k {
			case 3:
				require.ErrorContains(t, f.Err, `vi: "shift/3": graph:`)
				require.Nil(t, f.Fit)
			case 9:
				require.ErrorContains(t, f.Err, `vi: "shift/1": the key was there before`)
			default:
				require.NoError(t, f.Err)
				require.Equal(t, fmt.Sprintf("shift/%d", k), f.Key)
				when, err := f.Fit.Quantile("when", 0.5)
				require.NoError(t, err)
				if k > 0 && k < 8 {
					require.InDelta(t, float64(k), when.Value, 1)
				}
				e, err := f.Fit.LogEvidence()
				require.NoError(t, err)
				evidence = append(evidence, e.Value)
				if k == 5 {
					alone, err := Fit(context.Background(), f.Fit.Density, Settings{Seed: SeedOf(*seed, f.Key)})
					require.NoError(t, err)
					requireSameCells(t, alone, f.Fit)
				}
			}
			k++
		}
		runtime.GOMAXPROCS(before)
		require.Equal(t, 10, k)
		require.Contains(t, progress.String(), "1 data sets done, 0 of them with errors")
		if first == nil {
			first = evidence
		}
		require.Equal(t, first, evidence)
	}
}

// What is done is not done again, and what had begun goes on.
func TestFitAllFromFolder(t *testing.T) {
	long.Skip(t)
	d, sets := shifts(t)
	for _, quick := range []bool{false, true} {
		folder := filepath.Join(t.TempDir(), "fits")
		s := Settings{Seed: *seed, Checkpoint: folder, Method: Cells{Quick: quick}}
		var want []*Posterior
		for f := range FitAll(context.Background(), d, sets, Settings{Seed: *seed, Method: Cells{Quick: quick}}) {
			if f.Err == nil {
				want = append(want, f.Fit)
			}
		}
		k := 0
		for f := range FitAll(context.Background(), d, sets, s) {
			require.NoError(t, f.Err)
			if k++; k == 2 {
				break
			}
		}
		file := filepath.Join(folder, "done.fits")
		part, err := os.ReadFile(file)
		require.NoError(t, err)
		all := func() (fits []*Posterior) {
			for f := range FitAll(context.Background(), d, sets, s) {
				if f.Err == nil {
					fits = append(fits, f.Fit)
				}
			}
			return fits
		}
		same := func(fits []*Posterior) {
			require.Len(t, fits, len(want))
			for k, p := range fits {
				requireSameCells(t, want[k], p)
			}
		}
		same(all())
		whole, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, part, whole[:len(part)])
		same(all())
		again, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, whole, again)

		// A process that is killed leaves the file cut anywhere: in a head, in a fit, between two.
		for _, n := range []int{0, 5, len(whole) / 3, len(whole) / 2, len(whole) - 1} {
			if !quick && n > 0 {
				continue
			}
			require.NoError(t, os.WriteFile(file, whole[:n], 0o666))
			same(all())
			again, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Len(t, again, len(whole))
		}

		// Whatever byte has changed is noticed, as are blocks in another order and one that is not there, and nothing is lost.
		_, heads, _ := bytes.Cut(whole, []byte("\n"))
		begin := len(whole) - len(heads) + bytes.IndexByte(heads, '\n') + 1
		next := begin + blockSize(whole[begin:])
		changed := [][]byte{slices.Delete(slices.Clone(whole), begin, next)}
		for at := 0; at < len(whole); at += 1 + len(whole)/200 {
			changed = append(changed, slices.Clone(whole))
			changed[len(changed)-1][at] ^= 1
		}
		refused := func(d *graph.Density, sets iter.Seq2[string, map[string][]float64], s Settings, why string) (err error) {
			for f := range FitAll(context.Background(), d, sets, s) {
				require.Nil(t, f.Fit)
				if !strings.Contains(f.Err.Error(), "the key was there before") {
					err = f.Err
					require.ErrorContains(t, err, "done.fits: "+why)
				}
			}
			return err
		}
		for _, bad := range changed {
			require.NoError(t, os.WriteFile(file, bad, 0o666))
			refused(d, sets, s, "")
			now, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, bad, now)
		}
		require.NoError(t, os.WriteFile(file, whole, 0o666))
		other := s
		other.Seed++
		refused(d, sets, other, "its fits are by other settings: Seed was ")
		other = s
		other.Method = Cells{Quick: !quick}
		refused(d, sets, other, "its fits are by other settings: Cells was ")
		refused(shiftingLevel(t), manySeries(2, false), s, "the fit is of another model: ")
		refused(d, func(yield func(string, map[string][]float64) bool) {
			yield("shift/0", map[string][]float64{"y": {1, 2, 3, 4, 5, 6, 7, 8}})
		}, s, "the fit is of other observations")
		require.NoError(t, os.WriteFile(file, []byte("key,mean\n0,1\n"), 0o666))
		require.ErrorIs(t, refused(d, sets, s, ""), sealed.ErrFormat)
		var later bytes.Buffer
		require.NoError(t, sealed.Write(&later, "facet fits 4", 0))
		require.NoError(t, os.WriteFile(file, later.Bytes(), 0o666))
		require.ErrorIs(t, refused(d, sets, s, ""), sealed.ErrFormat)
	}
}

// A fit of one family is saved on the way, and its file goes when it is done.
func TestFitAllResumes(t *testing.T) {
	d, sets := shifts(t)
	folder := t.TempDir()
	s := Settings{Seed: *seed, Checkpoint: folder, Method: Climb{Family: family.MeanField{}, Steps: 200, StartDraws: 20, CheckpointEvery: 50}}
	var want *Posterior
	for f := range FitAll(context.Background(), d, sets, Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Steps: 200, StartDraws: 20}}) {
		require.NoError(t, f.Err)
		want = f.Fit
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.climb().OnStep = func(Step) error {
		if _, err := os.Stat(filepath.Join(folder, "shift%2F0.fit")); err == nil {
			cancel()
		}
		return nil
	}
	for f := range FitAll(ctx, d, sets, s) {
		require.ErrorIs(t, f.Err, context.Canceled)
		break
	}
	s.climb().OnStep = nil
	for f := range FitAll(context.Background(), d, sets, s) {
		require.NoError(t, f.Err)
		require.Equal(t, want.Q.Theta(), f.Fit.Q.Theta())
		break
	}
	_, err := os.Stat(filepath.Join(folder, "shift%2F0.fit"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Fits may come as they are done: the same ones, with the same errors.
func TestFitAllAsDone(t *testing.T) {
	d, sets := shifts(t)
	s := Settings{Seed: *seed, Method: Cells{Quick: true}}
	want := map[string]float64{}
	errs := 0
	for f := range FitAll(context.Background(), d, sets, s) {
		if f.Err != nil {
			errs++
			continue
		}
		e, err := f.Fit.LogEvidence()
		require.NoError(t, err)
		want[f.Key] = e.Value
	}
	require.Len(t, want, 8)
	require.Equal(t, 2, errs)
	got := map[string]float64{}
	for f := range FitAllAsDone(context.Background(), d, sets, s) {
		if f.Err != nil {
			errs--
			continue
		}
		e, err := f.Fit.LogEvidence()
		require.NoError(t, err)
		got[f.Key] = e.Value
	}
	require.Equal(t, want, got)
	require.Zero(t, errs)
	for range FitAll(context.Background(), d, sets, s) {
		break // lets all goroutines go
	}
}

// A cancelled context ends it, with an error for what had begun, also of sets without end.
func TestFitAllStops(t *testing.T) {
	d, _ := shifts(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	three := make(chan struct{})
	endless := func(yield func(string, map[string][]float64) bool) {
		for k := 0; yield(fmt.Sprint(k), nil); k++ {
			if k == 2 {
				<-three
			}
		}
	}
	s := Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Steps: 50, StartDraws: 10, OnStep: func(Step) error {
		select {
		case <-three:
			cancel()
		default:
		}
		return nil
	}}}
	good, bad := 0, 0
	for f := range FitAll(ctx, d, endless, s) {
		if f.Err != nil {
			require.ErrorIs(t, f.Err, context.Canceled)
			bad++
			continue
		}
		if good++; good == 3 {
			close(three)
		}
	}
	require.Equal(t, 3, good)
	require.Positive(t, bad)
}

// A panic in a fit is the error of its key, and one of the iterator that of a last Fitted without a
// key; an iterator that is nil is an error.
func TestFitAllPanics(t *testing.T) {
	d, sets := shifts(t)
	var steps atomic.Int64
	s := Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Steps: 5, StartDraws: 10, OnStep: func(Step) error {
		if steps.Add(1) == 7 {
			panic("out of paper")
		}
		return nil
	}}}
	panicking := func(yield func(string, map[string][]float64) bool) {
		sets(yield)
		panic("out of sets")
	}
	count, panics := 0, 0
	for f := range FitAll(context.Background(), d, panicking, s) {
		var p *parallel.Panic
		if errors.As(f.Err, &p) {
			require.Nil(t, f.Fit)
			if panics++; f.Key == "" {
				require.Equal(t, "out of sets", p.Value)
				require.Equal(t, 10, count)
			} else {
				require.Equal(t, "out of paper", p.Value)
				require.ErrorContains(t, f.Err, fmt.Sprintf("vi: %q: panic: out of paper", f.Key))
			}
		}
		count++
	}
	require.Equal(t, 11, count)
	require.Equal(t, 2, panics)
	for f := range FitAll(context.Background(), d, nil, s) {
		require.ErrorContains(t, f.Err, "vi: a nil")
		count++
	}
	require.Equal(t, 12, count)
}

// An iterator may fill one buffer again.
func TestFitAllCopies(t *testing.T) {
	d, sets := shifts(t)
	buffer, data := make([]float64, 8), map[string][]float64{}
	reusing := func(yield func(string, map[string][]float64) bool) {
		sets(func(key string, set map[string][]float64) bool {
			clear(data)
			for name, x := range set {
				data[name] = buffer[:copy(buffer, x)]
			}
			return yield(key, data)
		})
	}
	s := Settings{Seed: *seed, Method: Cells{Quick: true}}
	var want []float64
	for f := range FitAll(context.Background(), d, sets, s) {
		want = append(want, evidenceOf(t, f))
	}
	for f := range FitAll(context.Background(), d, reusing, s) {
		require.Equal(t, want[0], evidenceOf(t, f), f.Key)
		want = want[1:]
	}
	require.Empty(t, want)
}

// evidenceOf is the log evidence of a fit, and 0 of an error.
func evidenceOf(t *testing.T, f Fitted) float64 {
	if f.Err != nil {
		return 0
	}
	e, err := f.Fit.LogEvidence()
	require.NoError(t, err)
	return e.Value
}

// blockSize is the length of the block of a journal that b begins with: 8 bytes, the first of them the length of the body, that, and a
// digest. It is more than b has where that ends too early.
func blockSize(b []byte) int {
	if len(b) < 8 {
		return 8
	}
	return 8 + int(binary.LittleEndian.Uint32(b)) + sha256.Size
}
