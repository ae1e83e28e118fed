package family

import (
	"encoding/json"
	"math"
	"slices"
)

// edges are the parents and the children of each latent. Edge e, one coefficient
// of B, goes from parent[e] to the latent i with from[i] ≤ e < from[i+1].
type edges struct {
	from, parent []int32
	latent       []int32 // by edge

	// The same by parent, from the last to the first, as adjoints are passed on.
	childFrom []int32 // see children
	childOf   []int32 // the parent
	child     []int32
	childEdge []int32

	unit []float64 // of the edges to a latent, over its scale: correlationUnit/√parents
}

// correlationUnit is the unit of a correlation against that of a mean. Steps that
// suit means would be too long: correlations act together, on samples far out.
const correlationUnit = 1.0 / 3

func newEdges(parents [][]int) *edges {
	n := len(parents)
	g := &edges{from: make([]int32, n+1), childFrom: make([]int32, n+1)}
	for i, list := range parents {
		for _, j := range list {
			g.parent, g.latent = append(g.parent, int32(j)), append(g.latent, int32(i))
			g.childFrom[j]++
		}
		g.from[i+1] = int32(len(g.parent))
		g.unit = append(g.unit, correlationUnit/math.Sqrt(float64(len(list))))
	}
	next := make([]int32, n)
	for j := n - 1; j >= 0; j-- {
		next[j] = g.childFrom[j+1]
		g.childFrom[j] += next[j]
	}
	g.childOf, g.child, g.childEdge = make([]int32, len(g.parent)), make([]int32, len(g.parent)), make([]int32, len(g.parent))
	for e, j := range g.parent {
		g.childOf[next[j]], g.child[next[j]], g.childEdge[next[j]] = j, g.latent[e], int32(e)
		next[j]++
	}
	return g
}

// children are where those of the latents from i to j are in childOf, child and childEdge:
// from a to z − 1.
func (g *edges) children(i, j int) (a, z int32) { return g.childFrom[j+1], g.childFrom[i] }

// equal reports whether g and o have the same parents.
func (g *edges) equal(o *edges) bool {
	return g == o || g != nil && o != nil && slices.Equal(g.from, o.from) && slices.Equal(g.parent, o.parent)
}

// parents are those of latent i.
func (g *edges) parents(i int) []int32 { return g.parent[g.from[i]:g.from[i+1]] }

// root reports whether latent i has no parents.
func (g *edges) root(i int) bool { return g.from[i] == g.from[i+1] }

// descends reports whether latent i is j or below it.
func (g *edges) descends(i, j int) bool {
	if i <= j {
		return i == j
	}
	seen := map[int32]bool{}
	var up func(i int32) bool
	up = func(i int32) bool {
		if int(i) <= j || seen[i] {
			return int(i) == j
		}
		seen[i] = true
		return slices.ContainsFunc(g.parents(int(i)), up)
	}
	return up(int32(i))
}

// text are the parents in JSON.
func (g *edges) text() string {
	all := make([][]int32, len(g.from)-1)
	for i := range all {
		all[i] = append([]int32{}, g.parents(i)...) // [], not null
	}
	return asJSON(all)
}

// asJSON is x, which can always be encoded.
func asJSON(x any) string {
	text, err := json.Marshal(x)
	if err != nil {
		panic("family: " + err.Error())
	}
	return string(text)
}
