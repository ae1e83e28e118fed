package programs

import (
	"fmt"
	"math/rand/v2"

	"pgregory.net/rapid"
)

// Limits say which programs are drawn. The zero value is any.
type Limits struct {
	// Most is how many latents and parameters there are at most; 0 for 6.
	Most int
	// Depth is how deep blocks are in blocks at most; 0 for 2.
	Depth int
	// Affine programs have guards that are affine in their latents only, and no others.
	Affine bool
	// Require has some programs require conditions at their end.
	Require bool
	// NoParams and NoPlates leave them out.
	NoParams, NoPlates bool
	// Laws are those of priors and observations; nil for a few. Those that are made of others, as truncated
	// ones, come along but for NoCombined.
	Laws       []Law
	NoCombined bool
}

// generator draws a program.
type generator struct {
	Limits
	t   *rapid.T
	rng *rand.Rand
	p   *Program
	scope
	collected []vector // by plates whose outer one is still open
	names     int
	nested    int // open comparisons
	// noPoles keeps quotients whose denominator may be 0 out of what is compared, if
	// that is also a value: its limit on one side of a guard at the pole is not its value there.
	noPoles bool
}

// scope is what a block can use.
type scope struct {
	defined []defined
	vectors []vector
	made    []guard // comparisons
	rows    []int   // of the open plates
}

// A defined is a variable in scope.
type defined struct {
	id    int
	space Space
	kind  kind
	last  int // of a discrete one
}

type kind int

const (
	parameter kind = iota
	latent
	discrete
	computed
)

// A vector is what a plate has collected.
type vector struct {
	id, n int
	of    defined
}

func (g *generator) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "n") }

// number is in general position, or, if it need not be, one that simplifies expressions.
func (g *generator) number() float64 { return 0.9 * g.rng.NormFloat64() }

func (g *generator) positive() float64 { return 0.2 + g.rng.ExpFloat64() }

// coefficient may also be one that simplifies expressions.
func (g *generator) coefficient() float64 {
	if k := g.pick(7); k < 4 {
		return []float64{1, -1, 2, -0.5}[k]
	}
	return g.number()
}

func (g *generator) name(of string) string {
	g.names++
	return fmt.Sprint(of, g.names)
}

func (g *generator) define(space Space, k kind) int {
	g.p.vars++
	g.defined = append(g.defined, defined{id: g.p.vars - 1, space: space, kind: k})
	return g.p.vars - 1
}

// count is the number of rows of the plates to a depth.
func (g *generator) count(deep int) int {
	n := 1
	for _, k := range g.rows[:deep+1] {
		n *= k
	}
	return n
}

func (g *generator) size() int { return g.count(len(g.rows) - 1) }

// column are numbers, one for each row of the open plates.
func (g *generator) column(deep int, draw func() float64) []float64 {
	xs := make([]float64, g.count(deep))
	for i := range xs {
		xs[i] = draw()
	}
	return xs
}

// discreteLatent is one with values up to most, if there is one.
func (g *generator) discreteLatent(most int) (x expr, ok bool) {
	for _, d := range g.defined {
		if d.kind == discrete && d.last <= most && (!ok || g.pick(2) == 0) {
			x, ok = expr{op: "var", i: d.id}, true
		}
	}
	return x, ok
}

// data is a column of one of the open plates.
func (g *generator) data(draw func() float64) expr {
	deep := g.pick(len(g.rows))
	return expr{op: "column", deep: deep, xs: g.column(deep, draw)}
}

// indexed is one of what a plate has collected, of those that suit.
func (g *generator) indexed(suits func(d defined) bool) (x expr, ok bool) {
	var list []vector
	for _, v := range g.vectors {
		if suits(v.of) {
			list = append(list, v)
		}
	}
	if len(list) == 0 || len(g.rows) == 0 {
		return x, false
	}
	v := list[g.pick(len(list))]
	x = expr{op: "index", i: v.id, deep: g.pick(len(g.rows))}
	for range g.count(x.deep) {
		x.at = append(x.at, g.pick(v.n))
	}
	return x, true
}
