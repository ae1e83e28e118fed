package vi

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// Without a terminal, progress is plain lines: one for the search, one each
// second, and the end.
func TestProgressLines(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	var out bytes.Buffer
	p, err := Fit(context.Background(), d, Settings{Seed: *seed, Progress: &out, Method: Climb{Family: family.MeanField{}, Steps: 300}})
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Equal(t, "looking for a start among 1000 draws", lines[0])
	require.Regexp(t, `^step 300 of 300  \d+ steps/s  ELBO -29\d\.\d+ ± [\d.]+ \([+-][\d.e+-]+ per 1000 steps\)  0s left$`, lines[len(lines)-1])
	require.Less(t, len(lines), 10)
	require.NotContains(t, out.String(), "\r")
	require.NotContains(t, out.String(), "\x1b")
	require.Contains(t, lines[len(lines)-1], p.Trace[len(p.Trace)-1].ELBO.String())

	out.Reset()
	start := PriorStart(d)
	_, err = Fit(context.Background(), d, Settings{Progress: &out, Method: Climb{Start: start, Steps: 300, Restarts: 2, Stop: Automatic}})
	require.NoError(t, err)
	require.Regexp(t, `step 600 of 600 .* 0s left at most\n$`, out.String())

	out.Reset()
	_, err = Fit(context.Background(), d, Settings{Seed: *seed, Progress: &out})
	require.NoError(t, err)
	require.Regexp(t, `^independent search: the data at [\d.e-]+ of their weight\n`, out.String())
}

// Silent unless asked: nothing is written anywhere.
func TestSilent(t *testing.T) {
	_, d := paperSpec(t, "proposition")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	stdout, stderr, logger := os.Stdout, os.Stderr, slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(w, nil)))
	os.Stdout, os.Stderr = w, w
	_, err = Fit(context.Background(), d, Settings{Method: Climb{Family: family.MeanField{}, Steps: 200, Restarts: 2, Stop: Automatic, Tolerance: 1e-9}})
	os.Stdout, os.Stderr = stdout, stderr
	slog.SetDefault(logger)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	var out bytes.Buffer
	_, err = out.ReadFrom(r)
	require.NoError(t, err)
	require.Empty(t, out.String())
}

// The log has the starts, every point of the trace, and each restart's end.
func TestLogger(t *testing.T) {
	_, d := paperSpec(t, "textmsg")
	var out bytes.Buffer
	s := Settings{Logger: slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), Method: Climb{Family: family.MeanField{}, Steps: 40, TraceEvery: 10, Restarts: 2}}
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	count := map[string]int{}
	for line := range strings.Lines(out.String()) {
		var record struct {
			Msg, Level   string
			Step, Steps  int
			Restart      int
			ELBO         any
			Kept         bool
			SE           float64
			Tried, Draws int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		count[record.Msg]++
		switch record.Msg {
		case "vi: starts":
			require.Equal(t, 1000, record.Draws)
			require.Len(t, record.ELBO, record.Tried)
		case "vi: step":
			require.Equal(t, "DEBUG", record.Level)
			require.Zero(t, record.Step%10)
			require.Positive(t, record.SE)
		case "vi: fit":
			require.Equal(t, p.Restarts[record.Restart].Kept, record.Kept)
			require.Equal(t, p.Restarts[record.Restart].ELBO.Value, record.ELBO)
			require.Equal(t, 40, record.Steps)
		}
	}
	require.Equal(t, map[string]int{"vi: starts": 1, "vi: step": 8, "vi: fit": 2}, count)
}

// The trace has a point every so many steps, about a hundred by default, each an
// honest estimate of the ELBO of the average since the point before.
func TestTrace(t *testing.T) {
	spec, d := paperSpec(t, "textmsg")
	start := PriorStart(d)
	exact, sum, n := map[int]float64{}, make([]float64, 2*d.Dim()), 0.0
	s := Settings{Seed: *seed, Method: Climb{Start: start, Steps: 3000, OnStep: func(step Step) error {
		floats.Add(sum, step.Q.Theta())
		n++
		if step.T%30 == 0 {
			floats.Scale(1/n, sum)
			q := step.Q.Clone()
			q.Set(sum)
			clear(sum)
			n = 0
			exact[step.T] = exactELBO(t, spec, d, q)
		}
		return nil
	}}}
	p, err := Fit(context.Background(), d, s)
	require.NoError(t, err)
	require.Len(t, p.Trace, 100)
	var z mc.Moments
	for k, x := range p.Trace {
		require.Equal(t, 30*(k+1), x.Step)
		z.Add((x.ELBO.Value - exact[x.Step]) / x.ELBO.SE)
		if k > 0 {
			require.GreaterOrEqual(t, x.Elapsed, p.Trace[k-1].Elapsed)
		}
	}
	require.InDelta(t, 0, z.Mean, 0.5) // 5 standard errors of 100 independent scores
	require.InDelta(t, 1, math.Sqrt(z.Variance()), 0.5)

	for _, c := range []struct {
		s    Settings
		want []int
	}{
		{Settings{Method: Climb{Steps: 3000, TraceEvery: 700}}, []int{700, 1400, 2100, 2800, 3000}},
		{Settings{Method: Climb{Steps: 50}}, []int{20, 40, 50}},
		{Settings{Method: Climb{Steps: 7, Samples: 1}}, []int{7}},
		{Settings{Method: Climb{Steps: 3, Samples: 1000}}, []int{1, 2, 3}},
	} {
		c.s.climb().Start = start
		p, err := Fit(context.Background(), d, c.s)
		require.NoError(t, err)
		var steps []int
		for _, x := range p.Trace {
			steps = append(steps, x.Step)
		}
		require.Equal(t, c.want, steps)
	}
}
