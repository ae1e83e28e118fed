package family

import (
	"math"

	"github.com/facetvi/facet/internal/components"
)

// edges are the parents and the children of each latent. Edge e, one coefficient
// of B, goes from parent[e] to the latent i with from[i] ≤ e < from[i+1].
type edges struct {
	from   []int32
	parent []int32

	childFrom []int32 // the children of j: child[childFrom[j]:childFrom[j+1]]
	child     []int32
	childEdge []int32 // and the edges to them

	unit []float64 // of the edges to a latent, over its scale: correlationUnit/√parents
}

func newEdges(parents [][]int) *edges {
	n := len(parents)
	g := &edges{from: make([]int32, n+1), childFrom: make([]int32, n+1)}
	for i, list := range parents {
		for _, j := range list {
			g.parent = append(g.parent, int32(j))
			g.childFrom[j+1]++
		}
		g.from[i+1] = int32(len(g.parent))
		g.unit = append(g.unit, correlationUnit/math.Sqrt(float64(len(list))))
	}
	for j := range n {
		g.childFrom[j+1] += g.childFrom[j]
	}
	g.child, g.childEdge = make([]int32, len(g.parent)), make([]int32, len(g.parent))
	next := append([]int32(nil), g.childFrom...)
	for i := range n {
		for e := g.from[i]; e < g.from[i+1]; e++ {
			j := g.parent[e]
			g.child[next[j]], g.childEdge[next[j]] = int32(i), e
			next[j]++
		}
	}
	return g
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
		for _, p := range g.parents(int(i)) {
			if up(p) {
				return true
			}
		}
		return false
	}
	return up(int32(i))
}

// groups numbers the connected components, in the order of their first latents.
func (g *edges) groups() []int {
	group := make([]int, len(g.from)-1)
	sets := make([][]int, len(group))
	for i := range sets {
		sets[i] = []int{i}
		for _, j := range g.parents(i) {
			sets[i] = append(sets[i], int(j))
		}
	}
	for k, latents := range components.Of(sets) {
		for _, i := range latents {
			group[i] = k
		}
	}
	return group
}
