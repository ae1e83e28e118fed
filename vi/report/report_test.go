package report

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
)

// changing is a series whose level changes once.
func changing(data []float64) *graph.Model {
	m := graph.NewModel()
	change := m.Sample("change", graph.Uniform(0, float64(len(data))))
	before, after := m.Sample("before", graph.Normal(0, 2)), m.Sample("after", graph.Normal(0, 2))
	for i, y := range data {
		changed := m.Name("changed", graph.Less(change, float64(i)+0.5))
		level := graph.If(changed, after, before)
		m.Observe("reading", graph.Normal(level, 0.5), y)
		m.Deterministic("level", level)
	}
	m.Deterministic("effect", graph.Sub(after, before))
	return m
}

var readings = []float64{0.2, -0.4, 0.1, math.NaN(), 0.3, 2.3, 1.7, 2.2, 1.9, 2.1, 1.8, 2.4, 1.6, 2}

func fitted(t *testing.T, m *graph.Model, s vi.Settings) *vi.Posterior {
	t.Helper()
	d, err := m.Compile()
	require.NoError(t, err)
	fit, err := vi.Fit(context.Background(), d, s)
	require.NoError(t, err)
	return fit
}

// fitToReadings is a fit that some tests share.
func fitToReadings(t *testing.T) *vi.Posterior {
	t.Helper()
	fit, err := sharedFit()
	require.NoError(t, err)
	return fit
}

var sharedFit = sync.OnceValues(func() (*vi.Posterior, error) {
	d, err := changing(readings).Compile()
	if err != nil {
		return nil, err
	}
	return vi.Fit(context.Background(), d, vi.Settings{Seed: 1})
})

// written is the report of a fit, which is well-formed.
func written(t *testing.T, fit *vi.Posterior, o Options) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, fit, o))
	wellFormed(t, b.String())
	return b.String()
}

// wellFormed tests that a page is also XML: every tag is closed, every attribute quoted, all text escaped. It has no ids, which
// could clash, asks for nothing outside, and shows no number that is none.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Entity = xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			for _, a := range start.Attr {
				assert.NotContains(t, []string{"id", "src", "href", "onclick"}, a.Name.Local, start.Name.Local)
			}
		}
		if text, ok := token.(xml.CharData); ok {
			assert.NotContains(t, string(text), "NaN")
			assert.NotContains(t, string(text), "Inf")
		}
	}
}

// has tests whether a text is in a page, which it does not print.
func has(t *testing.T, page, text string, want bool, of ...any) {
	t.Helper()
	assert.Equal(t, want, strings.Contains(page, text), fmt.Sprint(append(of, ": ", text)...))
}

func TestWrite(t *testing.T) {
	fit := fitToReadings(t)
	page := written(t, fit, Options{Title: "A step", About: "When did the level change?"})
	for _, text := range []string{
		"<h1>A step</h1>", "When did the level change?", "Trust these numbers", "1 of them missing", "<td class=\"t\">before</td>",
		"13 of 13 observed lie in the band", "effect", "The probability of changed",
	} {
		has(t, page, text, true)
	}
	assert.Equal(t, page, written(t, fit, Options{Title: "A step", About: "When did the level change?"}), "one fit gives one file")
}

func TestSave(t *testing.T) {
	fit := fitToReadings(t)
	file := filepath.Join(t.TempDir(), "fit.html")
	require.NoError(t, Save(file, fit, Options{}))
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, written(t, fit, Options{}), string(page))
	require.Error(t, Save(filepath.Join(file, "below a file"), fit, Options{}))
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestErrors(t *testing.T) {
	fit := fitToReadings(t)
	require.ErrorContains(t, Write(full{}, fit, Options{}), "report: disk full")
	for _, wrong := range []*vi.Posterior{nil, {}, {Density: fit.Density}} {
		require.ErrorContains(t, Write(io.Discard, wrong, Options{}), "report: no fit")
	}
	for _, name := range []string{"reading", "level", "changed"} {
		require.ErrorContains(t, Write(io.Discard, fit, Options{X: map[string][]float64{name: {1, 2}}}), "report: 2 positions for the 14 ", name)
	}
}

