package vi

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/verdict"
)

// manyPoints is the length of a series.
const manyPoints = 100

// shiftingLevel is the program of a series whose level shifts, with noise of 1.
func shiftingLevel(t testing.TB) *graph.Density {
	t.Helper()
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, manyPoints))
	low, high := m.Sample("low", graph.Normal(0, 3)), m.Sample("high", graph.Normal(0, 3))
	for i := range manyPoints {
		m.Observe("y", graph.Normal(graph.If(graph.Less(when, float64(i)+0.5), high, low), 1), 0)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// changingRate is the program of counts whose rate changes.
func changingRate(t testing.TB) *graph.Density {
	t.Helper()
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, manyPoints))
	before, after := m.Sample("before", graph.Gamma(2, 0.5)), m.Sample("after", graph.Gamma(2, 0.5))
	for i := range manyPoints {
		m.Observe("y", graph.Poisson(graph.If(graph.Less(when, float64(i)+0.5), after, before)), 0)
	}
	d, err := m.Compile()
	require.NoError(t, err)
	return d
}

// manySeries are n series with a shift each, somewhere; of counts, if counts.
func manySeries(n int, counts bool) iter.Seq2[string, map[string][]float64] {
	return func(yield func(string, map[string][]float64) bool) {
		for k := range n {
			rng := rand.New(rand.NewPCG(uint64(k), 11))
			at, y := rng.IntN(manyPoints), make([]float64, manyPoints)
			level := [2]float64{3 * rng.NormFloat64(), 3 * rng.NormFloat64()}
			if counts {
				level = [2]float64{2 * (rng.ExpFloat64() + rng.ExpFloat64()), 2 * (rng.ExpFloat64() + rng.ExpFloat64())}
			}
			for i := range y {
				v := level[0]
				if i >= at {
					v = level[1]
				}
				if !counts {
					y[i] = v + rng.NormFloat64()
					continue
				}
				for sum := rng.ExpFloat64(); sum < v; sum += rng.ExpFloat64() {
					y[i]++
				}
			}
			if !yield(fmt.Sprint(k), map[string][]float64{"y": y}) {
				return
			}
		}
	}
}

// exact is a posterior by enumeration of all places of the change.
type exact struct {
	logEvidence float64
	mean, sd    [3]float64 // of the time and the levels before and after
	shares      []float64  // of the number of points before the change
}

// Named guards are no obstacle to a quick fit, whose cells are those of the same program without names.
func TestQuickNamed(t *testing.T) {
	fit := func(named bool) *Posterior {
		m := graph.NewModel()
		when := m.Sample("when", graph.Uniform(0, 8))
		low, high := m.Sample("low", graph.Normal(0, 3)), m.Sample("high", graph.Normal(0, 3))
		for i := range 8 {
			late := graph.Less(when, float64(i)+0.5)
			if named {
				m.Name("late", late)
			}
			m.Observe("y", graph.Normal(graph.If(late, high, low), 1), math.Sin(float64(7*i))+float64(i/4))
		}
		d, err := m.Compile()
		require.NoError(t, err)
		p, err := Fit(context.Background(), d, Settings{Seed: 1, Method: Cells{Quick: true}})
		require.NoError(t, err)
		return p
	}
	require.Equal(t, fit(false).Cells(), fit(true).Cells())
}

// enumerate sums over the number k of points before the change: given k the levels are
// independent, with log evidences and first two moments by segment.
func enumerate(y []float64, segment func(y []float64) (log, mean, square float64)) (e exact) {
	n := len(y)
	var moment, square [3][]float64
	for k := range n + 1 { // the change is in (k − 0.5, k + 0.5)
		lo, hi := max(0, float64(k)-0.5), min(float64(n), float64(k)+0.5)
		a, am, as := segment(y[:k])
		b, bm, bs := segment(y[k:])
		e.shares = append(e.shares, math.Log((hi-lo)/float64(n))+a+b)
		for i, v := range [3]float64{(lo + hi) / 2, am, bm} {
			moment[i] = append(moment[i], v)
		}
		for i, v := range [3]float64{(lo*lo + lo*hi + hi*hi) / 3, as, bs} {
			square[i] = append(square[i], v)
		}
	}
	e.logEvidence = floats.LogSumExp(e.shares)
	for k, x := range e.shares {
		e.shares[k] = math.Exp(x - e.logEvidence)
	}
	for i := range e.mean {
		e.mean[i] = floats.Dot(e.shares, moment[i])
		e.sd[i] = math.Sqrt(floats.Dot(e.shares, square[i]) - e.mean[i]*e.mean[i])
	}
	return e
}

