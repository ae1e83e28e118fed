package vi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/climb"
	"github.com/facetvi/facet/vi/family"
)

// saveCases are fits with all that a saved fit has to keep.
func saveCases() map[string]Settings {
	return map[string]Settings{
		"plain":       {Method: Climb{Samples: 16, Steps: 60}},
		"streams":     {Method: Climb{Samples: 700, Steps: 40, Average: 0.5}},
		"cosine":      {Method: Climb{Steps: 60, Schedule: Schedule{Shape: Cosine, End: 0.01}}},
		"polynomial":  {Method: Climb{Steps: 60, Schedule: Schedule{Shape: Polynomial, Power: 3}, Optimizer: &Adam{StepSize: 0.02, Beta1: 0.8, Epsilon: 1e-6}}},
		"automatic":   {Method: Climb{Steps: 1000, Stop: Automatic, TraceEvery: 7}},
		"runs out":    {Method: Climb{Steps: 120, Stop: Automatic}},
		"restarts":    {Method: Climb{Steps: 60, Restarts: 3}},
		"subsampling": {Method: Climb{Estimator: Boundary{Guards: 2, By: boundary.ByWeight}, Steps: 60}},
		"reparam":     {Method: Climb{Estimator: Reparam{}, Steps: 60}},
		"score":       {Method: Climb{Estimator: Score{}, Steps: 60}},
	}
}

// A fit that is interrupted anywhere, saved, loaded and resumed is to the last
// bit the fit that was not.
func TestResumeIsBitEqual(t *testing.T) {
	long.Skip(t) // TestResumeAfterKill and TestResumeWhileHolding compare bits, too
	_, d := paperSpec(t, "textmsg")
	for name, s := range saveCases() {
		t.Run(name, func(t *testing.T) {
			s.climb().Family, s.Seed, s.climb().StartDraws = family.MeanField{}, *seed, 50
			want, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			requireSameFit(t, want, reloaded(t, want, d))
			require.Equal(t, want.Settings, reloaded(t, want, d).Settings)
			done, err := reloaded(t, want, d).Resume(context.Background())
			require.NoError(t, err)
			requireSameFit(t, want, done)
			for _, at := range []int{0, 1, 31, want.Steps - 1} {
				ctx, cancel := context.WithCancel(context.Background())
				s.climb().OnStep = func(step Step) error {
					if step.T == at {
						cancel()
					}
					return nil
				}
				if at == 0 {
					cancel()
				}
				p, err := Fit(ctx, d, s)
				require.ErrorIs(t, err, context.Canceled)
				require.Less(t, p.Steps, want.Steps)
				got, err := reloaded(t, p, d).Resume(context.Background())
				require.NoError(t, err)
				requireSameFit(t, want, got)
				got, err = p.Resume(ctx) // not saved; OnStep is still there
				require.ErrorIs(t, err, context.Canceled)
				require.Equal(t, p.Q, got.Q)
				cancel()
			}
		})
	}
}

// The test above would notice a stream, an average or a running mean that is not
// restored.
func TestResumeNotices(t *testing.T) {
	long.Skip(t)
	_, d := paperSpec(t, "textmsg")
	s := Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, StartDraws: 50, Steps: 40, Average: 0.5}}
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	s.climb().OnStep = func(step Step) error {
		if step.T == 30 {
			return io.EOF
		}
		return nil
	}
	for name, spoil := range map[string]func(s *climb.State){
		"nothing":       func(*climb.State) {},
		"a stream":      func(s *climb.State) { s.Streams[0], _ = parallel.Stream(1, 2).MarshalBinary() },
		"an average":    func(s *climb.State) { s.Tail.N++ },
		"running mean":  func(s *climb.State) { s.Adam.M[0] *= 1 + 1e-6 },
		"running scale": func(s *climb.State) { s.Adam.V[0] = 0 },
		"bias":          func(s *climb.State) { s.Adam.T = 0 },
		"an iterate":    func(s *climb.State) { s.Theta[0] += 1e-12 },
	} {
		p, err := Fit(context.Background(), d, s)
		require.ErrorIs(t, err, io.EOF)
		spoil(&p.states[0])
		p.Settings.climb().OnStep = nil
		p, err = p.Resume(context.Background())
		require.NoError(t, err)
		require.Equal(t, name == "nothing", slices.Equal(want.Q.Theta(), p.Q.Theta()), name)
	}
}

