package vi

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/sumout"
	"github.com/facetvi/facet/vi/mixture"
)

// twoCells is a model whose posterior has a cell for each side of a guard, and in one
// of them correlated latents.
func twoCells(t testing.TB) *graph.Density {
	m := graph.NewModel()
	x, y := m.Sample("x", graph.Normal(0, 1)), m.Sample("y", graph.Normal(0, 1))
	up := m.Name("up", graph.Greater(x, 0.5))
	for _, o := range []float64{1.1, 0.9, 1.3} {
		m.Observe("o", graph.Normal(graph.If(up, graph.Add(x, y), graph.Add(y, 0.2)), 0.5), o)
	}
	return mustCompile(t, m)
}

// fittedCells is its fit.
func fittedCells(t testing.TB, s Settings) *Posterior {
	t.Helper()
	p, err := Fit(context.Background(), twoCells(t), s)
	require.NoError(t, err)
	require.Greater(t, len(p.Cells()), 1)
	return p
}

// requireSameCells compares all of two fits of cells, to the last bit: what is saved of
// them, and the densities and moments of what is not saved.
func requireSameCells(t testing.TB, want, got *Posterior) {
	t.Helper()
	text := func(p *Posterior) string {
		var file bytes.Buffer
		require.NoError(t, p.Save(&file))
		return file.String()
	}
	require.Equal(t, text(want), text(got))
	require.Equal(t, want.Cells(), got.Cells())
	require.Equal(t, want.Warnings, got.Warnings)
	require.Equal(t, want.Q.Theta(), got.Q.Theta())
	for _, z := range drawsOf(t, want, 100, 1).Values {
		require.Equal(t, want.Q.LogProb(z), got.Q.LogProb(z))
	}
	require.Equal(t, drawsOf(t, want, 10, 2).Values, drawsOf(t, got, 10, 2).Values)
	for i := range want.Q.Dim() {
		require.Equal(t, want.Q.SD(i), got.Q.SD(i))
	}
	v, err := want.Verdict()
	require.NoError(t, err)
	w, err := got.Verdict()
	require.NoError(t, err)
	require.Equal(t, v, w)
}

// A fit of cells that is saved and loaded is the same, and done.
func TestSaveCells(t *testing.T) {
	s := Settings{Seed: *seed, Method: Cells{Most: 5}}
	want := fittedCells(t, s)
	d := want.Density
	loaded := reloaded(t, want, d)
	require.Equal(t, want.Settings, loaded.Settings)
	require.Equal(t, 5, loaded.Settings.Method.(Cells).Most)
	requireSameCells(t, want, loaded)
	require.Equal(t, want.Summary(), loaded.Summary())
	done, err := loaded.Resume(context.Background())
	require.NoError(t, err)
	require.Same(t, loaded, done)
}

// Cells whose switches are summed out are saved too.
func TestSaveSummed(t *testing.T) {
	long.Skip(t)
	m := graph.NewModel()
	x, w := m.Sample("x", graph.Normal(0, 1)), m.Sample("w", graph.Uniform(0, 3))
	for k := range 3 {
		m.Observe("o", graph.Normal(graph.If(graph.Greater(w, float64(k)+0.5), x, 0.3), 1), float64(k))
	}
	d := mustCompile(t, m)
	q, err := sumout.Family{Rest: family.Sequence{Parents: "[[],[]]"}, Latents: "[1]"}.New(d)
	require.NoError(t, err)
	q.Place([]float64{0.4, 0}, []float64{0.7, 1})
	normals := mixture.New([]float64{0, 0.5}, []family.Q{q.(*sumout.Q).Q, mixture.Widened(q.(*sumout.Q).Q, 2)})
	several, err := sumout.Family{Latents: "[1]"}.Over(d, normals)
	require.NoError(t, err)
	p := &Posterior{Density: d, Q: mixture.New([]float64{0, -1}, []family.Q{q, several})}
	got := reloaded(t, p, d)
	for _, z := range drawsOf(t, p, 20, 1).Values {
		u, err := d.Coordinate(1).Inverse(z[1])
		require.NoError(t, err)
		require.Equal(t, p.Q.LogProb([]float64{z[0], u}), got.Q.LogProb([]float64{z[0], u}))
	}
	require.Equal(t, drawsOf(t, p, 20, 2).Values, drawsOf(t, got, 20, 2).Values)
	require.Equal(t, p.Q.Mean(1), got.Q.Mean(1))
}

