package vi

import (
	"bytes"
	"context"
	"encoding/json"
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
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/boundary"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/sealed"
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
			s.Family, s.Seed, s.StartDraws = family.MeanField{}, *seed, 50
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
	s := Settings{Family: family.MeanField{}, Seed: *seed, StartDraws: 50, Steps: 40, Average: 0.5}
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
	s := Settings{Family: family.MeanField{}, Seed: *seed, StartDraws: 50, TraceEvery: 10, Steps: 90}
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
	p.Settings.StepSize, p.Settings.Family = 0.03, family.FullRank{}
	_, err = p.Resume(context.Background())
	require.ErrorContains(t, err, "vi: Settings.Family: a fit of mean field cannot go on in full rank")
	p.Settings.Family = nil
	got, err = p.Resume(context.Background())
	require.NoError(t, err)
	requireSameFit(t, want, got)
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
	p, err := Fit(context.Background(), d, Settings{Family: family.MeanField{}, Steps: 10, StartDraws: 10})
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
		`latent 0 is "x", here it is "z"`:         small(t, "z", 1, 0, 2, 3),
		"1 latents, here are 2":                   mustCompile(t, more),
		"guards are 2 different ones, here are 1": small(t, "x", 1, 0, 1, 3),
		"3 observations, here are 2":              small(t, "x", 1, 0, 2, 2),
		"expressions or guards differ (fingerp":   small(t, "x", 1.5, 0, 2, 3),
		"expressions or guards differ":            small(t, "x", 1, 0.1, 2, 3),
		"of other observations":                   other,
	} {
		p, err := Load(bytes.NewReader(file.Bytes()), d)
		require.ErrorContains(t, err, want)
		require.Nil(t, p)
	}

	text := file.String()
	for want, bad := range map[string]string{
		"cut off":          text[:len(text)/2],
		"another format":   `{"Format":"facet fit 2","Model":{"Latents":["x"]}}` + "\n",
		"damaged":          strings.Replace(text, format, "facet fit 99", 1),
		"follows its end":  text + "\n",
		"its first line":   "ceci n'est pas un fit",
		"a nil density":    text,
		`no estimator "h`:  edited(t, text, `{"Name":"boundary","Boundary":{}}`, `{"Name":"hunch"}`),
		"parameters for 2": edited(t, text, `"Theta":[`, `"Theta":[1,`),
	} {
		on := d
		if bad == text {
			on = nil
		}
		p, err := Load(strings.NewReader(bad), on)
		require.ErrorContains(t, err, want)
		require.Nil(t, p)
	}
	_, err = Load(nil, d)
	require.ErrorContains(t, err, "vi: loading a fit: a nil reader")
	require.ErrorContains(t, p.Save(nil), "vi: saving the fit: a nil writer")
}

// edited is a saved fit with a change, everywhere, and the digest of that.
func edited(t testing.TB, text, old, replacement string) string {
	t.Helper()
	_, body, _ := strings.Cut(text, "\n")
	changed := strings.ReplaceAll(body, old, replacement)
	require.NotEqual(t, body, changed, old)
	var file strings.Builder
	require.NoError(t, sealed.Write(&file, format, json.RawMessage(changed)))
	return file.String()
}

// stateEdited edits the one state of a saved fit.
func stateEdited(t testing.TB, text string, edit func(state map[string]any)) string {
	t.Helper()
	_, body, _ := strings.Cut(text, "\n")
	var fit map[string]any
	in := json.NewDecoder(strings.NewReader(body))
	in.UseNumber()
	require.NoError(t, in.Decode(&fit))
	edit(fit["States"].([]any)[0].(map[string]any))
	var file strings.Builder
	require.NoError(t, sealed.Write(&file, format, fit))
	return file.String()
}

