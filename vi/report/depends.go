package report

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
)

// Kinds of nodes, which are the layers of the drawing but for the last two, which share one.
const (
	latentNode = iota
	guardNode
	observedNode
	expressionNode
)

// A node are latents, guards, observations or expressions of one name.
type node struct {
	kind    int
	name    string // without an index, if they are several
	of      []int  // latents, or surfaces of guards
	count   int
	latents map[int]bool // nodes that it depends on, itself among them if its elements depend on each other
	guards  map[int]bool // those at whose surfaces it jumps or has a kink
}

// A dependence finds out what depends on what, by moving points: what changes with a latent depends on it, and what
// jumps or has a kink at the surface of a guard depends on that.
type dependence struct {
	d      *graph.Density
	nodes  []node
	at     []int // the node of each of values: of the priors of latents, of observations, and of expressions
	points [][]float64
}

const (
	probes  = 4 // elements of a node that are looked at
	nearby  = 1e-5
	evident = 100 // times as large as the curvature beside it is a kink
)

// depends returns the nodes of a program, and looks at it near some points.
func depends(d *graph.Density, points [][]float64) []node {
	x := &dependence{d: d}
	x.latents()
	x.guards()
	x.named(observedNode, d.Observations())
	x.named(expressionNode, d.Deterministics())
	rng := rand.New(rand.NewPCG(1, 0))
	for range len(points) { // where the posterior is not, too
		points = append(points, d.PriorDraw(nil, rng))
	}
	x.points = slices.DeleteFunc(points, func(z []float64) bool { return slices.ContainsFunc(z, isInfinite) })
	for k := range x.nodes {
		for _, i := range spread(x.nodes[k].of, probes) {
			if x.nodes[k].kind == latentNode {
				x.move(k, i)
			} else {
				x.cross(k, i)
			}
		}
	}
	return x.nodes
}

// spread are at most n of list, at equal distances, the first two among them.
func spread(list []int, n int) []int {
	if len(list) <= n {
		return list
	}
	out := slices.Clone(list[:2])
	for k := 1; k <= n-2; k++ {
		out = append(out, list[(len(list)-1)*k/(n-2)])
	}
	return out
}

func (x *dependence) add(kind int, name string) int {
	x.nodes = append(x.nodes, node{kind: kind, name: name, latents: map[int]bool{}, guards: map[int]bool{}})
	return len(x.nodes) - 1
}

func (x *dependence) latents() {
	names := x.d.Latents()
	x.at = make([]int, len(names))
	for _, g := range groups(len(names), func(i int) string { return names[i] }) {
		k := x.add(latentNode, g.name)
		if len(g.of) == 1 {
			x.nodes[k].name = names[g.of[0]]
		}
		x.nodes[k].of, x.nodes[k].count = g.of, len(g.of)
		for _, i := range g.of {
			x.at[i] = k
		}
	}
}

// guards are those that have a name, and the comparisons without one by their place.
func (x *dependence) guards() {
	named := map[int]bool{} // surfaces
	for _, name := range x.d.GuardNames() {
		k := x.add(guardNode, name)
		for _, g := range x.d.Named(name) {
			x.nodes[k].count++
			for _, plane := range g.Planes() {
				named[plane] = true
				if !slices.Contains(x.nodes[k].of, plane) {
					x.nodes[k].of = append(x.nodes[k].of, plane)
				}
			}
		}
	}
	places := map[string]int{}
	for _, g := range x.d.Guards() {
		if named[g.Side.Plane] || x.isOfValues(g.Side.Plane) {
			continue
		}
		k, ok := places[g.Place()]
		if !ok {
			k = x.add(guardNode, g.String())
			places[g.Place()] = k
		}
		if !slices.Contains(x.nodes[k].of, g.Side.Plane) {
			x.nodes[k].of = append(x.nodes[k].of, g.Side.Plane)
			x.nodes[k].count++
		}
		if x.nodes[k].count > 1 {
			x.nodes[k].name = g.Place()
		}
	}
	for k := range x.nodes {
		if x.nodes[k].kind == guardNode {
			for _, plane := range x.nodes[k].of {
				for _, i := range x.d.Arrangement().Latents(plane) {
					x.nodes[k].latents[x.at[i]] = true
				}
			}
		}
	}
}

// isOfValues reports whether a surface is between two values of a discrete latent.
func (x *dependence) isOfValues(plane int) bool {
	of := x.d.Arrangement().Latents(plane)
	if len(of) != 1 {
		return false
	}
	values, _ := x.d.Values(of[0])
	return values != nil
}

func (x *dependence) named(kind int, names []string) {
	at := map[string]int{}
	for _, name := range names {
		k, ok := at[name]
		if !ok {
			k = x.add(kind, name)
			at[name] = k
		}
		x.nodes[k].count++
		x.at = append(x.at, k)
	}
}

// values are the log densities of latents and observations at z, one by one, and the expressions.
func (x *dependence) values(z []float64) []float64 {
	return slices.Concat(x.d.LogPriors(nil, z), x.d.LogLikelihoods(nil, z), x.d.DeterministicAt(nil, z))
}

// move finds what depends on latent i, of node k.
func (x *dependence) move(k, i int) {
	for _, z := range x.points {
		moved := slices.Clone(z)
		moved[i] += nearby * max(1, math.Abs(z[i]))
		if _, cuts := x.d.Values(i); len(cuts) > 0 { // another value
			if moved[i] = cuts[0] - 1; z[i] <= cuts[0] {
				moved[i] = cuts[0] + nearby
			}
		}
		before, after := x.values(z), x.values(moved)
		for e, to := range x.at {
			if e != i && before[e] != after[e] && !(math.IsNaN(before[e]) && math.IsNaN(after[e])) {
				x.nodes[to].latents[k] = true
			}
		}
	}
}

// cross finds what jumps or has a kink at a surface, of node k.
func (x *dependence) cross(k, plane int) {
	for _, z := range x.points {
		z, normal := x.onto(z, plane)
		if z == nil {
			continue
		}
		step := nearby
		for i, v := range normal {
			if v != 0 {
				step = max(step, nearby*math.Abs(z[i]))
			}
		}
		var f [7][]float64 // at steps to both sides
		for j := range f {
			moved := slices.Clone(z)
			floats.AddScaled(moved, float64(j-3)*step, normal)
			f[j] = x.values(moved)
		}
		for e, to := range x.at {
			bend := func(j int) float64 { return math.Abs(f[j-1][e] - 2*f[j][e] + f[j+1][e]) }
			least := evident*(bend(1)+bend(5)) + 1e-11*(1+math.Abs(f[3][e]))
			entered := math.IsNaN(f[1][e]) != math.IsNaN(f[5][e]) // a branch
			if entered || bend(3) > least {
				x.nodes[to].guards[k] = true
			}
		}
	}
}

// onto is the point of a surface near z, and the unit normal there; nil if there is none.
func (x *dependence) onto(z []float64, plane int) (at, normal []float64) {
	a := x.d.Arrangement()
	at, normal = slices.Clone(z), make([]float64, len(z))
	for range 30 { // Newton's steps; one for a hyperplane
		h := a.Tangent(plane, at)
		size, value := floats.Norm(h.Coef, 2), a.At(plane, at)
		clear(normal)
		for n, i := range h.Index {
			normal[i] = h.Coef[n] / size
			at[i] -= value / size * normal[i]
		}
	}
	if math.Abs(a.At(plane, at)) < 1e-9 && !slices.ContainsFunc(at, isInfinite) {
		return at, normal
	}
	return nil, nil
}