// A fit of cells is fixed by its seed, whatever the number of processors is.
func TestCellsAreReproducible(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	var first *Posterior
	for _, n := range []int{1, 2, 3} {
		old := runtime.GOMAXPROCS(n)
		p, err := Fit(context.Background(), d, Settings{Seed: *seed})
		runtime.GOMAXPROCS(old)
		require.NoError(t, err)
		if first == nil {
			first = p
		}
		requireSameCells(t, first, p)
	}
	require.Greater(t, len(first.Cells()), 10)
}

// A search that is interrupted says so, and its checkpoint and its fit begin again to
// the same end.
func TestResumeCells(t *testing.T) {
	want := fittedCells(t, Settings{Seed: *seed})
	for _, after := range []string{"", "scouting", "searching"} {
		path := filepath.Join(t.TempDir(), "fit.json")
		ctx, cancel := context.WithCancel(context.Background())
		s := Settings{Seed: *seed, Checkpoint: path, Logger: slog.New(slog.NewTextHandler(logWriter(func(line string) {
			if after == "scouting" && strings.Contains(line, "vi: independent search") {
				cancel()
			}
		}), nil))}
		if after == "" {
			cancel()
		}
		if after == "searching" {
			s.Progress = logWriter(func(string) { cancel() })
		}
		p, err := Fit(ctx, want.Density, s)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "vi: stopped while looking for cells: ")
		got, err := reloaded(t, p, want.Density).Resume(context.Background())
		require.NoError(t, err)
		requireSameCells(t, want, got)

		text, err := os.ReadFile(path)
		require.NoError(t, err)
		kept, err := Load(bytes.NewReader(text), want.Density)
		require.NoError(t, err)
		kept.Settings.Checkpoint = path
		got, err = kept.Resume(context.Background())
		require.NoError(t, err)
		got.Settings.Checkpoint = ""
		requireSameCells(t, want, got)
		text, err = os.ReadFile(path)
		require.NoError(t, err)
		kept, err = Load(bytes.NewReader(text), want.Density)
		require.NoError(t, err)
		requireSameCells(t, want, kept)
		cancel()
	}
	_, err := Fit(context.Background(), want.Density, Settings{Checkpoint: t.TempDir()})
	require.ErrorContains(t, err, "vi: checkpoint: ")
}

// logWriter calls itself with what is written.
type logWriter func(line string)

func (w logWriter) Write(b []byte) (int, error) { w(string(b)); return len(b), nil }

