package answer

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

func fit(t *testing.T) *vi.Posterior {
	t.Helper()
	m := graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	y := m.Sample("y", graph.Normal(0, 1))
	m.Observe("x", graph.Normal(graph.Add(graph.Mul(0.1, y), graph.If(graph.Greater(z, 1), 2, graph.If(graph.Less(z, -1), -2, 5))), 1), 0)
	density, err := m.Compile()
	require.NoError(t, err)
	p, err := vi.Fit(context.Background(), density, vi.Settings{Seed: 1})
	require.NoError(t, err)
	return p
}

func TestAnswer(t *testing.T) {
	p := fit(t)
	var out bytes.Buffer
	require.NoError(t, Verdict(&out, p))
	assert.True(t, strings.HasPrefix(out.String(), "Verdict: trust"), out.String())
	assert.Contains(t, out.String(), "\n  because the weights of ")

	out.Reset()
	Cells(&out, p, 1)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 3, out.String())
	assert.Regexp(t, `^z [<>] -?1 +0\.(49|50)\d  █+$`, lines[1])
	assert.Regexp(t, `^\d more +0\.[45]\d\d$`, lines[2])

	d, err := Draws(p, 100, 1)
	require.NoError(t, err)
	assert.Len(t, d["z"], 100)
}

func TestBar(t *testing.T) {
	assert.Equal(t, "██████", Bar(0.1))
	assert.Empty(t, Bar(0.001))
}
