package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi"
)

// build builds the program.
func build(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manyfits")
	out, err := exec.Command("go", "build", "-o", file, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return file
}

// size is how many bytes a folder has.
func size(t *testing.T, folder string) (n int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && e.Type().IsRegular() {
			if info, gone := e.Info(); gone == nil {
				n += info.Size()
			}
		}
		return err
	}))
	return n
}

// lines are n series, and what vi.FitAll says of them.
func lines(t *testing.T, n int) (text, want []string) {
	t.Helper()
	d, err := program()
	require.NoError(t, err)
	rng, data := rand.New(rand.NewPCG(3, 1)), map[string][]float64{}
	for k := range n {
		x := Series{fmt.Sprintf("s%03d", k), d.Replicate(nil, d.PriorDraw(nil, rng), rng)}
		line, err := json.Marshal(x)
		require.NoError(t, err)
		text, data[x.Key] = append(text, string(line)), x.Y
	}
	for x := range vi.FitAll(t.Context(), d, func(yield func(string, map[string][]float64) bool) {
		for key, y := range data {
			if !yield(key, map[string][]float64{"y": y}) {
				return
			}
		}
	}, vi.Settings{Seed: 1, Method: vi.Cells{Quick: true}}) {
		require.NoError(t, x.Err)
		moments, err := x.Fit.Moments()
		require.NoError(t, err)
		line, err := json.Marshal(moments)
		require.NoError(t, err)
		want = append(want, fmt.Sprintf("%q %s", x.Key, line))
	}
	slices.Sort(want)
	return text, want
}

// The fits are those of vi.FitAll, bit for bit, also where the program was killed in the middle and went on with what it had kept. What
// cannot be fitted is named.
func TestManyFits(t *testing.T) {
	command, folder := build(t), t.TempDir()
	text, want := lines(t, 600)
	text = append(text, `{"Key": "short", "Y": [1, 2]}`, `{"Key": "none"`)
	in, keep, page := filepath.Join(folder, "series.jsonl"), filepath.Join(folder, "kept"), filepath.Join(folder, "fits.html")
	require.NoError(t, os.WriteFile(in, []byte(strings.Join(text, "\n")+"\n"), 0o666))
	run := func(args ...string) {
		out, err := exec.CommandContext(t.Context(), command, append(args, "-in", in, "-out", folder, "-html", page)...).CombinedOutput()
		require.NoError(t, err, string(out))
		file, err := os.ReadFile(filepath.Join(folder, "fits.jsonl"))
		require.NoError(t, err)
		var got, keys []string
		for line := range strings.Lines(string(file)) {
			var fit struct{ Key, Moments json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(line), &fit))
			got = append(got, fmt.Sprintf("%s %s", fit.Key, fit.Moments))
			keys = append(keys, strings.Trim(string(fit.Key), `"`))
		}
		html, err := os.ReadFile(page)
		require.NoError(t, err)
		var rows []string
		for _, row := range regexp.MustCompile(`<tr><td class="t">(.*?)</td><td class="t">trust</td>(<td>-?\d+(\.\d+)?</td>){7}</tr>`).FindAllStringSubmatch(string(html), -1) {
			rows = append(rows, row[1])
		}
		require.Equal(t, keys, rows)
		slices.Sort(got)
		require.Equal(t, want, got)
		failures, err := os.ReadFile(filepath.Join(folder, "failures.txt"))
		require.NoError(t, err)
		require.Regexp(t, `(?m)^short: .*2`, string(failures))
		require.Regexp(t, `(?m)^\{"Key": "none": unexpected end of JSON input: `, string(failures))
	}
	run()
	killed := exec.Command(command, "-in", in, "-out", folder, "-keep", keep)
	require.NoError(t, killed.Start())
	const some = 50_000
	require.Eventually(t, func() bool { return size(t, keep) > some }, time.Minute, time.Millisecond)
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())
	kept := size(t, keep)
	run("-keep", keep)
	require.Greater(t, size(t, keep), kept)
}