// normalSegment is of normals with noise 1 and one mean ~ N(0, 3).
func normalSegment(y []float64) (log, mean, square float64) {
	precision := 1./9 + float64(len(y))
	mean = floats.Sum(y) / precision
	log = -0.5*(float64(len(y))*math.Log(2*math.Pi)+math.Log(9*precision)) - 0.5*(floats.Dot(y, y)-mean*mean*precision)
	return log, mean, mean*mean + 1/precision
}

// poissonSegment is of counts with one rate ~ Gamma(2, rate 0.5).
func poissonSegment(y []float64) (log, mean, square float64) {
	shape, rate := 2+floats.Sum(y), 0.5+float64(len(y))
	lg := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	log = 2*math.Log(0.5) - lg(2) + lg(shape) - shape*math.Log(rate)
	for _, v := range y {
		log -= lg(v + 1)
	}
	return log, shape / rate, shape * (shape + 1) / (rate * rate)
}

// Quick fits of many series are the posteriors that enumeration finds: to 5 standard errors and what Cells.Tolerance
// lets them leave out, 2 % of a variance and a mass by which no mean moves by more than 0.002 standard deviations. Of normals
// standard errors are 0; where weights have tails they are themselves known by their order, and a third of what a verdict
// calls off is allowed beside them.
func TestQuickIsExact(t *testing.T) {
	for _, c := range []struct {
		name    string
		series  int
		d       *graph.Density
		counts  bool
		segment func(y []float64) (log, mean, square float64)
		mean    float64 // beside standard errors, in standard deviations
		names   [3]string
	}{
		{"levels", 1000, shiftingLevel(t), false, normalSegment, 0.002, [3]string{"when", "low", "high"}},
		{"rates", 1000, changingRate(t), true, poissonSegment, 0.002, [3]string{"when", "before", "after"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.series
			if !long.On() {
				n /= 10
			}
			data := map[string][]float64{}
			for key, set := range manySeries(n, c.counts) {
				data[key] = set["y"]
			}
			slow, worst := 0, 0.0
			for f := range FitAll(context.Background(), c.d, manySeries(n, c.counts), Settings{Seed: *seed, Method: Cells{Quick: true}}) {
				require.NoError(t, f.Err)
				want := enumerate(data[f.Key], c.segment)
				e, err := f.Fit.LogEvidence()
				require.NoError(t, err)
				require.InDelta(t, want.logEvidence, e.Value, 0.001+5*e.SE, f.Key) // Cells.Tolerance
				require.LessOrEqual(t, e.SE, quickSE)
				moments, err := f.Fit.Moments()
				require.NoError(t, err)
				for i, name := range c.names {
					at, _ := c.d.Latent(name)
					m := moments[at]
					require.InDelta(t, want.mean[i], m.Mean.Value, c.mean*want.sd[i]+5*m.Mean.SE, "%s: %s", f.Key, name)
					require.InDelta(t, want.sd[i], m.SD.Value, 0.012*want.sd[i]+5*m.SD.SE, "%s: %s", f.Key, name)
					require.Less(t, m.Mean.SE, 1.1*verdict.AcceptedMean*want.sd[i])
					require.Less(t, m.SD.SE, 1.1*verdict.AcceptedSD*want.sd[i])
					if f.Fit.findings.Verdict.Trust == TrustFit {
						worst = max(worst, math.Abs(want.mean[i]-m.Mean.Value)/want.sd[i])
					}
				}
				for _, cell := range f.Fit.Cells() {
					var lo, hi float64
					k := 0
					if _, err := fmt.Sscanf(cell.Where, "when in (%g, %g)", &lo, &hi); err == nil {
						k = int(hi)
					} else if _, err := fmt.Sscanf(cell.Where, "when > %g", &lo); err == nil {
						k = manyPoints
					}
					require.InDelta(t, want.shares[k], cell.Weight, 1e-4+0.3*want.shares[k], "%s: %s", f.Key, cell.Where)
				}
				if !math.IsNaN(f.Fit.findings.Scout.Value) {
					slow++
				}
			}
			t.Logf("%d of %d took a scout; the worst mean of a fit to be trusted is off by %.3f standard deviations", slow, n, worst)
			require.Less(t, slow, n/100+1)
		})
	}
}