// awkward is a program with names that are markup, vectors, discrete latents, many latents and guards, heavy tails and missing data.
func awkward() *graph.Model {
	m := graph.NewModel()
	x := m.Sample(`<script>alert("x & y")</script>`, graph.Normal(0, 1))
	m.Sample("größe_μ 温度", graph.Cauchy(0, 1))
	die := m.Sample("die", graph.Categorical(1, 1, 2))
	share := m.SampleVector("share", graph.Dirichlet(1, 1, 1))
	many := m.SampleN("many", 20, graph.Normal(x, 1))
	for i := range 60 {
		above := m.Name(`</td>"above`, graph.Greater(x, float64(i)/20-1.5))
		y := float64(i % 3)
		if i%7 == 0 {
			y = math.NaN()
		}
		m.Observe("<b>y", graph.Normal(graph.If(above, die, many[i%20]), 1), y)
	}
	far := graph.Greater(x, 1e6)
	m.If(far, func() { m.Observe("never", graph.Normal(0, 1), 9); m.Deterministic("nowhere", x) }, nil)
	m.Observe("one", graph.Normal(share[0], 1), math.NaN())
	m.Deterministic("x&y", x)
	return m
}

func TestAwkward(t *testing.T) {
	method := long.Or[vi.Method](vi.Climb{Steps: 100}, vi.Cells{Alone: true}) // the latter takes ten times as long
	page := written(t, fitted(t, awkward(), vi.Settings{Seed: 1, Method: method}), Options{Title: "</title><i>", About: "<b>"})
	for _, text := range []string{
		"<title>&lt;/title&gt;&lt;i&gt;</title>", "&lt;script&gt;alert(&#34;x &amp; y&#34;)&lt;/script&gt;", "größe_μ 温度", "many, 20 latents",
		"60 guards with probabilities", "share[2]", "in no draw", "missing",
	} {
		has(t, page, text, true)
	}
	has(t, page, "<script>alert", false)
	has(t, page, "<b>", false)
	assert.Equal(t, 1, strings.Count(page, "<script"))
}

// What a fit cannot say the report says, or leaves out: no verdict to trust, a climb that was stopped, a file of a fit, nothing
// observed, a parameter, a sampler.
func TestOfOtherFits(t *testing.T) {
	long.Skip(t)
	compiled := func(m *graph.Model) *graph.Density {
		d, err := m.Compile()
		require.NoError(t, err)
		return d
	}
	plain := graph.NewModel()
	plain.Sample("alone", graph.Normal(0, 1))
	learned := graph.NewModel()
	noise := learned.Param("noise", 1, graph.Positive())
	level := learned.Sample("level", graph.Normal(0, 3))
	for _, y := range readings[:3] {
		learned.Observe("y", graph.Normal(level, noise), y)
	}
	stopped, err := vi.Fit(context.Background(), compiled(changing(readings)), vi.Settings{Seed: 1, Method: vi.Climb{OnStep: func(s vi.Step) error {
		if s.T == 200 {
			return errors.New("enough")
		}
		return nil
	}}})
	require.ErrorContains(t, err, "enough")
	ended, end := context.WithCancel(context.Background())
	end()
	unbegun, err := vi.Fit(ended, compiled(changing(readings)), vi.Settings{Seed: 1})
	require.ErrorIs(t, err, context.Canceled)
	var file bytes.Buffer
	require.NoError(t, fitToReadings(t).Save(&file))
	loaded, err := vi.Load(&file, compiled(changing(readings)))
	require.NoError(t, err)
	for _, c := range []struct {
		name  string
		fit   *vi.Posterior
		has   []string
		hasNo []string
	}{
		{"nothing observed", fitted(t, plain, vi.Settings{Seed: 1}), []string{"1 latent", "alone"},
			[]string{"<h2>Guards", "<h2>Predictions", "<h2>What was asked", "<h2>Explanations", "ELBO over"}},
		{"stopped", stopped, []string{"one distribution for all", "<td class=\"t\">steps</td><td class=\"t\">200</td>"}, []string{"<h2>Explanations"}},
		{"not begun", unbegun, []string{"Do not trust these numbers", "What may help"}, []string{"Trust these numbers:"}},
		{"from a file", loaded, []string{"Trust these numbers:", "<h2>Explanations", "<h2>The program"}, nil},
		{"a parameter", fitted(t, learned, vi.Settings{Seed: 1, Method: vi.Climb{Steps: 300}}), []string{"<h2>Parameters", "1 parameter", "The ELBO while"}, nil},
		{"a sampler", fitted(t, changing(readings), vi.Settings{Seed: 1, Method: vi.Sampler{Draws: 200}}), []string{"sequential Monte Carlo", "R-hat"}, []string{"kept of"}},
	} {
		page := written(t, c.fit, Options{})
		for _, text := range c.has {
			has(t, page, text, true, c.name)
		}
		for _, text := range c.hasNo {
			has(t, page, text, false, c.name)
		}
	}
}