// More steps can be asked for later, and another number of samples cannot.
func TestResumeFurther(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	s := Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, StartDraws: 50, TraceEvery: 10, Steps: 90}}
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	s.climb().Steps = 40
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	p.Settings.climb().Steps = 90
	got, err := p.Resume(context.Background())
	require.NoError(t, err)
	require.Equal(t, 40, p.Steps, "the fit so far is not touched")
	requireSameFit(t, want, got)

	p.Settings.climb().Samples = 4000
	_, err = p.Resume(context.Background())
	require.ErrorContains(t, err, "Climb.Samples = 4000")
	p.Settings.climb().Samples, p.Settings.climb().StepSize = 16, -1
	_, err = p.Resume(context.Background())
	require.ErrorContains(t, err, "Climb.StepSize")
	p.Settings.climb().StepSize, p.Settings.climb().Family = 0.03, family.FullRank{}
	_, err = p.Resume(context.Background())
	require.ErrorContains(t, err, "vi: Climb.Family: a fit of mean field cannot go on in full rank")
	p.Settings.climb().Family = nil
	got, err = p.Resume(context.Background())
	require.NoError(t, err)
	requireSameFit(t, want, got)
}

// Raised Restarts add fits, the same as if all had been asked for at once.
func TestResumeWithMoreRestarts(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	for name, s := range map[string]Settings{"found": {}, "given": {Method: Climb{Start: PriorStart(d)}}} {
		t.Run(name, func(t *testing.T) {
			s.climb().Family, s.climb().Steps, s.Seed, s.climb().Restarts = family.MeanField{}, 60, *seed, 4
			if s.climb().Start == nil {
				s.climb().StartDraws = 50
			}
			want, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			s.climb().Restarts = 2
			p, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			p = reloaded(t, p, d)
			p.Settings.climb().Restarts = 4
			got, err := p.Resume(context.Background())
			require.NoError(t, err)
			require.Len(t, got.Restarts, 4)
			requireSameFit(t, want, got)

			got.Settings.climb().Restarts = 3
			_, err = got.Resume(context.Background())
			require.ErrorContains(t, err, "vi: Climb.Restarts = 3 is fewer than the 4 fits")
		})
	}
}

// A fit that was to take its steps can go on until it stops by itself.
func TestResumeAutomatically(t *testing.T) {
	_, d := paperSpec(t, "proposition")
	p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Steps: 200, StartDraws: 50}})
	require.NoError(t, err)
	p.Settings.climb().Stop, p.Settings.climb().Steps = Automatic, 20000
	p, err = p.Resume(context.Background())
	require.NoError(t, err)
	require.Less(t, p.Steps, 20000)
}

// Checkpoints come every so many steps and at the end, whole, and each is a fit
// to go on from.
func TestCheckpoints(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	dir := t.TempDir()
	path := filepath.Join(dir, "fit.json")
	load := func() *Posterior { return loadFile(t, path, d) }
	s := Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, StartDraws: 50, Steps: 57}}
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	s.Checkpoint, s.climb().CheckpointEvery = path, 10
	s.climb().OnStep = func(step Step) error {
		p := load()
		require.Equal(t, step.T/10*10, p.Steps)
		if step.T%20 == 5 {
			got, err := p.Resume(context.Background())
			require.NoError(t, err)
			requireSameFit(t, want, got)
		}
		return nil
	}
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	requireSameFit(t, want, p)
	requireSameFit(t, want, load())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing is left beside it")

	s.climb().OnStep = func(step Step) error {
		if step.T == 33 {
			return io.EOF
		}
		return nil
	}
	_, err = Fit(context.Background(), d, s)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, 33, load().Steps, "the end is saved, whatever the reason")

	s.Checkpoint, s.climb().OnStep = filepath.Join(dir, "no", "such", "folder"), nil
	p, err = Fit(context.Background(), d, s)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "checkpoint")
	require.Nil(t, p, "it is known before the first step")
}

// A fit that cannot write its checkpoint any more stops, and is returned.
func TestCheckpointFails(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	dir := filepath.Join(t.TempDir(), "folder")
	require.NoError(t, os.Mkdir(dir, 0o755))
	s := Settings{Checkpoint: filepath.Join(dir, "fit.json"), Method: Climb{Family: family.MeanField{}, StartDraws: 50, Steps: 100, Restarts: 2, CheckpointEvery: 10}}
	s.climb().OnStep = func(step Step) error {
		if step.T == 15 {
			return os.RemoveAll(dir)
		}
		return nil
	}
	p, err := Fit(context.Background(), d, s)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "checkpoint")
	require.NotNil(t, p)
	require.Less(t, p.Steps, 100)
}