// A quick fit is the same by Fit and by FitAll, in any order and after any other.
func TestQuickOrder(t *testing.T) {
	d := changingRate(t)
	first := map[string]*Posterior{}
	for f := range FitAll(context.Background(), d, manySeries(12, true), Settings{Seed: *seed, Method: Cells{Quick: true}}) {
		require.NoError(t, f.Err)
		first[f.Key] = f.Fit
	}
	back := func(yield func(string, map[string][]float64) bool) {
		var keys []string
		data := map[string]map[string][]float64{}
		for key, set := range manySeries(12, true) {
			keys, data[key] = append(keys, key), set
		}
		for k := len(keys) - 1; k >= 0 && yield(keys[k], data[keys[k]]); k-- {
		}
	}
	for f := range FitAll(context.Background(), d, back, Settings{Seed: *seed, Method: Cells{Quick: true}}) {
		requireSameCells(t, first[f.Key], f.Fit)
	}
	alone, err := Fit(context.Background(), first["7"].Density, Settings{Seed: SeedOf(*seed, "7"), Method: Cells{Quick: true}})
	require.NoError(t, err)
	requireSameCells(t, first["7"], alone)
}

// Where intervals are not all, or not near normals, the fit is the one without Quick.
func TestQuickIsNotForAll(t *testing.T) {
	m := graph.NewModel()
	when := m.Sample("when", graph.Uniform(0, 8))
	size := m.Sample("size", graph.Normal(0, 3))
	for i := range 8 { // the level is size² after the change: two modes, ±2
		m.Observe("y", graph.Normal(graph.If(graph.Less(when, float64(i)+0.5), graph.Mul(size, size), 0), 0.5), []float64{0.1, -0.3, 0.2, 0, 4.1, 3.8, 4, 4.2}[i])
	}
	d, err := m.Compile()
	require.NoError(t, err)
	quick, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Cells{Quick: true}})
	require.NoError(t, err)
	plain, err := Fit(context.Background(), d, Settings{Seed: *seed})
	require.NoError(t, err)
	require.Equal(t, plain.findings.Scout, quick.findings.Scout)
	require.Equal(t, plain.Q.Theta(), quick.Q.Theta())

	two := graph.NewModel()
	a, b := two.Sample("a", graph.Normal(0, 1)), two.Sample("b", graph.Normal(0, 1))
	two.Observe("y", graph.Normal(graph.If(graph.Less(a, b), a, b), 1), 0.5)
	d, err = two.Compile()
	require.NoError(t, err)
	p, err := fitQuick(context.Background(), d, newJob(d, Settings{}))
	require.NoError(t, err)
	require.Nil(t, p)
}

// A process that is killed and started again loses nothing, does nothing twice, and has
// equal results.
func TestFitAllKilled(t *testing.T) {
	if folder := os.Getenv("FACET_FITALL_FOLDER"); folder != "" { // the process
		for f := range FitAll(context.Background(), shiftingLevel(t), manySeries(2000, false), Settings{Seed: 3, Checkpoint: folder, Method: Cells{Quick: true}}) {
			require.NoError(t, f.Err)
		}
		return
	}
	long.Skip(t) // TestFitAllResumes is smaller
	const n = 150
	folder := t.TempDir()
	file := filepath.Join(folder, "done.fits")
	var before []byte
	for size := int64(100_000); ; size += 100_000 { // killed twice
		process := exec.Command(os.Args[0], "-test.run", "^TestFitAllKilled$")
		process.Env = append(os.Environ(), "FACET_FITALL_FOLDER="+folder)
		require.NoError(t, process.Start())
		require.Eventually(t, func() bool {
			info, err := os.Stat(file)
			return err == nil && info.Size() > size
		}, time.Minute, time.Millisecond)
		require.NoError(t, process.Process.Kill())
		_ = process.Wait()
		now, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Greater(t, int64(len(now)), size)
		if before != nil {
			break
		}
		before = now
	}
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	whole := bytes.IndexByte(before, '\n') + 1 // what the first process had written of whole blocks
	for size := bytes.IndexByte(before[whole:], '\n') + 1; whole+size <= len(before); size = blockSize(before[whole:]) {
		whole += size
	}
	require.Greater(t, whole, 30_000)
	require.Equal(t, before[:whole], after[:whole])

	d, evidence := shiftingLevel(t), map[string]float64{}
	for f := range FitAll(context.Background(), d, manySeries(n, false), Settings{Seed: 3, Method: Cells{Quick: true}}) {
		e, err := f.Fit.LogEvidence()
		require.NoError(t, err)
		evidence[f.Key] = e.Value
	}
	j, err := openJournal(folder, d, newJob(d, Settings{Seed: 3, Method: Cells{Quick: true}}))
	require.NoError(t, err)
	known := 0
	for key, data := range manySeries(n, false) {
		of, err := d.WithData(data)
		require.NoError(t, err)
		p, err := loadFrom(j, key, of, newJob(of, Settings{Seed: SeedOf(3, key), Method: Cells{Quick: true}}))
		require.NoError(t, err)
		if p != nil {
			known++
		}
	}
	require.NoError(t, j.Close())
	require.Positive(t, known)
	keys := 0
	for f := range FitAll(context.Background(), d, manySeries(n, false), Settings{Seed: 3, Checkpoint: folder, Method: Cells{Quick: true}}) {
		require.NoError(t, f.Err)
		e, err := f.Fit.LogEvidence()
		require.NoError(t, err)
		require.Equal(t, evidence[f.Key], e.Value, f.Key)
		keys++
	}
	require.Equal(t, n, keys)
}

