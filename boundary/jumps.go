package boundary

import (
	"context"
	"fmt"
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/regions"
)

// Jumps is the batched graph of the jumps of a density: for each [Piece] on which
// log r jumps Δ, the change of log r from the − to the + side of its guard, at points
// on the piece. It is immutable, safe for concurrent use, and the same for all data
// of the model and all families whose samples move alike.
//
// The pieces where log r jumps are numbered from 0: hyperplanes with one coordinate,
// then other hyperplanes, then pieces of curves, those of one curve together. Pieces
// lists them.
type Jumps struct {
	prog    *graph.Program
	arr     *regions.Arrangement
	pieces  []Piece
	latents [][]int // whose values on the piece are wanted, by piece
	points  []pointRow
	signs   []signRow
}

// A Piece is what samples are moved onto: the hyperplane of a guard, or of a guard
// that is not affine the points that differ from a sample in one latent alone. A curve
// has a piece for each latent that Φ = 0 can be solved for, and each of its roots.
type Piece struct {
	Plane              int            // number in the arrangement
	regions.Hyperplane                // if Curve is nil
	Curve              *regions.Curve // Φ, if that is not affine
	Pivot, Root        int            // of a curve: the latent that moves, by its position in Curve.Latents, and the number of the root
}

// Latent is the latent that moves onto a piece of a curve.
func (p Piece) Latent() int { return p.Curve.Latents()[p.Pivot] }

// A pointRow is the coordinate at of the latents that are wanted on a piece.
type pointRow struct{ piece, at int }

// A signRow is the sign of plane other of the arrangement at the point on a piece.
type signRow struct {
	piece, other int
	// edges are those of the curve of other that the piece's plane makes, and beside the latent along which its sign is
	// asked for.
	edges  []regions.Edge
	beside int
	isEdge bool // other makes an edge of the piece's curve
	// with are the rows whose signs are factors of this one's, too, and which inner marks; not is that the sign is negated.
	with       []int
	inner, not bool
}

// A Reach says which latents change when a sample is moved onto a hyperplane.
// Name differs where Moves does. Onto a piece of a curve only its own latent moves.
type Reach struct {
	Name  string
	Moves func(h regions.Hyperplane, latent int) bool
}

// OnPlane moves only the coordinates of the hyperplane: independent latents do not
// follow each other.
var OnPlane = Reach{"the plane's own latents", func(h regions.Hyperplane, latent int) bool {
	return slices.Contains(h.Index, latent)
}}

type cacheKey struct {
	reach string
	value bool
}

// NewJumps compiles the jumps of d for samples that move as reach says. It does
// so once for each model and reach.
func NewJumps(d *graph.Density, reach Reach) (*Jumps, error) {
	return NewJumpsContext(context.Background(), d, reach)
}

// NewValuedJumps is NewJumps whose batches have log r at the samples, too; see Batch.LogProbs.
func NewValuedJumps(d *graph.Density, reach Reach) (*Jumps, error) {
	return newJumps(context.Background(), d, reach, true)
}

// NewJumpsContext is NewJumps, which takes seconds for states that depend on a
// thousand guards, until ctx is done.
func NewJumpsContext(ctx context.Context, d *graph.Density, reach Reach) (*Jumps, error) {
	return newJumps(ctx, d, reach, false)
}

func newJumps(ctx context.Context, d *graph.Density, reach Reach, value bool) (*Jumps, error) {
	j, err := derive.Cached(d.Engine(), cacheKey{reach.Name, value}, func() (*Jumps, error) { return compile(ctx, d, reach, value) })
	if err != nil {
		return nil, fmt.Errorf("boundary: %w", err)
	}
	return j, nil
}

func compile(ctx context.Context, d *graph.Density, reach Reach, value bool) (*Jumps, error) {
	c := compiler{reach: reach, valued: value, arr: d.Arrangement(), v: d.Engine().Builder(), uses: make([]int, d.Dim()), params: d.Params()}
	for l := range c.arr.Len() {
		for _, i := range c.arr.Latents(l) {
			c.uses[i]++
		}
	}
	for l := range c.arr.Len() {
		if d.IsSimulation() && c.arr.Latents(l)[0] >= c.params {
			continue // no parameter moves it
		}
		c.add(l)
	}
	c.wanted = make([][]int, len(c.pieces))
	outs := make([]ir.ID, len(c.pieces))
	for k := range outs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		outs[k] = c.jump(k)
	}
	return c.finish(outs)
}

// A compiler makes Jumps. While it does, there are pieces of all planes, in the order
// of the arrangement.
type compiler struct {
	reach  Reach
	arr    *regions.Arrangement
	v      *derive.Builder
	pieces []Piece
	points []struct{ piece, latent int }
	signs  []signRow
	wanted [][]int // latents, by piece
	uses   []int   // by latent: the planes that use it
	valued bool    // log r at the samples is wanted, too
	params int     // the first so many latents are parameters, which do not move
}

// add adds the pieces of plane l.
func (c *compiler) add(l int) {
	curve := c.arr.Curve(l)
	if curve == nil {
		c.pieces = append(c.pieces, Piece{Plane: l, Hyperplane: c.arr.Plane(l)})
		return
	}
	for _, pivot := range sharing(curve, c.uses, c.params) {
		for root := range curve.Roots(pivot) {
			c.pieces = append(c.pieces, Piece{Plane: l, Curve: curve, Pivot: pivot, Root: root})
		}
	}
}

