// Package programs writes random programs for tests, of all that the language has: guards
// that are affine and curved, on branches, kinks, parameters, plates. A program is a syntax
// tree, which is read in two ways that share no code:
//
//	              ┌─▶ Model ─▶ graph.Density: planes, curves, jumps, a plan
//	rapid ─▶ tree ┤
//	              └─▶ Run: log r and the decisions at one point
//
// The interpreter knows comparisons of numbers alone. RunAs continues the region of one point
// to another, by the decisions that were made there: so it tells log r on either side of
// whatever surface, and Crossings where that is.
package programs

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/facetvi/facet/graph"
)

// RequireRefusal requires of the error of a program that it is one that programs may have: a
// guard that cannot be solved for a latent, or is on parameters alone, or two that rounding sets apart, or a condition that never holds.
func RequireRefusal(t require.TestingT, err error) {
	for _, why := range []string{"cannot be solved for any of its latents", "compares parameters alone", "a condition is required that never holds", "with numbers that differ by rounding"} {
		if strings.Contains(err.Error(), why) {
			return
		}
	}
	require.NoError(t, err)
}

// Compiled draws a program and compiles it, again if the language refuses it, and returns a
// source of numbers that go with it.
func Compiled(t *rapid.T, l Limits) (*Program, *graph.Density, *rand.Rand) {
	for {
		p := Draw(t, l)
		d, err := p.Model().Compile()
		if err != nil {
			RequireRefusal(t, err)
			continue
		}
		t.Logf("%v", p)
		require.Equal(t, p.Dim(), d.Dim())
		require.Equal(t, p.Params(), d.Params())
		return p, d, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "points"), 0))
	}
}

// Check is rapid.Check with n programs.
func Check(t *testing.T, n int, prop func(t *rapid.T)) {
	t.Helper()
	was := flag.Lookup("rapid.checks").Value.String()
	require.NoError(t, flag.Set("rapid.checks", strconv.Itoa(n)))
	defer func() { require.NoError(t, flag.Set("rapid.checks", was)) }()
	rapid.Check(t, prop)
}

// OfChecks is what 100 programs must have shown n times, for as many as rapid tries: fewer with
// testing.Short, too.
func OfChecks(t require.TestingT, n int) int {
	checks, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	require.NoError(t, err)
	if testing.Short() {
		checks /= 5
	}
	return n * checks / 100
}