// What no fit of cells can be is an error of Load, and never a fit.
func TestLoadCellsErrors(t *testing.T) {
	p := fittedCells(t, Settings{Seed: *seed})
	var file bytes.Buffer
	require.NoError(t, p.Save(&file))
	const weights, parts = `{"Name":"cells","Fields":{}},"Theta":[`, `"Parts":[`
	for want, change := range map[string][2]string{
		"2 cells with 3 weights":              {weights, weights + "1,"},
		"3 cells with 2 weights":              {parts, parts + `{"Family":{"Name":"mean field","Fields":{}},"Theta":[0,1,0,1]},`},
		"0 cells with 2 weights":              {parts, `"Was":[`},
		"parameter π of cell 0 is NaN":        {weights, weights + `"NaN",1],"Was":[`},
		"cell 0: no family":                   {parts, parts + `{},{}],"Was":[`},
		"cell 0: 0 cells":                     {parts, parts + `{"Family":{"Name":"cells","Fields":{}}},{}],"Was":[`},
		"cell 0: 0 parameters for":            {parts, parts + `{"Family":{"Name":"mean field","Fields":{}}},{}],"Was":[`},
		"parents of 1 latents for 2":          {parts, parts + `{"Family":{"Name":"sequential","Fields":{"Parents":"[[]]"}}},{}],"Was":[`},
		"descriptions of 3 cells for 2":       {`"Found":{"Cells":[`, `"Found":{"Cells":[{},`},
		"moments of 0 latents for 2":          {`"Moments":[`, `"Moments":[],"Was":[`},
		"moments of 3 latents for 2":          {`"Moments":[`, `"Moments":[{},`},
		`the verdict is "perhaps"`:            {`"Verdict":{"Trust":"`, `"Verdict":{"Trust":"perhaps","Was":"`},
		"2 cells of -1 that were tried":       {`"Tried":`, `"Tried":-1,"Was":`},
		"parts of NaN and 0 of the posterior": {`"Left":`, `"Left":"NaN","Was":`},
		"descriptions of 2 cells for 1":       {`"Q":{`, `"Q":{"Family":{"Name":"mean field","Fields":{}},"Theta":[1,1,1,1]},"Was":{`},
		"restart 0: 0 cells with 0 weights":   {`"States":null`, `"States":[{"Start":{"Family":{"Name":"cells","Fields":{}}}}]`},
		"Cells.Most = -2 must be positive":    {`"Most":0`, `"Most":-2`},
	} {
		q, err := Load(strings.NewReader(edited(t, file.String(), change[0], change[1])), p.Density)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "vi: loading a fit: ")
		require.Nil(t, q)
	}
	lost := edited(t, file.String(), `"Found"`, `"Lost"`) // the search is not there: it begins again
	q, err := Load(strings.NewReader(lost), p.Density)
	require.NoError(t, err)
	q, err = q.Resume(context.Background())
	require.NoError(t, err)
	requireSameCells(t, p, q)
}

// Numbers of cells that make no sense are errors.
func TestCellsSettings(t *testing.T) {
	d := twoCells(t)
	for want, s := range map[string]Settings{
		"Cells.Most = -1 must":        {Method: Cells{Most: -1}},
		"Cells.Tolerance = -0.1 must": {Method: Cells{Tolerance: -0.1}},
	} {
		p, err := Fit(context.Background(), d, s)
		require.ErrorContains(t, err, "vi: "+want)
		require.Nil(t, p)
	}
}

// The log hears of the scout, of the search, of the verdict, and of warnings.
func TestCellsLog(t *testing.T) {
	var log bytes.Buffer
	p := fittedCells(t, Settings{Seed: *seed, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, line := range []string{`level=INFO msg="vi: independent search" "log evidence"=-`, `level=INFO msg="vi: cells" tried=`, `level=INFO msg="vi: verdict" trust=trust`} {
		require.Contains(t, log.String(), line)
	}
	m := newMonitor(newJob(p.Density, p.Settings))
	m.report(&Posterior{Warnings: []string{"do not trust"}})
	require.Contains(t, log.String(), `level=WARN msg="vi: do not trust"`)
}

// A fit of one family is one cell. What is expensive is found once, also if it is asked
// for from several goroutines, and anew for another Q.
func TestOneCell(t *testing.T) {
	d := twoCells(t)
	p, err := Fit(context.Background(), d, Settings{Seed: *seed, Method: Climb{Family: family.MeanField{}, Steps: 300}})
	require.NoError(t, err)
	summaries := make([]string, 4)
	var wg sync.WaitGroup
	for k := range summaries {
		wg.Go(func() {
			p.Cells()
			summaries[k] = p.Summary().String()
		})
	}
	wg.Wait()
	for _, s := range summaries {
		require.Equal(t, summaries[0], s)
	}
	list := p.Cells()
	require.Len(t, list, 1)
	require.Equal(t, "everywhere", list[0].Where)
	require.Equal(t, 1.0, list[0].Weight)
	evidence, err := p.LogEvidence()
	require.NoError(t, err)
	require.Equal(t, evidence, list[0].LogEvidence)
	require.Less(t, list[0].ELBO.Value, evidence.Value)
	elbo, err := p.ELBO(10000, 7)
	require.NoError(t, err)
	require.Less(t, abs(elbo.Value-list[0].ELBO.Value), 5*(elbo.SE+list[0].ELBO.SE))
	other := *p
	other.Q = PriorStart(d)
	require.NotEqual(t, list[0].ELBO, other.Cells()[0].ELBO)
	require.Equal(t, list, p.Cells())
}

func abs(x float64) float64 { return max(x, -x) }
