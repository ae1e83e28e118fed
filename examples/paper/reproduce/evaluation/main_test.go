//go:build long

package evaluation

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models"
)

var update = flag.Bool("update", false, "rewrite testdata")

// The driver, small: every file is there and holds what it should.
func TestEveryFile(t *testing.T) {
	dir := t.TempDir()
	const steps = 110
	out, errOut := reproduce(t, dir, "-steps", fmt.Sprint(steps), "-json")
	require.Equal(t, 72, strings.Count(errOut, "\n"), "a line a run")

	var s summary
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&s))
	require.Len(t, s.Table1, 24)
	require.Len(t, s.Guards, 6)
	require.Len(t, s.Table2, 12)
	require.Len(t, s.Final, 72)
	require.Len(t, s.Claims, 6)
	for _, r := range s.Table2 {
		require.Positive(t, r.Millis)
	}
	t.Run("elbo.csv", func(t *testing.T) { checkELBO(t, dir, steps) })
	t.Run("variance.csv", func(t *testing.T) { checkVariance(t, dir, steps, s.Table1) })
	t.Run("same_theta.csv", func(t *testing.T) {
		require.Len(t, rows(t, dir, "same_theta.csv"), 6*4*3)
	})
	t.Run("figure1.png", func(t *testing.T) {
		img, err := png.Decode(strings.NewReader(read(t, dir, "figure1.png")))
		require.NoError(t, err)
		require.Greater(t, img.Bounds().Dx(), 1200)
		require.Greater(t, img.Bounds().Dy(), 600)
	})
	t.Run("figure1.svg", func(t *testing.T) { checkSVG(t, read(t, dir, "figure1.svg")) })
	t.Run("report.html", func(t *testing.T) { checkHTML(t, read(t, dir, "report.html")) })
	t.Run("structure", func(t *testing.T) { checkStructure(t, dir) })
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 8, "nothing else is there")
}

// checkELBO checks that each run has its evaluations, that they begin at the
// golden ELBO, and that Monte Carlo agrees with the closed form at the start.
func checkELBO(t *testing.T, dir string, steps int) {
	want := []string{"0", "100", fmt.Sprint(steps)}
	at := map[string][]string{}
	for _, r := range rows(t, dir, "elbo.csv") {
		at[r.key()] = append(at[r.key()], r["iteration"])
		if r["iteration"] == "0" {
			golden, err := models.LoadGolden(r["model"])
			require.NoError(t, err)
			require.InEpsilon(t, golden.Exact.ELBO, r.number(t, "elbo_exact"), 1e-10)
			require.InDelta(t, golden.Exact.ELBO, r.number(t, "elbo"), 5*r.number(t, "elbo_se"))
			require.Less(t, r.number(t, "elbo_se"), 0.05*math.Abs(golden.Exact.ELBO), "inconclusive")
		}
	}
	require.Len(t, at, 72)
	for key, iterations := range at {
		require.Equal(t, want, iterations, key)
	}
}

// checkVariance checks that each run at N = 1 has every iteration, and Table 1
// against averages that are taken here.
func checkVariance(t *testing.T, dir string, steps int, table []varianceRow) {
	sums, n := map[string]float64{}, map[string]int{}
	for _, r := range rows(t, dir, "variance.csv") {
		require.Equal(t, fmt.Sprint(n[r.key()]), r["iteration"])
		n[r.key()]++
		sums[r.key()] += r.number(t, "avg_var")
	}
	require.Len(t, n, 24)
	for key, count := range n {
		require.Equal(t, steps, count, key)
	}
	for _, r := range table {
		key := fmt.Sprintf("%s-%v-N1-", r.Model, r.StepSize)
		require.InEpsilon(t, sums[key+r.Estimator]/sums[key+"score"], float64(r.Own.Avg), 1e-9)
	}
}

