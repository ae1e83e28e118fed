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

// pointSigns are the signs of other planes at the points on pieces.
type pointSigns struct {
	*movement
	curves   []*regions.CurveBatch // by plane of the arrangement: at the points; nil if it is not needed
	ratio    []float64             // by row of signs
	straight [][]straightSign      // by row of signs
	changes  map[[2]int]change     // of the normals of hyperplanes
	along    []float64             // scratch of locate, by latent; 0
	scratch  []float64             // a row
}

func newPointSigns(m *movement, dim int) *pointSigns {
	j := m.j
	s := &pointSigns{
		movement: m, curves: make([]*regions.CurveBatch, j.arr.Len()), ratio: make([]float64, len(j.signs)), straight: make([][]straightSign, len(j.signs)),
		changes: map[[2]int]change{}, along: make([]float64, dim), scratch: make([]float64, m.n),
	}
	for _, x := range j.signs {
		if c := j.arr.Curve(x.other); c != nil && x.piece >= 0 && m.how[x.piece] != never {
			m.need(x.piece)
			if s.curves[x.other] == nil {
				s.curves[x.other] = c.Bind(m.n)
			}
		}
	}
	s.findStraight()
	return s
}

// locate finds the ratios. Normals of a path are nested: where two that follow one another differ in fewer
// coordinates than the second has, its ratio is that of the first and what the difference brings.
func (s *pointSigns) locate() {
	piece, last, ratio := -1, -1, 0.0
	for r, x := range s.j.signs {
		if x.piece < 0 || s.how[x.piece] != line || s.j.arr.Curve(x.other) != nil {
			continue
		}
		if x.piece != piece {
			s.spread(piece, false)
			s.spread(x.piece, true)
			piece, last = x.piece, -1
		}
		h := s.change(last, x.other)
		if h.from < 0 {
			ratio = 0
		}
		for k, i := range h.Index {
			ratio += h.Coef[k] * s.along[i]
		}
		s.ratio[r], last = ratio, x.other
	}
	s.spread(piece, false)
}

// spread writes the direction of a piece to along, by latent, or clears it again.
func (s *pointSigns) spread(piece int, on bool) {
	if piece < 0 {
		return
	}
	along := s.surface.Along(piece)
	for at, i := range s.j.latents[piece] {
		if s.along[i] = 0; on {
			s.along[i] = along[at]
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
func (s *pointSigns) change(from, l int) change {
	key := [2]int{from, l}
	if c, known := s.changes[key]; known {
		return c
	}
	own := s.j.arr.Plane(l)
	c := change{-1, own.Index, own.Coef}
	if from >= 0 {
		if less := difference(s.j.arr.Plane(from), own); len(less.Index) < len(own.Index) {
			c = less
			c.from = from
		}
	}
	s.changes[key] = c
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

// fill fills the rows of all signs.
func (s *pointSigns) fill(rows []float64) {
	for r := range s.j.signs {
		x := &s.j.signs[r]
		if x.piece < 0 || s.how[x.piece] == never || x.inner {
			continue
		}
		row := rows[r*s.n:][:s.n]
		s.fillSign(row, x, r)
		s.andSigns(row, x, r)
	}
}

// andSigns makes row, of 0 and 1, the conjunction with the other signs of row r. On paths the nearest guards make most of it 0.
func (s *pointSigns) andSigns(row []float64, x *signRow, r int) {
	own := s.valuesOn(x.piece)
	for i, o := range s.straight[r] {
		if i%16 == 15 && vec.Sum(row) == 0 {
			return // 0 stays 0
		}
		vec.AndStep(row, s.values.at(o.phi), own, -s.ratio[o.sign])
	}
	if len(s.straight[r]) == len(x.with) {
		return
	}
	for _, k := range x.with {
		if o := &s.j.signs[k]; o.not || !s.onLine(o) {
			s.fillSign(s.scratch, o, k)
			vec.Mul(row, row, s.scratch)
		}
	}
}

// A straightSign is that of a hyperplane, whose Φ is row phi, at points along a line.
type straightSign struct{ sign, phi int32 }

// findStraight lists, by row, the other signs of its conjunction that are straight: first those of planes that are near the piece's in the program.
func (s *pointSigns) findStraight() {
	for r := range s.j.signs {
		x := &s.j.signs[r]
		for _, k := range x.with {
			if o := &s.j.signs[k]; x.piece >= 0 && !o.not && s.onLine(o) {
				s.straight[r] = append(s.straight[r], straightSign{int32(k), s.values.row[o.other]})
			}
		}
		far := func(y straightSign) int {
			d := s.j.signs[y.sign].other - s.j.pieces[x.piece].Plane
			return max(d, -d)
		}
		slices.SortStableFunc(s.straight[r], func(x, y straightSign) int { return far(x) - far(y) })
	}
}

// onLine reports whether the other plane and the piece are hyperplanes, onto which samples move along a line.
func (s *pointSigns) onLine(x *signRow) bool {
	return s.curves[x.other] == nil && (s.j.pieces[x.piece].Curve == nil || x.isEdge) && s.how[x.piece] != byCurve
}

// fillSign writes the sign of row r.
func (s *pointSigns) fillSign(row []float64, x *signRow, r int) {
	switch c := s.curves[x.other]; {
	case c != nil:
		for k, i := range s.j.arr.Latents(x.other) {
			c.In[k] = s.point(x.piece, i)
		}
		if len(x.edges) > 0 {
			c.SignsBeside(row, x.beside, x.edges)
		} else {
			vec.Step(row, c.Values(), 1, 0)
		}
	case s.j.pieces[x.piece].Curve != nil && !x.isEdge:
		s.valuesBeside(row, x)
		vec.Step(row, row, 1, 0)
	case s.how[x.piece] == byCurve: // from the points alone, which are exact next to an edge
		s.valuesAt(row, x)
		vec.Step(row, row, 1, 0)
	default:
		vec.Affine2(row, s.values.of(x.other), s.valuesOn(x.piece), 1, -s.ratio[r], 0)
		vec.Step(row, row, 1, 0)
	}
	if x.not {
		vec.Affine(row, row, -1, 1)
	}
}

// valuesAt computes the values of the other hyperplane at the points on a piece.
func (s *pointSigns) valuesAt(row []float64, x *signRow) {
	other := s.j.arr.Plane(x.other)
	for i := range row {
		row[i] = other.Const
	}
	for k, i := range other.Index {
		vec.AddScaled(row, other.Coef[k], s.point(x.piece, i))
	}
}

// valuesBeside is valuesAt where one latent alone moves.
func (s *pointSigns) valuesBeside(row []float64, x *signRow) {
	other, i := s.j.arr.Plane(x.other), s.j.pieces[x.piece].Latent()
	k, _ := slices.BinarySearch(other.Index, i)
	vec.Affine2(row, s.values.of(x.other), s.point(x.piece, i), 1, other.Coef[k], 0)
	vec.AddScaled(row, -other.Coef[k], s.latent(i))
}