// Every number of a saved fit is checked, also where the digest is right: a state
// that no fit can have is an error of Load, and not a fit that goes wrong later.
func TestLoadChecksEveryNumber(t *testing.T) {
	d := small(t, "x", 1, 0, 2, 3)
	p, err := Fit(context.Background(), d, Settings{Family: family.MeanField{}, Steps: 60, StartDraws: 10, Stop: Automatic, Tolerance: 1e-9})
	require.NoError(t, err)
	var file strings.Builder
	require.NoError(t, p.Save(&file))
	same := stateEdited(t, file.String(), func(map[string]any) {})
	q, err := Load(strings.NewReader(same), d)
	require.NoError(t, err)
	requireSameFit(t, p, q)

	tail := func(state map[string]any) map[string]any { return state["Tail"].(map[string]any) }
	window := func(state map[string]any) map[string]any { return state["Window"].(map[string]any) }
	adam := func(state map[string]any) map[string]any { return state["Adam"].(map[string]any) }
	for want, edit := range map[string]func(state map[string]any){
		"an average of -1 iterates":        func(s map[string]any) { tail(s)["N"] = -1 },
		"an average of 1000000000000 iter": func(s map[string]any) { tail(s)["N"] = 1000000000000 },
		"an average of 1 parameters":       func(s map[string]any) { tail(s)["Sum"] = []float64{1} },
		"an average of 0 parameters for 2": func(s map[string]any) { tail(s)["Sum"] = nil },
		"an average that is not finite":    func(s map[string]any) { tail(s)["Sum"] = []any{"NaN", 1} },
		"-3 steps":                         func(s map[string]any) { s["Step"] = -3 },
		"the step size is -0.03":           func(s map[string]any) { s["Base"] = -0.03 },
		"it took -1ns":                     func(s map[string]any) { s["Elapsed"] = -1 },
		"a window ends at step 7":          func(s map[string]any) { window(s)["End"] = 7 },
		"done without an average":          func(s map[string]any) { s["Done"], window(s)["Last"] = true, nil },
		"a trace with step":                func(s map[string]any) { s["Trace"].([]any)[0].(map[string]any)["Step"] = 61 },
		"0 random streams for 1 blocks":    func(s map[string]any) { s["Streams"] = nil },
		"random stream 0":                  func(s map[string]any) { s["Streams"] = []string{"AAAA"} },
		"Optimizer.T = -1":                 func(s map[string]any) { adam(s)["T"] = -1 },
		"Optimizer.Beta1 = 1":              func(s map[string]any) { adam(s)["Beta1"] = 1 },
		"running means":                    func(s map[string]any) { adam(s)["V"] = []float64{-1, 1} },
		"parameters for 2":                 func(s map[string]any) { s["Theta"] = []float64{1} },
		"it holds latents [7] of 1":        func(s map[string]any) { s["Held"] = []int{7} },
		"parameter 1 is 0":                 func(s map[string]any) { s["Theta"] = []float64{1, 0} },
		"a fit of family softplus": func(s map[string]any) {
			s["Start"].(map[string]any)["Family"].(map[string]any)["Name"] = "softplus mean field"
		},
	} {
		p, err := Load(strings.NewReader(stateEdited(t, file.String(), edit)), d)
		require.ErrorContains(t, err, "vi: loading a fit: restart 0: ")
		require.ErrorContains(t, err, want)
		require.Nil(t, p)
	}
	q, err = Load(strings.NewReader(edited(t, file.String(), `"Restarts":1`, `"Restarts":0`)), d)
	require.NoError(t, err)
	requireSameFit(t, p, q) // 0 is 1, as in any Settings
	for want, change := range map[string][2]string{
		"Settings.Samples = -16":   {`"Samples":16`, `"Samples":-16`},
		"Settings.Restarts = -1":   {`"Restarts":1`, `"Restarts":-1`},
		"Settings.Tolerance = -1":  {`"Tolerance":1e-9`, `"Tolerance":-1`},
		"Settings.Budget = -1ns":   {`"Budget":0`, `"Budget":-1`},
		"-60 steps":                {`"Steps":60,"States"`, `"Steps":-60,"States"`},
		"2 fits for 1 restarts":    {`"States":[`, `"States":[{},`},
		"random streams for":       {`"Samples":16`, `"Samples":1000000`},
		"Settings.Stop = \"soon\"": {`"Stop":"automatic"`, `"Stop":"soon"`},
	} {
		p, err := Load(strings.NewReader(edited(t, file.String(), change[0], change[1])), d)
		require.ErrorContains(t, err, want)
		require.Nil(t, p)
	}
}

