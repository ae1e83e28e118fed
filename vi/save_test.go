package vi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// reloaded is p saved and loaded.
func reloaded(t testing.TB, p *Posterior, d *graph.Density) *Posterior {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, p.Save(&file))
	q, err := Load(&file, d)
	require.NoError(t, err)
	return q
}

// saveCases are fits with all that a saved fit has to keep.
func saveCases() map[string]Settings {
	return map[string]Settings{
		"plain":       {Samples: 16, Steps: 60},
		"streams":     {Samples: 700, Steps: 40, Average: 0.5},
		"cosine":      {Steps: 60, Schedule: Schedule{Shape: Cosine, End: 0.01}},
		"polynomial":  {Steps: 60, Schedule: Schedule{Shape: Polynomial, Power: 3}, Optimizer: &Adam{StepSize: 0.02, Beta1: 0.8, Epsilon: 1e-6}},
		"automatic":   {Steps: 1000, Stop: Automatic, TraceEvery: 7},
		"runs out":    {Steps: 120, Stop: Automatic},
		"restarts":    {Steps: 60, Restarts: 3},
		"subsampling": {Estimator: Boundary{Guards: 2, By: boundary.ByWeight}, Steps: 60},
		"elimination": {Estimator: Boundary{Method: family.Elimination}, Steps: 60},
		"reparam":     {Estimator: Reparam{}, Steps: 60},
		"score":       {Estimator: Score{}, Steps: 60},
	}
}