// Series a second, on all processors, and the bytes of a checkpoint for each.
func BenchmarkFitAll(b *testing.B) {
	for _, c := range []struct {
		name       string
		d          *graph.Density
		counts     bool
		checkpoint bool
	}{{"levels", shiftingLevel(b), false, false}, {"levels with a checkpoint", shiftingLevel(b), false, true}, {"rates", changingRate(b), true, false}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			s := Settings{Seed: 1, Method: Cells{Quick: true}}
			if c.checkpoint {
				s.Checkpoint = b.TempDir()
			}
			for f := range FitAll(context.Background(), c.d, manySeries(b.N, c.counts), s) {
				if f.Err != nil {
					b.Fatal(f.Err)
				}
			}
			if c.checkpoint {
				file, err := os.Stat(filepath.Join(s.Checkpoint, "done.fits"))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(file.Size())/float64(b.N), "bytes/op")
			}
		})
	}
}

// A quick fit of a program without guards, here a chain of changes in counts that is summed out, has the evidence that enumeration
// finds. Where its weights are not even it is the fit without Quick, unless it is to be alone. A larger program has another fit.
func TestQuickSmooth(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	counts := series(parallel.NewRand(2), 30)
	for k, want := range changesExact(counts, 2) {
		p, err := Fit(context.Background(), changes(t, k, counts), Settings{Seed: *seed, Method: Cells{Quick: true}})
		require.NoError(t, err)
		require.True(t, p.findings.quick)
		require.NotEqual(t, TrustNothing, p.findings.Verdict.Trust)
		require.LessOrEqual(t, p.findings.draws, quickMore*quickDraws)
		e, err := p.LogEvidence()
		require.NoError(t, err)
		require.Less(t, e.SE, quickSE)
		require.InDelta(t, want, e.Value, 5*e.SE)
	}

	large := graph.NewModel()
	large.SampleN("x", quickLatents+1, graph.Normal(0, 1))
	p, err := Fit(context.Background(), mustCompile(t, large), Settings{Seed: *seed, Method: Cells{Quick: true, Alone: true}})
	require.NoError(t, err)
	require.False(t, p.findings.quick)
}

// Where few draws of a Gaussian do not do, the fit goes on as without Quick.
func TestQuickFunnel(t *testing.T) {
	long.Skip(t)
	t.Parallel()
	m := graph.NewModel() // Neal's funnel
	scale := m.Sample("scale", graph.Normal(0, 3))
	m.SampleN("x", 5, graph.Normal(0, graph.Exp(scale)))
	funnel := mustCompile(t, m)
	alone, err := Fit(context.Background(), funnel, Settings{Seed: *seed, Method: Cells{Quick: true, Alone: true}})
	require.NoError(t, err)
	require.True(t, alone.findings.quick)
	require.Equal(t, TrustNothing, alone.findings.Verdict.Trust)
	require.NotEmpty(t, alone.Warnings)
	quick, err := Fit(context.Background(), funnel, Settings{Seed: *seed, Method: Cells{Quick: true}})
	require.NoError(t, err)
	require.False(t, quick.findings.quick)
	e, err := quick.LogEvidence()
	require.NoError(t, err)
	require.LessOrEqual(t, e.Value, 4*e.SE) // it is 0
	plain, err := Fit(context.Background(), funnel, Settings{Seed: *seed})
	require.NoError(t, err)
	require.Equal(t, plain.findings.Verdict, quick.findings.Verdict)
}
