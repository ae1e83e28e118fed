//go:build long

package main

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/expect/layer"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	rows, err := layer.New(program(), nil, 4, 1)
	require.NoError(t, err)
	page := filepath.Join(t.TempDir(), "answers.html")
	series, answers := run(&out, rows, 1, 2, 3, page)
	require.Len(t, series, 3*length)
	require.Len(t, answers, 3*outputs)
	require.Equal(t, 6, strings.Count(out.String(), "\n"))
	require.Regexp(t, `(?m)^( *\d+\.\d: +\d+\.\d to +\d+\.\d){3}$`, out.String())
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Regexp(t, `<th>change</th><th>rate before</th><th>rate after</th>`, string(html))
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[3:] { // the page has what was printed
		require.Contains(t, string(html), "<td>"+line[:18]+"</td><td>"+line[22:40]+"</td><td>"+line[44:]+"</td>")
	}
}

// The exact mean and standard deviation of the change are those of many draws of the rates.
func TestExact(t *testing.T) {
	counts := []float64{3, 6, 4, 5, 2, 4, 5, 9, 12, 7, 10, 8, 8, 11, 9, 10, 6, 9, 8, 12}
	rng := rand.New(rand.NewPCG(1, 1))
	var sum, first, second float64
	for range 400_000 {
		change, before, after := length*rng.Float64(), rng.ExpFloat64()/rate, rng.ExpFloat64()/rate
		logs := 0.0
		for t, c := range counts {
			mean := after
			if float64(t)+0.5 < change {
				mean = before
			}
			logs += distuv.Poisson{Lambda: mean}.LogProb(c)
		}
		w := math.Exp(logs + 45)
		sum += w
		first += w * change
		second += w * change * change
	}
	mean, sd := exact(counts)
	require.InDelta(t, mean, first/sum, 0.1)
	require.InDelta(t, sd, math.Sqrt(second/sum-first*first/(sum*sum)), 0.1)
}

// A short training is enough to see that the boundary part matters.
func TestTraining(t *testing.T) {
	const steps, count = 500, 40
	series, through := trained(t, true, steps, count, 1)
	_, without := trained(t, false, steps, count, 1)
	_, start := trained(t, true, 0, count, 1)
	answers, err := compare(context.Background(), series, []string{"through", "without", "start"}, [][]float64{through, without, start})
	require.NoError(t, err)
	gap, biased, untrained := answers[1].gap(answers[0]), answers[2].gap(answers[0]), answers[3].gap(answers[0])
	t.Log(gap, biased, untrained, stat.Mean(answers[1].off(answers[0], 0), nil), stat.Mean(answers[2].off(answers[0], 0), nil))
	require.Less(t, gap, 0.3)
	require.Less(t, gap, 0.5*untrained)
	require.Greater(t, biased, 10.0)
	require.Less(t, stat.Mean(answers[1].off(answers[0], 0), nil), 0.5)
	require.Greater(t, stat.Mean(answers[2].off(answers[0], 0), nil), 1.0)
}