// A bit that flips is noticed, wherever it is in the file.
func TestLoadNoticesEveryBit(t *testing.T) {
	d := small(t, "x", 1, 0, 1, 1)
	p, err := Fit(context.Background(), d, Settings{Family: family.MeanField{}, Steps: 10, StartDraws: 10})
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, p.Save(&file))
	for i := range file.Len() {
		for bit := range 8 {
			bad := bytes.Clone(file.Bytes())
			bad[i] ^= 1 << bit
			_, err := Load(bytes.NewReader(bad), d)
			require.ErrorIs(t, err, sealed.ErrDamaged, "bit %d of byte %d", bit, i)
		}
	}
}

// Something enormous is refused before it takes memory.
func TestLoadTakesNoMemory(t *testing.T) {
	d := small(t, "x", 1, 0, 1, 1)
	const large = 1 << 30
	head := fmt.Sprintf(`{"Format":%q,"Bytes":%d,"SHA256":"%064d"}`+"\n", format, large, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Load(io.MultiReader(strings.NewReader(head), io.LimitReader(zeros{}, large)), d)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, sealed.ErrTooLarge)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// zeros are without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

// A lossy family or estimator is not what JSON says of it.
type (
	lossyFamily struct {
		family.MeanField
		lost int
	}
	lossyEstimator struct {
		Score
		lost int
	}
)

func (lossyFamily) Name() string    { return "lossy" }
func (lossyEstimator) Name() string { return "lossy" }

// A fit that could not be loaded is not saved.
func TestSaveLossy(t *testing.T) {
	d := small(t, "x", 1, 0, 1, 1)
	for _, s := range []Settings{{Family: lossyFamily{lost: 1}}, {Family: family.MeanField{}, Estimator: lossyEstimator{lost: 1}}} {
		p := &Posterior{Density: d, Q: PriorStart(d), Settings: s}
		require.ErrorContains(t, p.Save(io.Discard), `vi: saving the fit: "lossy" is not what JSON says of it, and cannot be saved: it has fields that JSON loses`)
	}
}

// Raised Restarts add fits, the same as if all had been asked for at once.
func TestResumeWithMoreRestarts(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	for name, s := range map[string]Settings{"found": {}, "given": {Start: PriorStart(d)}} {
		t.Run(name, func(t *testing.T) {
			s.Family, s.Steps, s.StartDraws, s.Seed, s.Restarts = family.MeanField{}, 60, 50, *seed, 4
			want, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			s.Restarts = 2
			p, err := Fit(context.Background(), d, s)
			require.NoError(t, err)
			p = reloaded(t, p, d)
			p.Settings.Restarts = 4
			got, err := p.Resume(context.Background())
			require.NoError(t, err)
			require.Len(t, got.Restarts, 4)
			requireSameFit(t, want, got)

			got.Settings.Restarts = 3
			_, err = got.Resume(context.Background())
			require.ErrorContains(t, err, "vi: Settings.Restarts = 3 is fewer than the 4 fits")
		})
	}
}

// A fit that was to take its steps can go on until it stops by itself.
func TestResumeAutomatically(t *testing.T) {
	_, d := paperSpec(t, "proposition")
	p, err := Fit(context.Background(), d, Settings{Family: family.MeanField{}, Seed: *seed, Steps: 200, StartDraws: 50})
	require.NoError(t, err)
	p.Settings.Stop, p.Settings.Steps = Automatic, 20000
	p, err = p.Resume(context.Background())
	require.NoError(t, err)
	require.Less(t, p.Steps, 20000)
}

// A posterior that no fit made can be saved too, and starts a fit when resumed.
func TestSaveHandMade(t *testing.T) {
	d := small(t, "x", 1, 0, 2, 3)
	p := reloaded(t, &Posterior{Density: d, Q: family.Independent([]float64{1}, []float64{2})}, d)
	require.Equal(t, family.Independent([]float64{1}, []float64{2}), p.Q)
	p.Settings = Settings{Family: family.MeanField{}, Steps: 10, StartDraws: 10}
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
	load := func() *Posterior { return loadFile(t, path, d) }
	s := Settings{Family: family.MeanField{}, Seed: *seed, StartDraws: 50, Steps: 57}
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
	s := Settings{Family: family.MeanField{}, StartDraws: 50, Steps: 100, Restarts: 2, Checkpoint: filepath.Join(dir, "fit.json"), CheckpointEvery: 10}
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
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	d := chain(t)
	for _, f := range allFamilies {
		for name, s := range map[string]Settings{
			"steps":     {Steps: 40, Average: 0.5, Restarts: 2},
			"automatic": {Steps: 200, Stop: Automatic, TraceEvery: 7},
			"a start":   {Steps: 40, Start: inFamily(t, f, d), Estimator: Boundary{Guards: 2, By: boundary.ByWeight}},
		} {
			t.Run(f.Name()+", "+name, func(t *testing.T) {
				s.Family, s.Seed, s.StartDraws, s.Samples = f, *seed, 30, 40
				runtime.GOMAXPROCS(1)
				want, err := Fit(context.Background(), d, s)
				require.NoError(t, err)
				require.Equal(t, f, want.Q.Family())
				requireSameFit(t, want, reloaded(t, want, d))
				require.Equal(t, want.Settings, reloaded(t, want, d).Settings)
				for at, procs := range map[int][2]int{1: {2, 4}, 23: {1, 2}, want.Steps - 1: {4, 1}} {
					s.OnStep = func(step Step) error {
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
				s.OnStep = nil
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

// A saved member of a family that does not suit the model, or that is none, is
// refused.
func TestLoadErrorsOfFamilies(t *testing.T) {
	d := chain(t)
	p, err := Fit(context.Background(), d, Settings{Family: family.LowRank{Rank: 2}, Steps: 10, StartDraws: 10})
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, p.Save(&file))
	text := file.String()
	for want, bad := range map[string]string{
		`unknown family "wide rank"`: edited(t, text, `"low rank"`, `"wide rank"`),
		"LowRank.Rank = 9":           edited(t, text, `{"Rank":2}`, `{"Rank":9}`),
		"16 parameters for 12":       edited(t, text, `{"Rank":2}`, `{"Rank":1}`),
		"16 parameters for 14":       edited(t, text, `"low rank"`, `"full rank"`),
		"latent top: parameter s is": edited(t, text, `"Theta":[`+number(p.Q.Theta()[0])+`,`, `"Theta":[`+number(p.Q.Theta()[0])+`,-`),
		"no family":                  edited(t, text, `"Q":{"Family":{"Name":"low rank","Fields":{"Rank":2}},`, `"Q":{`),
		"cannot unmarshal":           edited(t, text, `{"Rank":2}`, `{"Rank":"two"}`),
	} {
		p, err := Load(strings.NewReader(bad), d)
		require.ErrorContains(t, err, want)
		require.Regexp(t, "^vi: loading a fit: ", err.Error())
		require.Nil(t, p)
	}
}

// number is x as a saved fit has it.
func number(x float64) string {
	text, _ := json.Marshal(x) // never fails
	return string(text)
}

// killedSettings are those of the fit that TestResumeAfterKill kills.
func killedSettings(path string, f family.Family) Settings {
	return Settings{
		Family: f, Seed: *seed, StartDraws: 50, Steps: 400, Samples: 200, Restarts: 2, Average: 0.8,
		Checkpoint: path, CheckpointEvery: 20,
	}
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
		s.OnStep = func(step Step) error { // slower from step 100 on, for who is to stop it may be late
			time.Sleep(time.Duration(1+step.T/100*2) * time.Millisecond)
			return nil
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		_, err = Fit(ctx, d, s)
		require.ErrorIs(t, err, context.Canceled, "the fit ended")
		return
	}
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