// The arrows of a program are what it says: through values, and through guards, also where these make a kink and no jump.
func TestDepends(t *testing.T) {
	m := graph.NewModel()
	a, b := m.Sample("a", graph.Normal(0, 1)), m.Sample("b", graph.Normal(0, 1))
	high := m.Name("high", graph.Greater(a, 0.3))
	c := m.Sample("c", graph.Normal(graph.If(high, 1, 0), 1))
	var x graph.Expr
	for i := range 3 {
		x = m.Sample([]string{"x0", "x1", "x2"}[i], graph.Normal(x, 1))
	}
	bends := graph.Less(b, -0.2)
	m.Observe("y", graph.Normal(graph.Add(c, graph.If(bends, graph.Add(b, 0.2), 0)), 1), 0.5)
	m.Observe("z", graph.Normal(x, 1), 0.5)
	m.Deterministic("sum", graph.Add(a, b))
	d, err := m.Compile()
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	nodes := depends(d, [][]float64{d.PriorDraw(nil, rng), d.PriorDraw(nil, rng)})
	got := map[string]string{}
	for _, n := range nodes {
		var from []string
		for k, other := range nodes {
			if n.latents[k] {
				from = append(from, other.name)
			}
			if n.guards[k] {
				from = append(from, "at "+other.name)
			}
		}
		got[n.name] = strings.Join(from, ", ")
	}
	assert.Equal(t, map[string]string{
		"a": "", "b": "", "c": "at high", "x": "x", "high": "a", "b < -0.2": "b", "y": "b, c, at b < -0.2", "z": "x", "sum": "a, b",
	}, got)
}

// The report of several models has their probabilities, what they predict together, and the fits below, the likeliest unfolded.
func TestWriteModels(t *testing.T) {
	same := graph.NewModel()
	level := same.Sample("level", graph.Normal(0, 2))
	for _, y := range readings {
		same.Observe("reading", graph.Normal(level, 0.5), y)
	}
	var programs []vi.Program
	for name, m := range map[string]*graph.Model{"one <level>": same, "a change": changing(readings)} {
		d, err := m.Compile()
		require.NoError(t, err)
		programs = append(programs, vi.Program{Name: name, Density: d})
	}
	c, err := vi.HowMany(context.Background(), programs, vi.Settings{Seed: 1})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, WriteModels(&b, c, Options{From: 1990}))
	wellFormed(t, b.String())
	for _, text := range []string{
		"The most probable model is “a change”, with probability &gt;0.999.", "<summary>one &lt;level&gt;</summary>", "13 of 13 observed", "The probabilities of the models",
		`<details class="fit" open=""><summary>a change</summary>`, ">1994<",
	} {
		has(t, b.String(), text, true)
	}
	file := filepath.Join(t.TempDir(), "models.html")
	require.NoError(t, SaveModels(file, c, Options{From: 1990}))
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.True(t, b.String() == string(page))
	require.ErrorContains(t, WriteModels(io.Discard, vi.Comparison{}, Options{}), "report: no models")
	require.ErrorContains(t, WriteModels(io.Discard, vi.Comparison{Models: []vi.ModelEvidence{{Name: "gone"}}}, Options{}), "gone: report: no fit")
}

// Names that have many rows are folded, and so are the last ones of many names; none is lost but those beyond mostRows, which are counted.
func TestFold(t *testing.T) {
	names := []string{"x[0]", "alone"}
	for i := range 30 {
		names = append(names, string(rune('a'+i%26))+strings.Repeat("'", i), fmt.Sprintf("many%d", i))
	}
	for i := range mostRows + 5 {
		names = append(names, fmt.Sprintf("more[%d]", i))
	}
	parts := fold(table{Head: []string{"name"}, Text: 1}, groups(len(names), func(i int) string { return names[i] }),
		func(i int) []string { return []string{names[i]} }, func(g group) string { return fmt.Sprint(g.name, len(g.of)) })
	var got []string
	for _, p := range parts {
		got = append(got, fmt.Sprintf("%s: %d rows from %s. %s", p.Summary, len(p.Rows), p.Rows[0][0], p.Note))
	}
	assert.Equal(t, []string{
		": 24 rows from x[0]. ", "8 more: 8 rows from " + parts[1].Rows[0][0] + ". ", "many30: 30 rows from many0. ", "more2005: 2000 rows from more[0]. And 5 more.",
	}, got)
}