// chain is a model of latents that hang together, with guards on one and on two of
// them: every family of three latents and more has parameters of every kind.
func chain(t testing.TB) *graph.Density {
	m := graph.NewModel()
	top := m.Sample("top", graph.Normal(0, 2))
	left, right := m.Sample("left", graph.Normal(top, 1)), m.Sample("right", graph.Normal(top, 1))
	rate := m.Sample("rate", graph.Exponential(1))
	level := graph.If(graph.Greater(left, 0.5), left, graph.Mul(2, right))
	for _, y := range []float64{0.9, 1.4, 0.2} {
		m.Observe("y", graph.Normal(level, rate), y)
	}
	m.Factor(graph.If(graph.Greater(graph.Add(left, right), top), 0.5, -0.5))
	return mustCompile(t, m)
}

// In every family a fit that is interrupted anywhere, saved, loaded and resumed, on
// any number of processors, is to the last bit the fit that was not.
func TestResumeInEveryFamily(t *testing.T) {
	long.Skip(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	d := chain(t)
	for _, f := range allFamilies {
		for name, s := range map[string]Settings{
			"steps":     {Method: Climb{Steps: 40, Average: 0.5, Restarts: 2}},
			"automatic": {Method: Climb{Steps: 200, Stop: Automatic, TraceEvery: 7}},
			"a start":   {Method: Climb{Steps: 40, Start: inFamily(t, f, d), Estimator: Boundary{Guards: 2, By: boundary.ByWeight}}},
		} {
			t.Run(f.Name()+", "+name, func(t *testing.T) {
				s.climb().Family, s.Seed, s.climb().Samples = f, *seed, 40
				if s.climb().Start == nil {
					s.climb().StartDraws = 30
				}
				runtime.GOMAXPROCS(1)
				want, err := Fit(context.Background(), d, s)
				require.NoError(t, err)
				require.Equal(t, f, want.Q.Family())
				requireSameFit(t, want, reloaded(t, want, d))
				require.Equal(t, want.Settings, reloaded(t, want, d).Settings)
				for at, procs := range map[int][2]int{1: {2, 4}, 23: {1, 2}, want.Steps - 1: {4, 1}} {
					s.climb().OnStep = func(step Step) error {
						if step.T == at {
							return io.EOF
						}
						return nil
					}
					runtime.GOMAXPROCS(procs[0])
					p, err := Fit(context.Background(), d, s)
					require.ErrorIs(t, err, io.EOF)
					runtime.GOMAXPROCS(procs[1])
					got, err := reloaded(t, p, d).Resume(context.Background())
					require.NoError(t, err)
					requireSameFit(t, want, got)
				}
				s.climb().OnStep = nil
				for _, procs := range []int{2, 4} {
					runtime.GOMAXPROCS(procs)
					got, err := Fit(context.Background(), d, s)
					require.NoError(t, err)
					requireSameFit(t, want, got)
				}
			})
		}
	}
}

// killedSettings are those of the fit that TestResumeAfterKill kills.
func killedSettings(path string, f family.Family) Settings {
	s := Settings{Seed: *seed, Checkpoint: path, Method: Climb{Family: f, StartDraws: 50, Steps: 400, Samples: 200, Restarts: 2, Average: 0.8}}
	if path != "" {
		s.climb().CheckpointEvery = 20
	}
	return s
}

// A process that is killed with signal 9, or interrupted as by Ctrl-C, leaves a checkpoint, and the fit
// that is resumed from it, on another number of processors, is the one that was not
// stopped: in every family, and on 1, 2 and 4 processors at the start and after.
func TestResumeAfterKill(t *testing.T) {
	d := chain(t)
	if path := os.Getenv("FACET_KILLED_FIT"); path != "" { // in the process that is to die
		k, err := strconv.Atoi(os.Getenv("FACET_KILLED_FAMILY"))
		require.NoError(t, err)
		s := killedSettings(path, allFamilies[k])
		s.climb().OnStep = func(step Step) error { // slower from step 100 on, for who is to stop it may be late
			time.Sleep(time.Duration(1+step.T/100*2) * time.Millisecond)
			return nil
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		_, err = Fit(ctx, d, s)
		require.ErrorIs(t, err, context.Canceled, "the fit ended")
		return
	}
	long.Skip(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for k, f := range allFamilies {
		t.Run(f.Name(), func(t *testing.T) {
			procs := []int{1, 2, 4}
			runtime.GOMAXPROCS(procs[k%3])
			want, err := Fit(context.Background(), d, killedSettings("", f))
			require.NoError(t, err)
			for shift, sig := range []os.Signal{os.Kill, os.Interrupt} {
				path := filepath.Join(t.TempDir(), "fit.json")
				killFit(t, d, path, k, procs[(k+1+shift)%3], sig)
				p := loadFile(t, path, d)
				t.Logf("%v after step %d", sig, p.Steps)
				require.Less(t, p.Steps, 400)
				runtime.GOMAXPROCS(procs[(k+2+shift)%3])
				got, err := p.Resume(context.Background())
				require.NoError(t, err)
				requireSameFit(t, want, got)
			}
		})
	}
}

// killFit starts a process that fits d in a family, and stops it in the middle with a signal.
func killFit(t *testing.T, d *graph.Density, path string, numberOfFamily, procs int, sig os.Signal) {
	child := exec.Command(os.Args[0], "-test.run=^TestResumeAfterKill$", fmt.Sprintf("-seed=%d", *seed))
	child.Env = append(os.Environ(), "FACET_KILLED_FIT="+path,
		fmt.Sprintf("FACET_KILLED_FAMILY=%d", numberOfFamily), fmt.Sprintf("GOMAXPROCS=%d", procs))
	require.NoError(t, child.Start())
	t.Cleanup(func() { _ = child.Process.Kill() }) // where the test fails
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		require.Less(t, time.Since(began), 5*time.Minute)
		if _, err := os.Stat(path); err == nil && loadFile(t, path, d).Steps >= 60 { // whole at any time
			break
		}
	}
	require.NoError(t, child.Process.Signal(sig))
	if err := child.Wait(); sig == os.Kill {
		require.ErrorContains(t, err, "killed")
	} else {
		require.NoError(t, err, "it ends by itself")
	}
}

// loadFile is the fit that is saved in a file.
func loadFile(t *testing.T, path string, d *graph.Density) *Posterior {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	p, err := Load(f, d)
	require.NoError(t, err)
	return p
}

// A sampler that was stopped, or killed, goes on from the draws of the last temperature that it had come to: without a scout, and to the right posterior.
func TestSamplerGoesOn(t *testing.T) {
	const n = 70
	d := effects(t, n)
	mean, _, _, evidence := effectsExact(n)
	for name, method := range map[string]Method{"the sampler": Sampler{}, "by default": nil} {
		if !long.On() && method == nil {
			continue
		}
		path := filepath.Join(t.TempDir(), "fit.json")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			for ctx.Err() == nil {
				if info, err := os.Stat(path); err == nil && info.Size() > 100_000 { // it has draws
					cancel()
				}
				time.Sleep(time.Millisecond)
			}
		}()
		stopped, err := Fit(ctx, d, Settings{Seed: *seed, Method: method, Checkpoint: path})
		require.ErrorIs(t, err, context.Canceled, name)
		file, err := os.Open(path)
		require.NoError(t, err, name)
		killed, err := Load(file, d)
		require.NoError(t, errors.Join(err, file.Close()), name)
		require.NotEmpty(t, killed.reached, name)
		require.Equal(t, stopped.reached, killed.reached, name)
		var last Estimate
		for _, p := range []*Posterior{killed, stopped} {
			if p == stopped && !long.On() {
				break
			}
			done, err := p.Resume(context.Background())
			require.NoError(t, err, name)
			require.Equal(t, TrustFit, done.findings.Verdict.Trust, name)
			require.True(t, math.IsNaN(done.findings.Scout.Value), "%s began again, with a scout", name)
			tau, err := done.Mean("tau")
			require.NoError(t, err, name)
			require.InDelta(t, mean, tau.Value, 5*tau.SE, name)
			log, err := done.LogEvidence()
			require.NoError(t, err, name)
			require.InDelta(t, evidence, log.Value, 5*log.SE, name)
			if p == stopped {
				require.Equal(t, last, tau, name)
			}
			last = tau
		}
	}
}

// Draws of another number of latents, and those that are no numbers, are not gone on from.
func TestReachedNowhere(t *testing.T) {
	d := effects(t, 3)
	for want, z := range map[string][]float64{"3 numbers of draws of 4 latents": {1, 2, 3}, "draws that are not finite": {1, 2, 3, math.NaN()}} {
		p := newJob(d, Settings{Seed: 1}).begun(d)
		p.reached = [][]float64{z}
		var file bytes.Buffer
		require.NoError(t, p.Save(&file))
		_, err := Load(&file, d)
		require.ErrorContains(t, err, want)
	}
}