// moves reports whether latent i changes where a sample is moved onto p.
func (c *compiler) moves(p *Piece, i int) bool {
	if p.Curve != nil {
		return i == p.Latent()
	}
	return c.reach.Moves(p.Hyperplane, i)
}

// jump is Δ at a point on piece k. Latents that do not move keep the values of the
// sample, and so do the signs of planes that use none that move. A plane with one
// coordinate, whose coefficient is 1, fixes that; the others that move are inputs.
func (c *compiler) jump(k int) ir.ID {
	p := &c.pieces[k]
	values, signs := map[int]ir.ID{}, map[int]ir.ID{}
	return c.v.Jump(p.Plane, ir.Substitution{
		Latent: func(i int) (ir.ID, bool) {
			if _, known := values[i]; !known && c.moves(p, i) {
				values[i] = c.value(k, i)
			}
			x, ok := values[i]
			return x, ok
		},
		Sign: func(l int) (ir.ID, bool) {
			if _, known := signs[l]; !known && slices.ContainsFunc(c.arr.Latents(l), func(i int) bool { return c.moves(p, i) }) {
				signs[l] = c.sign(k, l)
			}
			g, ok := signs[l]
			return g, ok
		},
	})
}

// axis reports whether p is a hyperplane with one coordinate.
func (p *Piece) axis() bool { return p.Curve == nil && len(p.Index) == 1 }

// value is latent i, which moves, at the point on piece k.
func (c *compiler) value(k, i int) ir.ID {
	if p := &c.pieces[k]; p.axis() && p.Index[0] == i {
		return c.v.Number(-p.Const)
	}
	c.points = append(c.points, struct{ piece, latent int }{k, i})
	c.wanted[k] = append(c.wanted[k], i)
	return c.v.Point()
}

// sign is the sign of plane l at the point on piece k.
func (c *compiler) sign(k, l int) ir.ID {
	p, o := &c.pieces[k], c.arr.Plane(l)
	if p.axis() && slices.Equal(p.Index, o.Index) {
		return c.v.Always(o.Const-p.Const > 0)
	}
	row := signRow{piece: k, other: l}
	row.beside, row.edges = c.arr.Edges(p.Plane, l)
	if _, edges := c.arr.Edges(l, p.Plane); p.Curve != nil {
		row.isEdge = len(edges) > 0
	}
	c.signs = append(c.signs, row)
	for _, i := range c.arr.Latents(l) {
		if p.Curve == nil && c.arr.Curve(l) == nil || c.moves(p, i) {
			c.wanted[k] = append(c.wanted[k], i)
		}
	}
	return c.v.PointSign()
}

// finish keeps the pieces where log r jumps, and numbers them.
func (c *compiler) finish(outs []ir.ID) (*Jumps, error) {
	j := &Jumps{arr: c.arr}
	number := make([]int, len(outs))
	var jumps []ir.ID
	for _, kind := range []func(p *Piece) bool{
		(*Piece).axis,
		func(p *Piece) bool { return p.Curve == nil && !p.axis() },
		func(p *Piece) bool { return p.Curve != nil },
	} {
		for k, x := range outs {
			if !kind(&c.pieces[k]) {
				continue
			}
			number[k] = -1
			if value, constant := c.v.Store.IsConst(x); !constant || value != 0 {
				number[k] = len(jumps)
				jumps = append(jumps, x)
				j.pieces = append(j.pieces, c.pieces[k])
				slices.Sort(c.wanted[k])
				j.latents = append(j.latents, slices.Compact(c.wanted[k]))
			}
		}
	}
	for _, x := range c.points {
		row := pointRow{piece: number[x.piece]}
		if row.piece >= 0 {
			row.at, _ = slices.BinarySearch(j.latents[row.piece], x.latent)
		}
		j.points = append(j.points, row)
	}
	for _, x := range c.signs {
		x.piece = number[x.piece]
		j.signs = append(j.signs, x)
	}
	for _, list := range c.v.Join(jumps) {
		for k, x := range list {
			if j.signs[x.Number].not = x.Not; k > 0 {
				j.signs[x.Number].inner = true
				j.signs[list[0].Number].with = append(j.signs[list[0].Number].with, x.Number)
			}
		}
	}
	var err error
	if c.valued {
		jumps = append(jumps, c.v.LogProb())
	}
	j.prog, err = c.v.Compile(jumps)
	return j, err
}

// Pieces are those where log r jumps. The caller must not change them.
func (j *Jumps) Pieces() []Piece { return j.pieces }

// Latents are the latents whose values are wanted on each piece, ascending. On a piece
// of a curve none but its own can be.
func (j *Jumps) Latents() [][]int { return j.latents }

// Graph returns the Gorgonia graph of the jumps for n samples, to extend and to run on any machine of Gorgonia's. It has the inputs of
// Batch.Samples: Z and Signs of the samples, Points and PointSigns of where they are moved, and Data. Out has the jumps, a row for each piece,
// and Grad the gradient of log r at the samples.
func (j *Jumps) Graph(n int) (*graph.Graph, error) { return j.prog.Graph(n) }

// Program is that of the jumps, to count its nodes and to draw it (DOT).
func (j *Jumps) Program() *graph.Program { return j.prog }