// A table is a page of its own, and a row that does not fit its head is an error.
func TestTable(t *testing.T) {
	var b bytes.Buffer
	head, rows := []string{"series", "change", "verdict"}, [][]string{{"a < b", "7", "trust"}, {"c", "", "do not trust"}}
	require.NoError(t, WriteTable(&b, head, rows, 1, Options{About: "Two series."}))
	page := b.String()
	require.NoError(t, xml.Unmarshal([]byte(page), new(any)))
	require.Contains(t, page, "<h1>Posteriors</h1>\n<p class=\"about\">Two series.</p>")
	require.Contains(t, page, `<tr><th class="t">series</th><th>change</th><th>verdict</th></tr>`)
	require.Contains(t, page, `<tr><td class="t">a &lt; b</td><td>7</td><td>trust</td></tr>`)
	require.NotContains(t, page, "<h2>")
	require.EqualError(t, WriteTable(&b, head, [][]string{{"a"}}, 1, Options{}), "report: row 0 has 1 cells for 3 columns")
	require.ErrorContains(t, SaveTable(t.TempDir(), head, rows, 1, Options{}), "is a directory")
}

// Lines of many fits are rows of a page, whether they were written and read or not, and numbers that are not known are said to be so.
func TestLines(t *testing.T) {
	fit := fitToReadings(t)
	x, err := LineOf("a < b", fit)
	require.NoError(t, err)
	var lines, b bytes.Buffer
	require.NoError(t, json.NewEncoder(&lines).Encode(x))
	infinite := math.Inf(1)
	require.NoError(t, json.NewEncoder(&lines).Encode(Line{"heavy", vi.Estimate{Value: -12.345, SE: infinite}, []vi.Moments{
		{Mean: vi.Estimate{Value: 3.14159}, SD: vi.Estimate{Value: 0.02345}},
		{Mean: vi.Estimate{Value: 1}, SD: vi.Estimate{Value: 9, SE: infinite}},
		{Mean: vi.Estimate{Value: 1, SE: infinite}, SD: vi.Estimate{Value: 9, SE: infinite}},
	}, vi.TrustNothing}))
	text, names := lines.String(), fit.Density.Latents()
	require.NoError(t, WriteLines(&b, &lines, names, Options{}))
	page := b.String()
	wellFormed(t, page)
	require.Contains(t, page, `<th class="t">key</th><th class="t">verdict</th><th>change</th><th>sd</th><th>before</th><th>sd</th><th>after</th><th>sd</th><th>log evidence</th>`)
	require.Contains(t, page, `<td class="t">heavy</td><td class="t">do not trust</td><td>3.142</td><td>0.023</td><td>1.000</td><td>–</td><td>–</td><td>–</td><td>not known</td>`)
	change, err1 := fit.Mean("change")
	spread, err2 := fit.SD("change")
	evidence, err3 := fit.LogEvidence()
	err = errors.Join(err1, err2, err3)
	require.NoError(t, err)
	require.Regexp(t, fmt.Sprintf(`<td class="t">a &lt; b</td><td class="t">trust</td><td>%.2f</td><td>%.2f</td>.*<td>%.2f</td></tr>`, change.Value, spread.Value, evidence.Value), page)

	dir := t.TempDir()
	file, in := filepath.Join(dir, "fits.html"), filepath.Join(dir, "fits.jsonl")
	require.NoError(t, os.WriteFile(in, []byte(text), 0o666))
	require.NoError(t, SaveLines(file, in, names, Options{}))
	saved, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, page, string(saved))
	require.ErrorContains(t, SaveLines(file, filepath.Join(dir, "none"), names, Options{}), "report: open ")
	require.EqualError(t, WriteLines(io.Discard, strings.NewReader(text), names[1:], Options{}), "report: line 1: moments of 3 latents for 2 names")
	require.ErrorContains(t, WriteLines(io.Discard, strings.NewReader(text+"{"), names, Options{}), "report: line 3: unexpected EOF")
	_, err = LineOf("none", nil)
	require.ErrorContains(t, err, "report: no fit")
}