func checkSVG(t *testing.T, svg string) {
	dec := xml.NewDecoder(strings.NewReader(svg))
	elements := map[string]int{}
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Local]++
		}
	}
	require.Equal(t, 1, elements["svg"])
	require.Greater(t, elements["path"], 72)
	for _, text := range []string{"temperature, step size 0.001", "influenza, step size 0.01", "facet (all guards)", "N = 16", "optimum"} {
		require.Contains(t, svg, text)
	}
}

// checkHTML checks that the page needs nothing but itself.
func checkHTML(t *testing.T, html string) {
	for _, outside := range []string{"src=", "href=", "url(", "@import", "<script", "<link", "<?xml"} {
		require.NotContains(t, html, outside)
	}
	start, end := strings.Index(html, "<svg"), strings.Index(html, "</svg>")
	require.Greater(t, end, start)
	checkSVG(t, html[start:end+len("</svg>")])
	for _, s := range []string{"4.45e-9", "251.4", "prefers-color-scheme: dark", "GOMAXPROCS", "These runs have 110 iterations"} {
		require.Contains(t, html, s)
	}
	require.NotContains(t, html, "ZgotmplZ")
	require.NotContains(t, html, "NaN")
}

// checkStructure compares the headings, tables and lists of both reports with
// testdata: everything but numbers, and the cases of claims, which depend on them.
func checkStructure(t *testing.T, dir string) {
	var b strings.Builder
	for line := range strings.Lines(read(t, dir, "report.md")) {
		if cells := strings.Count(line, "|"); cells > 0 {
			fmt.Fprintf(&b, "row of %d\n", cells-1)
		} else if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "!") {
			b.WriteString(line)
		}
	}
	tag := regexp.MustCompile(`<(/?(?:h1|h2|table|thead|figure|svg|tr)\b)[^>]*>(?:([^<]+)</h)?`)
	for _, m := range tag.FindAllStringSubmatch(read(t, dir, "report.html"), -1) {
		fmt.Fprintf(&b, "%s %s\n", m[1], m[2])
	}
	golden := filepath.Join("testdata", "report.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	require.Equal(t, read(t, golden), b.String())
}

