//go:build long

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
	slow     bool   // runs with -tags long
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

var fits = map[string]*fitted{} // by model and seed

// fitOf fits a model, once for all tests.
func fitOf(t testing.TB, p problem, seed uint64) *fitted {
	t.Helper()
	key := fmt.Sprint(p.name, seed)
	if fits[key] == nil {
		fit, err := p.fit(context.Background(), seed)
		require.NoError(t, err)
		fits[key] = fit
	}
	return fits[key]
}

// One fit of each model is reported in both forms.
func TestReport(t *testing.T) {
	require.Len(t, contract, len(problems()))
	for _, c := range contract {
		t.Run(c.model, func(t *testing.T) {
			p, err := problemOf(c.model)
			require.NoError(t, err)
			fit := fitOf(t, p, 1)
			var out bytes.Buffer
			require.NoError(t, write(&out, p, 1, fit))
			lines := strings.Split(out.String(), "\n")
			assert.Regexp(t, "^"+c.model+`, seed 1: after \d+\.\d\d CPU seconds$`, lines[0])
			assert.Regexp(t, "^Verdict: (trust|do not trust)$", lines[2])
			for _, want := range []string{
				"\nlog evidence  " + c.evidence + ", exactly\n", "\n  ELBO ", "\ncell ", "\nguard ", "\nlatent ",
				c.latent, "\nThe largest error is ",
			} {
				assert.Contains(t, out.String(), want)
			}
			assert.NotContains(t, out.String(), "NaN")
			out.Reset()
			require.NoError(t, writeJSON(&out, p, fit))
			checkJSON(t, p, c.guards, out.String())
		})
	}
}

// checkJSON checks that the keys are these and no others, and guards and latents complete.
func checkJSON(t *testing.T, p problem, guards int, out string) {
	t.Helper()
	require.Equal(t, 1, strings.Count(out, "\n"), "one line")
	var keys map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(out), &keys))
	assert.ElementsMatch(t, []string{
		"model", "seconds", "cells", "elbo", "elbo_se", "log_evidence", "log_evidence_se", "verdict", "guards", "latents",
	}, slices.Collect(maps.Keys(keys)))

	var o object
	strict := json.NewDecoder(strings.NewReader(out))
	strict.DisallowUnknownFields()
	require.NoError(t, strict.Decode(&o))
	assert.Equal(t, p.name, o.Model)
	assert.Greater(t, o.Seconds, 0.0)
	assert.GreaterOrEqual(t, o.Cells, 1)
	assert.Contains(t, []string{"trust", "do not trust"}, o.Verdict)
	assert.Len(t, o.Guards, guards)
	for _, g := range o.Guards {
		assert.True(t, g >= 0 && g <= 1, "%v", g)
	}
	density, err := p.model().Compile()
	require.NoError(t, err)
	require.Len(t, o.Latents, density.Dim())
	for _, name := range density.Latents() {
		require.Contains(t, o.Latents, name)
		assert.Greater(t, float64(o.Latents[name].SD), 0.0, name)
	}
}

// The seed fixes all but the time.
func TestSeed(t *testing.T) {
	of := func(seed string) (o object) {
		require.NoError(t, json.Unmarshal([]byte(call(t, "-model", "proposition", "-seed", seed, "-json")), &o))
		o.Seconds = 0
		return o
	}
	assert.Equal(t, of("1"), of("1"))
	assert.NotEqual(t, of("1"), of("2"))
}

func TestInterrupt(t *testing.T) { clitest.Stopped(t, run) }

func TestBadFlags(t *testing.T) {
	clitest.WrongFlags(t, "posterior", run, []string{"-model", "weather"})
}
