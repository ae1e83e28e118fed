package vi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
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
	data, err = json.Marshal(Estimate{Value: math.NaN(), SE: math.Inf(1)})
	require.NoError(t, err)
	require.JSONEq(t, `{"Mean": "NaN", "SE": "+Inf"}`, string(data))
	var e Estimate
	require.NoError(t, json.Unmarshal(data, &e))
	require.True(t, math.IsNaN(e.Value) && math.IsInf(e.SE, 1))
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
	p, err := Fit(context.Background(), d, Settings{Method: Climb{Family: family.MeanField{}, Steps: 10, StartDraws: 10}})
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
	p, err := Fit(context.Background(), d, Settings{Method: Climb{Family: family.MeanField{}, Steps: 60, StartDraws: 10, Stop: Automatic, Tolerance: 1e-9}})
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
		"Climb.Samples = -16":    {`"Samples":16`, `"Samples":-16`},
		"Climb.Restarts = -1":    {`"Restarts":1`, `"Restarts":-1`},
		"Climb.Tolerance = -1":   {`"Tolerance":1e-9`, `"Tolerance":-1`},
		"Settings.Budget = -1ns": {`"Budget":0`, `"Budget":-1`},
		"-60 steps":              {`"Steps":60,"States"`, `"Steps":-60,"States"`},
		"2 fits for 1 restarts":  {`"States":[`, `"States":[{},`},
		"random streams for":     {`"Samples":16`, `"Samples":1000000`},
		"Climb.Stop = \"soon\"":  {`"Stop":"automatic"`, `"Stop":"soon"`},
	} {
		p, err := Load(strings.NewReader(edited(t, file.String(), change[0], change[1])), d)
		require.ErrorContains(t, err, want)
		require.Nil(t, p)
	}
}

// A bit that flips is noticed, wherever it is in the file.
func TestLoadNoticesEveryBit(t *testing.T) {
	d := small(t, "x", 1, 0, 1, 1)
	p, err := Fit(context.Background(), d, Settings{Method: Climb{Family: family.MeanField{}, Steps: 10, StartDraws: 10}})
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, p.Save(&file))
	for i := 0; i < file.Len(); i += long.Or(7, 1) {
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
	for _, s := range []Settings{{Method: Climb{Family: lossyFamily{lost: 1}}}, {Method: Climb{Family: family.MeanField{}, Estimator: lossyEstimator{lost: 1}}}} {
		p := &Posterior{Density: d, Q: PriorStart(d), Settings: s}
		require.ErrorContains(t, p.Save(io.Discard), `vi: saving the fit: "lossy" is not what JSON says of it, and cannot be saved: it has fields that JSON loses`)
	}
}

// A posterior that no fit made can be saved too, and starts a fit when resumed.
func TestSaveHandMade(t *testing.T) {
	d := small(t, "x", 1, 0, 2, 3)
	p := reloaded(t, &Posterior{Density: d, Q: family.Independent([]float64{1}, []float64{2})}, d)
	require.Equal(t, family.Independent([]float64{1}, []float64{2}), p.Q)
	p.Settings = Settings{Method: Climb{Family: family.MeanField{}, Steps: 10, StartDraws: 10}}
	got, err := p.Resume(context.Background())
	require.NoError(t, err)
	want, err := Fit(context.Background(), d, p.Settings)
	require.NoError(t, err)
	requireSameFit(t, want, got)
}

// A saved member of a family that does not suit the model, or that is none, is
// refused.
func TestLoadErrorsOfFamilies(t *testing.T) {
	d := chain(t)
	p, err := Fit(context.Background(), d, Settings{Method: Climb{Family: family.LowRank{Rank: 2}, Steps: 10, StartDraws: 10}})
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