// Bad flags give one line and exit code 2, before anything is made.
func TestBadFlags(t *testing.T) {
	parent := t.TempDir()
	file := filepath.Join(parent, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	dir := filepath.Join(parent, "results")
	for _, c := range []struct{ flag, value, want string }{
		{"-models", "weather", `-models weather: "weather" is not one of temperature, textmsg, influenza`},
		{"-models", "", `-models : "" is not one of temperature, textmsg, influenza`},
		{"-models", "textmsg,textmsg", "-models textmsg,textmsg: textmsg is there twice"},
		{"-estimators", "score,best", `-estimators score,best: "best" is not one of score, reparam, ours, facet`},
		{"-samples", "0", `-samples 0: "0" is not a whole number from 1 to 100000`},
		{"-samples", "1,x", `-samples 1,x: "x" is not a whole number from 1 to 100000`},
		{"-samples", "99999999999", `-samples 99999999999: "99999999999" is not a whole number from 1 to 100000`},
		{"-stepsizes", "-1", `-stepsizes -1: "-1" is not a positive number`},
		{"-stepsizes", "0.01,0", `-stepsizes 0.01,0: "0" is not a positive number`},
		{"-stepsizes", "NaN", `-stepsizes NaN: "NaN" is not a positive number`},
		{"-stepsizes", "Inf", `-stepsizes Inf: "Inf" is not a positive number`},
		{"-stepsizes", "0.01,1e-2", "-stepsizes 0.01,1e-2: 0.01 is there twice"},
		{"-steps", "0", "-steps 0: must be at least 1"},
		{"-steps", "many", `invalid value "many" for flag -steps: parse error`},
		{"-seed", "-1", `invalid value "-1" for flag -seed: parse error`},
		{"-out", "", "-out: no directory"},
		{"-out", file, "-out " + file + ": mkdir " + file + ": not a directory"},
		{"-out", filepath.Join(file, "x"), "-out " + filepath.Join(file, "x") + ": mkdir " + file + ": not a directory"},
		{"-speed", "1", "flag provided but not defined: -speed"},
		{"-seed", "1 more", ""},
	} {
		args := append([]string{"-out", dir, c.flag}, strings.SplitN(c.value, " ", 2)...)
		if c.want == "" {
			c.want = `unexpected argument "more"`
		}
		var out, errOut bytes.Buffer
		require.Equal(t, exitUsage, run(context.Background(), args, &out, &errOut), "%v", args)
		require.Equal(t, "reproduce: "+c.want+"\n", errOut.String())
		require.Empty(t, out.String())
		require.NoDirExists(t, dir)
	}
}

func TestHelp(t *testing.T) {
	var out, errOut bytes.Buffer
	require.Zero(t, run(context.Background(), []string{"-h"}, &out, &errOut))
	require.Empty(t, errOut.String())
	for _, name := range []string{"-models", "-estimators", "-stepsizes", "-samples", "-steps", "-seed", "-out", "-json"} {
		require.Contains(t, out.String(), "  "+name)
	}
}

// A run whose gradient overflows is a result: it says where, keeps what came
// before, and does not stop the others.
func TestDiverged(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-models", "textmsg", "-estimators", "score,facet", "-stepsizes", "0.01,300", "-samples", "1", "-steps", "110"}
	out, _ := reproduce(t, dir, args...)
	require.Regexp(t, `textmsg +300 +1 +diverged at \d+ \(`, out)
	require.Regexp(t, `textmsg +0.01 +1 +−\d`, out)
	store, err := openStore(dir)
	require.NoError(t, err)
	r, ok := store.load(runSpec{"textmsg", 300, 1, "facet", 110, 1})
	require.True(t, ok)
	require.Contains(t, r.Why, "a scale is 0")
	r, ok = store.load(runSpec{"textmsg", 300, 1, "score", 110, 1})
	require.True(t, ok)
	require.Contains(t, r.Why, "the gradient is not finite for")
	require.Positive(t, r.Diverged)
	require.Equal(t, r.Diverged-1, r.ELBO[len(r.ELBO)-1].Iteration)
	require.Len(t, r.Variance, r.Diverged)
	store.close()
	checkSVGOf(t, dir)

	_, errOut := reproduce(t, dir, args...)
	require.Equal(t, "4 of 4 runs are there already\n", errOut, "a diverged run is not repeated")
}

// Step sizes that no run survives leave a report as well.
func TestWildStepSizes(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-models", "textmsg", "-stepsizes", "1e5,1e300", "-samples", "1,2", "-steps", "110"}
	out, _ := reproduce(t, dir, args...)
	require.Contains(t, out, "diverged at 1 (")
	require.NotContains(t, out, "NaN")
	checkSVGOf(t, dir)
	_, errOut := reproduce(t, dir, args...)
	require.Equal(t, "16 of 16 runs are there already\n", errOut)
}

func checkSVGOf(t *testing.T, dir string) {
	require.NoError(t, xml.Unmarshal([]byte(read(t, dir, "figure1.svg")), new(struct{})))
}

// Without Score, without N = 1, for one model, or with one iteration, what
// cannot be said is left out.
func TestSmallPlans(t *testing.T) {
	for _, args := range [][]string{
		{"-estimators", "facet", "-steps", "1", "-samples", "1", "-stepsizes", "0.01"},
		{"-models", "textmsg", "-estimators", "reparam,ours", "-samples", "8", "-stepsizes", "0.1", "-steps", "100"},
		{"-models", "influenza", "-estimators", "ours", "-samples", "1,2,3,4,5", "-stepsizes", "0.5", "-steps", "10"},
	} {
		dir := t.TempDir()
		out, _ := reproduce(t, dir, args...)
		require.NotContains(t, out, "NaN")
		require.NotContains(t, read(t, dir, "report.html"), "NaN")
		require.Contains(t, out, "not tested: Score is unstable")
		checkSVGOf(t, dir)
		out, _ = reproduce(t, dir, append(args, "-json")...)
		require.True(t, json.Valid([]byte(out)))
	}
}
