package graph_test

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// A guard on each value of a discrete latent is made far down in the package, and has the
// place of the program's line all the same.
func TestPlacesOfDeepCalls(t *testing.T) {
	m := graph.NewModel()
	k, rate := m.Sample("k", graph.Poisson(3)), m.Sample("rate", graph.Normal(5, 2))
	_, _, first, _ := runtime.Caller(0)
	one := graph.If(graph.Greater(rate, k), 1, 0)
	other := graph.If(graph.Greater(rate, graph.Add(0.5, k)), 1, 0)
	m.Factor(one)
	m.Factor(other)
	d := mustCompile(t, m)
	places := map[string]int{}
	for _, g := range d.Guards() {
		places[g.Place()]++
	}
	at := func(line int) int { return places["place_test.go:"+strconv.Itoa(line)] }
	require.Greater(t, at(first+1), 15, places)
	require.Greater(t, at(first+2), 15, places)
	require.NotContains(t, places, "unknown place")
}

// A thousand calls deep, too, there is a place.
func TestPlaceOfVeryDeepCalls(t *testing.T) {
	long.Skip(t)
	m := graph.NewModel()
	k, x := m.Sample("k", graph.Geometric(0.02)), m.Sample("x", graph.Normal(50, 30))
	_, _, before, _ := runtime.Caller(0)
	graph.Greater(k, x)
	require.ErrorContains(t, m.Err(), "place_test.go:"+strconv.Itoa(before+1)+": ")
}
