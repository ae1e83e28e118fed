package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/cli"
	"github.com/facetvi/facet/examples/cli/clitest"
)

func call(t *testing.T, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	require.Zero(t, cli.Call(context.Background(), run, args, &out, &errOut), errOut.String())
	require.Empty(t, errOut.String())
	return out.String()
}

// What a model's report must have: the number of its guards, and the exact answers as they are printed.
var contract = []struct {
	model    string
	guards   int
	evidence string
	latent   string // the first one's exact row
	slow     bool   // too slow under the race detector, for which short mode is
}{
	{"proposition", 1, "-3.6121", "-0.798 ± 0.603", false},
	{"temperature", 20, "-33.1244", "20.000000 ± 0.001000", true},
	{"textmsg", 37, "-291.9623", "3.2234 ± 0.0888", false},
	{"influenza", 12, "-7.0127", "-0.397 ± 0.918", true},
	{"coalmining", 112, "-176.8882", "1890.44 ± 2.45", false},
	{"nile", 200, "-177.9468", "1911.5 ± 25.4", true},
	{"lynx", 112, "-0.7827", "3.226 ± 0.151", true},
	{"tobit", 20, "-34.0657", "-2.63 ± 2.04", true},
}

func TestReport(t *testing.T) {
	require.Len(t, contract, len(problems()))
	for _, c := range contract {
		if testing.Short() && c.slow {
			continue
		}
		out := call(t, "-model", c.model, "-steps", "20", "-seed", "3")
		lines := strings.Split(out, "\n")
		assert.Regexp(t, "^"+c.model+`, seed 3: after 20 steps and \d+\.\d\d CPU seconds$`, lines[0])
		assert.Regexp(t, "^Verdict: (trust|trust the reweighted numbers|do not trust)$", lines[2])
		for _, want := range []string{
			"\nlog evidence  " + c.evidence + ", exactly\n", "\n  ELBO ", "\ncell ", "\nguard ", "\nlatent ",
			c.latent, "\nThe largest error is ", fmt.Sprintf(" of %d ", c.guards),
		} {
			if c.guards > 1 || !strings.HasPrefix(want, " of") {
				assert.Contains(t, out, want, c.model)
			}
		}
		assert.NotContains(t, out, "NaN", c.model)
	}
}

// The keys are these and no others, and guards and latents are complete.
func TestJSON(t *testing.T) {
	for _, c := range contract {
		if testing.Short() && c.slow {
			continue
		}
		out := call(t, "-model", c.model, "-steps", "20", "-json")
		require.Equal(t, 1, strings.Count(out, "\n"), "one line")
		var keys map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(out), &keys))
		var names []string
		for name := range keys {
			names = append(names, name)
		}
		assert.ElementsMatch(t, []string{
			"model", "seconds", "cells", "elbo", "elbo_se", "log_evidence", "log_evidence_se", "verdict", "guards", "latents",
		}, names, c.model)

		var o object
		strict := json.NewDecoder(strings.NewReader(out))
		strict.DisallowUnknownFields()
		require.NoError(t, strict.Decode(&o), c.model)
		assert.Equal(t, c.model, o.Model)
		assert.Greater(t, o.Seconds, 0.0)
		assert.GreaterOrEqual(t, o.Cells, 1)
		assert.Contains(t, []string{"trust", "trust the reweighted numbers", "do not trust"}, o.Verdict)
		assert.Len(t, o.Guards, c.guards, c.model)
		for _, g := range o.Guards {
			assert.True(t, g >= 0 && g <= 1, "%s: %v", c.model, g)
		}
		p, err := problemOf(c.model)
		require.NoError(t, err)
		density, err := p.model().Compile()
		require.NoError(t, err)
		require.Len(t, o.Latents, density.Dim(), c.model)
		for _, name := range density.Latents() {
			require.Contains(t, o.Latents, name)
			assert.Greater(t, float64(o.Latents[name].SD), 0.0, "%s: %s", c.model, name)
		}
	}
}

// The seed fixes all but the time.
func TestSeed(t *testing.T) {
	of := func(seed string) (o object) {
		require.NoError(t, json.Unmarshal([]byte(call(t, "-model", "proposition", "-steps", "50", "-seed", seed, "-json")), &o))
		o.Seconds = 0
		return o
	}
	assert.Equal(t, of("1"), of("1"))
	assert.NotEqual(t, of("1"), of("2"))
}

func TestInterrupt(t *testing.T) { clitest.Interrupted(t, run, "after 0 steps") }

func TestBadFlags(t *testing.T) {
	clitest.WrongFlags(t, "posterior", run, []string{"-model", "weather"})
}