// A fit that is interrupted anywhere, saved, loaded and resumed is to the last
// bit the fit that was not.
func TestResumeIsBitEqual(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	for name, s := range saveCases() {
		t.Run(name, func(t *testing.T) {
			s.Seed, s.Draws = *seed, 50
			want, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			requireSameFit(t, want, reloaded(t, want, d))
			require.Equal(t, want.Settings, reloaded(t, want, d).Settings)
			done, err := reloaded(t, want, d).Resume(context.Background())
			require.NoError(t, err)
			requireSameFit(t, want, done)
			for _, at := range []int{0, 1, 31, want.Steps - 1} {
				ctx, cancel := context.WithCancel(context.Background())
				s.OnStep = func(step Step) error {
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
	_, d := paperSpec(t, "textmsg")
	s := Settings{Seed: *seed, Draws: 50, Steps: 40, Average: 0.5}
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	s.OnStep = func(step Step) error {
		if step.T == 30 {
			return io.EOF
		}
		return nil
	}
	for name, spoil := range map[string]func(s *fitState){
		"nothing":       func(*fitState) {},
		"a stream":      func(s *fitState) { s.Streams[0], _ = mc.Stream(1, 2).MarshalBinary() },
		"an average":    func(s *fitState) { s.Tail.N++ },
		"running mean":  func(s *fitState) { s.Adam.M[0] *= 1 + 1e-6 },
		"running scale": func(s *fitState) { s.Adam.V[0] = 0 },
		"bias":          func(s *fitState) { s.Adam.T = 0 },
		"an iterate":    func(s *fitState) { s.Theta[0] += 1e-12 },
	} {
		p, err := Fit(context.Background(), d, s)
		require.ErrorIs(t, err, io.EOF)
		spoil(&p.states[0])
		p.Settings.OnStep = nil
		p, err = p.Resume(context.Background())
		require.NoError(t, err)
		require.Equal(t, name == "nothing", slices.Equal(want.Q.Theta(), p.Q.Theta()), name)
	}
}

// More steps can be asked for later, and another number of samples cannot.
func TestResumeFurther(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	s := Settings{Seed: *seed, Draws: 50, TraceEvery: 10, Steps: 90}
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	s.Steps = 40
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	p.Settings.Steps = 90
	got, err := p.Resume(context.Background())
	require.NoError(t, err)
	require.Equal(t, 40, p.Steps, "the fit so far is not touched")
	requireSameFit(t, want, got)

	p.Settings.Samples = 4000
	_, err = p.Resume(context.Background())
	require.ErrorContains(t, err, "Settings.Samples = 4000")
	p.Settings.Samples, p.Settings.StepSize = 16, -1
	_, err = p.Resume(context.Background())
	require.ErrorContains(t, err, "Settings.StepSize")
}

// Fits go into JSON with the last bit of every number, and with those that JSON
// does not know.
func TestNumbers(t *testing.T) {
	v := mc.Numbers{0, math.Copysign(0, -1), 1, -1.0 / 3, math.Pi, math.MaxFloat64, 5e-324, 1e21, 1e-7, math.Inf(1), math.Inf(-1)}
	data, err := json.Marshal(v)
	require.NoError(t, err)
	var back mc.Numbers
	require.NoError(t, json.Unmarshal(data, &back))
	require.Len(t, back, len(v))
	for i := range v {
		require.Equal(t, math.Float64bits(v[i]), math.Float64bits(back[i]))
	}
	data, err = json.Marshal(Estimate{Mean: math.NaN(), SE: math.Inf(1)})
	require.NoError(t, err)
	require.JSONEq(t, `{"Mean": "NaN", "SE": "+Inf"}`, string(data))
	var e Estimate
	require.NoError(t, json.Unmarshal(data, &e))
	require.True(t, math.IsNaN(e.Mean) && math.IsInf(e.SE, 1))
	data, err = json.Marshal(Adam{M: []float64{1}, V: []float64{math.Inf(1)}})
	require.NoError(t, err)
	var a Adam
	require.NoError(t, json.Unmarshal(data, &a))
	require.Equal(t, Adam{M: []float64{1}, V: []float64{math.Inf(1)}}, a)
	require.Error(t, json.Unmarshal([]byte(`["many"]`), &back))
}

// small is a model to be told from variants of itself.
func small(t testing.TB, latent string, sd, threshold float64, guards, data int) *graph.Density {
	m := graph.NewModel()
	x := m.Sample(latent, graph.Normal(0, sd))
	for k := range guards {
		m.Factor(graph.If(graph.Greater(x, threshold+float64(k)), 1, 0))
	}
	for range data {
		m.Observe("y", graph.Normal(x, 1), 0.5)
	}
	return mustCompile(t, m)
}

// A fit of another model, or of other data, is refused, and the error says what
// differs.
func TestLoadErrors(t *testing.T) {
	d := small(t, "x", 1, 0, 2, 3)
	p, err := Fit(context.Background(), d, Settings{Steps: 10, Draws: 10})
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, p.Save(&file))
	_, err = Load(bytes.NewReader(file.Bytes()), small(t, "x", 1, 0, 2, 3))
	require.NoError(t, err, "an equal model built again")

	other, err := d.WithData(map[string][]float64{"y": {0.5, 0.5, 0.6}})
	require.NoError(t, err)
	more := graph.NewModel()
	more.Sample("x", graph.Normal(0, 1))
	more.Sample("w", graph.Normal(0, 1))
	for want, d := range map[string]*graph.Density{
		`latent 0 is "x", here it is "z"`:       small(t, "z", 1, 0, 2, 3),
		"1 latents, here are 2":                 mustCompile(t, more),
		"guards are 2 hyperplanes, here are 1":  small(t, "x", 1, 0, 1, 3),
		"3 observations, here are 2":            small(t, "x", 1, 0, 2, 2),
		"expressions or guards differ (fingerp": small(t, "x", 1.5, 0, 2, 3),
		"expressions or guards differ":          small(t, "x", 1, 0.1, 2, 3),
		"of other observations":                 other,
	} {
		p, err := Load(bytes.NewReader(file.Bytes()), d)
		require.ErrorContains(t, err, want)
		require.Nil(t, p)
	}

	text := file.String()
	for want, bad := range map[string]string{
		"unexpected EOF":   text[:len(text)/2],
		"format":           strings.Replace(text, format, "facet fit 99", 1),
		"invalid":          "ceci n'est pas un fit",
		`no estimator "h`:  strings.Replace(text, `{"Name":"boundary","Boundary":{}}`, `{"Name":"hunch"}`, 1),
		"parameters for 2": strings.Replace(text, `"Theta":[`, `"Theta":[1,`, 1),
	} {
		require.NotEqual(t, text, bad, want)
		p, err := Load(strings.NewReader(bad), d)
		require.ErrorContains(t, err, want)
		require.Nil(t, p)
	}
}

// A posterior that no fit made can be saved too, and starts a fit when resumed.
func TestSaveHandMade(t *testing.T) {
	d := small(t, "x", 1, 0, 2, 3)
	p := reloaded(t, &Posterior{Density: d, Q: family.Independent([]float64{1}, []float64{2})}, d)
	require.Equal(t, family.Independent([]float64{1}, []float64{2}), p.Q)
	p.Settings = Settings{Steps: 10, Draws: 10}
	got, err := p.Resume(context.Background())
	require.NoError(t, err)
	want, err := Fit(context.Background(), d, p.Settings)
	require.NoError(t, err)
	requireSameFit(t, want, got)
}

// Checkpoints come every so many steps and at the end, whole, and each is a fit
// to go on from.
func TestCheckpoints(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	dir := t.TempDir()
	path := filepath.Join(dir, "fit.json")
	load := func() *Posterior {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer func() { require.NoError(t, f.Close()) }()
		p, err := Load(f, d)
		require.NoError(t, err)
		return p
	}
	s := Settings{Seed: *seed, Draws: 50, Steps: 57}
	want, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	s.Checkpoint, s.CheckpointEvery = path, 10
	s.OnStep = func(step Step) error {
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

	s.OnStep = func(step Step) error {
		if step.T == 33 {
			return io.EOF
		}
		return nil
	}
	_, err = Fit(context.Background(), d, s)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, 33, load().Steps, "the end is saved, whatever the reason")

	s.Checkpoint, s.OnStep = filepath.Join(dir, "no", "such", "folder"), nil
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
	s := Settings{Draws: 50, Steps: 100, Restarts: 2, Checkpoint: filepath.Join(dir, "fit.json"), CheckpointEvery: 10}
	s.OnStep = func(step Step) error {
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

// killedSettings are those of the fit that TestResumeAfterKill kills.
func killedSettings(path string) Settings {
	return Settings{
		Seed: *seed, Draws: 50, Steps: 400, Samples: 200, Restarts: 2, Average: 0.8,
		Checkpoint: path, CheckpointEvery: 20,
	}
}

// A process that is killed with signal 9 leaves a checkpoint, and the fit that
// is resumed from it is the one that was not interrupted.
func TestResumeAfterKill(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	if path := os.Getenv("FACET_KILLED_FIT"); path != "" { // in the process that is to die
		s := killedSettings(path)
		s.OnStep = func(Step) error { time.Sleep(2 * time.Millisecond); return nil }
		_, err := Fit(context.Background(), d, s)
		t.Fatal("the fit ended:", err)
	}
	want, err := Fit(context.Background(), d, killedSettings(""))
	require.NoError(t, err)

	path := filepath.Join(t.TempDir(), "fit.json")
	child := exec.Command(os.Args[0], "-test.run=^TestResumeAfterKill$", fmt.Sprintf("-seed=%d", *seed))
	child.Env = append(os.Environ(), "FACET_KILLED_FIT="+path)
	require.NoError(t, child.Start())
	var p *Posterior
	require.Eventually(t, func() bool {
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			return false
		}
		require.NoError(t, err)
		defer func() { require.NoError(t, f.Close()) }()
		p, err = Load(f, d) // whole at any time
		require.NoError(t, err)
		return p.Steps >= 60
	}, 20*time.Second, 5*time.Millisecond)
	require.NoError(t, child.Process.Kill())
	require.ErrorContains(t, child.Wait(), "killed")

	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	p, err = Load(f, d)
	require.NoError(t, err)
	t.Logf("killed after step %d", p.Steps)
	require.Less(t, p.Steps, 400)
	got, err := p.Resume(context.Background())
	require.NoError(t, err)
	requireSameFit(t, want, got)
}
