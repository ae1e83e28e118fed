package boundary

import (
	"slices"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// planeValues are Φ of hyperplanes at n samples, of those where something needs it.
type planeValues struct {
	n     int
	forms regions.Forms
	row   []int32 // by plane of the arrangement: that of its Φ in phi; else −1
	phi   []float64
}

// newPlaneValues finds where Φ is needed: on pieces whose samples count differently, for points, and for signs there.
func newPlaneValues(j *Jumps, n int, surface Surface) planeValues {
	v := planeValues{n: n, row: slices.Repeat([]int32{-1}, j.arr.Len())}
	use := func(l int) {
		if v.row[l] < 0 && j.arr.Curve(l) == nil {
			v.row[l] = int32(len(v.forms.Const))
			v.forms.Add(j.arr.Plane(l))
		}
	}
	for k, p := range j.pieces {
		if surface.Each(k) {
			use(p.Plane)
		}
	}
	for _, x := range j.points {
		if x.piece >= 0 {
			use(j.pieces[x.piece].Plane)
		}
	}
	for _, x := range j.signs {
		if x.piece >= 0 {
			use(j.pieces[x.piece].Plane)
			use(x.other)
		}
	}
	v.phi = make([]float64, len(v.forms.Const)*n)
	return v
}

// of are those of plane l; nil if nothing needs them.
func (v *planeValues) of(l int) []float64 {
	if v.row[l] < 0 {
		return nil
	}
	return v.at(v.row[l])
}

// at is a row of phi.
func (v *planeValues) at(row int32) []float64 { return v.phi[int(row)*v.n:][:v.n] }

// A mover says how samples get onto a piece.
type mover uint8

const (
	line    mover = iota
	byCurve       // by the surface's Move
	never
)

// A movement takes samples onto pieces, and fills the points there.
type movement struct {
	j       *Jumps
	n       int
	surface Surface
	values  planeValues
	z       []float64             // the samples, of the executor
	how     []mover               // by piece
	own     []*regions.CurveBatch // by plane of the arrangement: at the samples; nil if samples do not move onto it
	at      [][]float64           // by piece: the points, Latents × N; nil if nothing needs them
	lines   []int                 // pieces onto which samples move along a line, and whose points are needed
	points  []boundPoint
}

// A boundPoint is where one latent's value on a piece is written, and what it is
// made of: z itself if along is nil.
type boundPoint struct {
	piece      int
	to, z, phi []float64
	along      *float64
}

// newMovement decides how samples get onto pieces.
func newMovement(j *Jumps, n int, surface Surface) *movement {
	m := &movement{
		j: j, n: n, surface: surface, values: newPlaneValues(j, n, surface),
		own: make([]*regions.CurveBatch, j.arr.Len()), at: make([][]float64, len(j.pieces)),
	}
	curves, _ := surface.(Curves)
	for k, p := range j.pieces {
		how := line
		switch {
		case curves != nil && curves.Curved(k):
			how = byCurve
			if p.Curve != nil && m.own[p.Plane] == nil {
				m.own[p.Plane] = p.Curve.Bind(n)
			}
		case p.Curve != nil:
			how = never
		}
		if m.how = append(m.how, how); how == byCurve {
			m.need(k)
		}
	}
	return m
}

// need makes room for the points on piece k.
func (m *movement) need(k int) {
	if m.at[k] != nil {
		return
	}
	m.at[k] = make([]float64, len(m.j.latents[k])*m.n)
	if m.how[k] == line {
		m.lines = append(m.lines, k)
	}
}

// bind takes the samples of an executor, whose points it fills.
func (m *movement) bind(ex *graph.Executor) {
	m.z = ex.Z
	for r, x := range m.j.points {
		if k := x.piece; k >= 0 && m.how[k] != never {
			p := boundPoint{piece: k, to: ex.Points[r*m.n:][:m.n], z: m.latent(m.j.latents[k][x.at]), phi: m.valuesOn(k)}
			if m.how[k] == line {
				p.along = &m.surface.Along(k)[x.at]
			} else {
				p.z = m.at[k][x.at*m.n:][:m.n]
			}
			m.points = append(m.points, p)
		}
	}
}

// valuesOn are Φ of piece k.
func (m *movement) valuesOn(k int) []float64 { return m.values.of(m.j.pieces[k].Plane) }

// latent is latent i of the samples.
func (m *movement) latent(i int) []float64 { return m.z[i*m.n:][:m.n] }

// point is latent i at the points on piece k, whose points are known.
func (m *movement) point(k, i int) []float64 {
	if at, moves := slices.BinarySearch(m.j.latents[k], i); moves {
		return m.at[k][at*m.n:][:m.n]
	}
	return m.latent(i)
}

// run moves the samples.
func (m *movement) run() {
	m.values.forms.AtBatch(m.values.phi, m.z, m.n)
	for k, how := range m.how {
		if how == byCurve && m.surface.Reached(k) {
			m.surface.(Curves).Move(m.at[k], k, m.z, m.valuesOn(k), m.own[m.j.pieces[k].Plane])
		}
	}
	for _, x := range m.points {
		switch {
		case !m.surface.Reached(x.piece):
		case x.along == nil:
			copy(x.to, x.z)
		default:
			vec.Affine2(x.to, x.z, x.phi, 1, -*x.along, 0)
		}
	}
	m.fillLines()
	m.fillAxes()
}

// fillLines finds the points along lines where the signs of curves are wanted.
func (m *movement) fillLines() {
	for _, k := range m.lines {
		if !m.surface.Reached(k) {
			continue
		}
		for at, i := range m.j.latents[k] {
			vec.Affine2(m.at[k][at*m.n:][:m.n], m.latent(i), m.valuesOn(k), 1, -m.surface.Along(k)[at], 0)
		}
	}
}

// fillAxes takes back what rounding did to the coordinate that a hyperplane fixes.
func (m *movement) fillAxes() {
	for k := range m.at {
		if p := &m.j.pieces[k]; m.at[k] != nil && p.axis() {
			if at, moves := slices.BinarySearch(m.j.latents[k], p.Index[0]); moves {
				vec.Fill(m.at[k][at*m.n:][:m.n], -p.Const)
			}
		}
	}
}
