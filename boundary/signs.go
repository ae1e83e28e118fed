package boundary

import (
	"slices"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// Where a sample moves onto a plane along one direction, it moves by −Φ(z)·v. So Φ_o of another
// hyperplane with normal a_o becomes Φ_o(z) − Φ(z)·(a_o·v), and the ratio a_o·v is
// the same for all samples: the sign costs the same however many coordinates the
// planes have. The sign of a curve is that of its value at the point.

// values are Φ of hyperplane l at the samples.
func (b *Batch) values(l int) []float64 { return b.rowOf(b.row[l]) }

// rowOf is row r of Φ; nil if there is none.
func (b *Batch) rowOf(r int32) []float64 {
	if r < 0 {
		return nil
	}
	return b.phi[int(r)*b.n:][:b.n]
}

// locateSigns finds the ratios. Normals of a path are nested: where two that follow one another differ in fewer
// coordinates than the second has, its ratio is that of the first and what the difference brings.
func (b *Batch) locateSigns() {
	piece, last, ratio := -1, -1, 0.0
	for r, x := range b.j.signs {
		if x.piece < 0 || b.moved[x.piece] != line || b.j.arr.Curve(x.other) != nil {
			continue
		}
		if x.piece != piece {
			b.spread(piece, false)
			b.spread(x.piece, true)
			piece, last = x.piece, -1
		}
		h := b.change(last, x.other)
		if h.from < 0 {
			ratio = 0
		}
		for k, i := range h.Index {
			ratio += h.Coef[k] * b.along[i]
		}
		b.ratio[r], last = ratio, x.other
	}
	b.spread(piece, false)
}

// spread writes the direction of a piece to along, by latent, or clears it again.
func (b *Batch) spread(piece int, on bool) {
	if piece < 0 {
		return
	}
	along := b.surface.Along(piece)
	for at, i := range b.j.latents[piece] {
		if b.along[i] = 0; on {
			b.along[i] = along[at]
		}
	}
}

// A change is what the normal of a hyperplane has more than that of another, from; or all of it if that is −1.
type change struct {
	from  int
	Index []int
	Coef  []float64
}

// change is that of hyperplane l, from another one if that is shorter.
func (b *Batch) change(from, l int) change {
	key := [2]int{from, l}
	if c, known := b.changes[key]; known {
		return c
	}
	own := b.j.arr.Plane(l)
	c := change{-1, own.Index, own.Coef}
	if from >= 0 {
		if less := difference(b.j.arr.Plane(from), own); len(less.Index) < len(own.Index) {
			c = less
			c.from = from
		}
	}
	b.changes[key] = c
	return c
}

// difference is the normal of h less that of g.
func difference(g, h regions.Hyperplane) (c change) {
	for j, k := 0, 0; j < len(g.Index) || k < len(h.Index); {
		i, x := 0, 0.0
		switch {
		case k == len(h.Index) || j < len(g.Index) && g.Index[j] < h.Index[k]:
			i, x = g.Index[j], -g.Coef[j]
			j++
		case j == len(g.Index) || h.Index[k] < g.Index[j]:
			i, x = h.Index[k], h.Coef[k]
			k++
		default:
			i, x = h.Index[k], h.Coef[k]-g.Coef[j]
			j, k = j+1, k+1
		}
		if x != 0 {
			c.Index, c.Coef = append(c.Index, i), append(c.Coef, x)
		}
	}
	return c
}

// fillSigns fills the signs of other planes at the points on each piece.
func (b *Batch) fillSigns() {
	b.fillLines()
	b.fillAxes()
	for r := range b.j.signs {
		x := &b.j.signs[r]
		if x.piece < 0 || b.moved[x.piece] == never || x.inner {
			continue
		}
		row := b.ex.PointSigns[r*b.n:][:b.n]
		b.fillSign(row, x, r)
		b.andSigns(row, x, r)
	}
}

// andSigns makes row, of 0 and 1, the conjunction with the other signs of row r. On paths the nearest guards make most of it 0.
func (b *Batch) andSigns(row []float64, x *signRow, r int) {
	own := b.Values(x.piece)
	for i, o := range b.straight[r] {
		if i%16 == 15 && vec.Sum(row) == 0 {
			return // 0 stays 0
		}
		vec.AndStep(row, b.rowOf(o.phi), own, -b.ratio[o.sign])
	}
	if len(b.straight[r]) == len(x.with) {
		return
	}
	for _, k := range x.with {
		if o := &b.j.signs[k]; o.not || !b.onLine(o) {
			b.fillSign(b.scratch, o, k)
			vec.Mul(row, row, b.scratch)
		}
	}
}

// A straightSign is that of a hyperplane, whose Φ is row phi, at points along a line.
type straightSign struct{ sign, phi int32 }

// findStraight lists, by row, the other signs of its conjunction that are straight: first those of planes that are near the piece's in the program.
func (b *Batch) findStraight() {
	b.straight = make([][]straightSign, len(b.j.signs))
	for r := range b.j.signs {
		x := &b.j.signs[r]
		for _, k := range x.with {
			if o := &b.j.signs[k]; x.piece >= 0 && !o.not && b.onLine(o) {
				b.straight[r] = append(b.straight[r], straightSign{int32(k), b.row[o.other]})
			}
		}
		far := func(s straightSign) int {
			d := b.j.signs[s.sign].other - b.j.pieces[x.piece].Plane
			return max(d, -d)
		}
		slices.SortStableFunc(b.straight[r], func(s, t straightSign) int { return far(s) - far(t) })
	}
}

// onLine reports whether the other plane and the piece are hyperplanes, onto which samples move along a line.
func (b *Batch) onLine(x *signRow) bool {
	return b.curves[x.other] == nil && (b.j.pieces[x.piece].Curve == nil || x.isEdge) && b.moved[x.piece] != byCurve
}

// fillSign writes the sign of row r.
func (b *Batch) fillSign(row []float64, x *signRow, r int) {
	switch c := b.curves[x.other]; {
	case c != nil:
		for k, i := range b.j.arr.Latents(x.other) {
			c.In[k] = b.point(x.piece, i)
		}
		if len(x.edges) > 0 {
			c.SignsBeside(row, x.beside, x.edges)
		} else {
			vec.Step(row, c.Values(), 1, 0)
		}
	case b.j.pieces[x.piece].Curve != nil && !x.isEdge:
		b.valuesBeside(row, x)
		vec.Step(row, row, 1, 0)
	case b.moved[x.piece] == byCurve: // from the points alone, which are exact next to an edge
		b.valuesAt(row, x)
		vec.Step(row, row, 1, 0)
	default:
		vec.Affine2(row, b.values(x.other), b.Values(x.piece), 1, -b.ratio[r], 0)
		vec.Step(row, row, 1, 0)
	}
	if x.not {
		vec.Affine(row, row, -1, 1)
	}
}

// fillLines finds the points along lines where the signs of curves are wanted.
func (b *Batch) fillLines() {
	for _, k := range b.lines {
		if !b.surface.Reached(k) {
			continue
		}
		for at, i := range b.j.latents[k] {
			vec.Affine2(b.at[k][at*b.n:][:b.n], b.ex.Z[i*b.n:][:b.n], b.Values(k), 1, -b.surface.Along(k)[at], 0)
		}
	}
}

// fillAxes takes back what rounding did to the coordinate that a hyperplane fixes.
func (b *Batch) fillAxes() {
	for k := range b.at {
		if p := &b.j.pieces[k]; b.at[k] != nil && p.axis() {
			if at, moves := slices.BinarySearch(b.j.latents[k], p.Index[0]); moves {
				vec.Fill(b.at[k][at*b.n:][:b.n], -p.Const)
			}
		}
	}
}

// point is latent i at the points on piece k, whose points are known.
func (b *Batch) point(k, i int) []float64 {
	if at, moves := slices.BinarySearch(b.j.latents[k], i); moves {
		return b.at[k][at*b.n:][:b.n]
	}
	return b.ex.Z[i*b.n:][:b.n]
}

// valuesAt computes the values of the other hyperplane at the points on a piece.
func (b *Batch) valuesAt(row []float64, x *signRow) {
	other := b.j.arr.Plane(x.other)
	for i := range row {
		row[i] = other.Const
	}
	for k, i := range other.Index {
		vec.AddScaled(row, other.Coef[k], b.point(x.piece, i))
	}
}

// valuesBeside is valuesAt where one latent alone moves.
func (b *Batch) valuesBeside(row []float64, x *signRow) {
	other, i := b.j.arr.Plane(x.other), b.j.pieces[x.piece].Latent()
	k, _ := slices.BinarySearch(other.Index, i)
	vec.Affine2(row, b.values(x.other), b.point(x.piece, i), 1, other.Coef[k], 0)
	vec.AddScaled(row, -other.Coef[k], b.ex.Z[i*b.n:][:b.n])
}
