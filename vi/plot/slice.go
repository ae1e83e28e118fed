package plot

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// A slice is the plane through a fit's posterior mean along two latents: all
// others stay at the fitted means of their unconstrained coordinates.
type slice struct {
	fit    *vi.Posterior
	x, y   int           // the latents
	mean   []float64     // of all latents
	window [2][2]float64 // of x and of y, in unconstrained coordinates
}

const (
	sliceReach  = 4   // standard deviations of the fit to each side, to begin with
	sliceNodes  = 361 // to each side, of the grid on which densities are drawn
	sliceFitted = 181 // of the grid on which a fit is drawn that is not normal
	sliceTrial  = 61  // of the grid on which the window is found
)

// newSlice chooses a window that holds the fit, and the model's own density along
// the slice, as far as there is an end to it.
func newSlice(fit *vi.Posterior, x, y int) (*slice, error) {
	s := &slice{fit: fit, x: x, y: y}
	for i := range fit.Q.Dim() {
		s.mean = append(s.mean, fit.Q.Mean(i))
	}
	for k, i := range []int{x, y} {
		reach := sliceReach * fit.Q.SD(i)
		s.window[k] = [2]float64{s.mean[i] - reach, s.mean[i] + reach}
	}
	for range 8 {
		f, err := s.model(sliceTrial)
		if err != nil {
			return nil, err
		}
		if !s.widen(f) {
			break
		}
	}
	return s, nil
}

// widen moves the sides of the window on which f is not small, and reports whether
// there was one.
func (s *slice) widen(f *field) bool {
	least := f.levels()[0]
	wide := s.window
	moved := false
	look := func(k, side int, density float64) {
		if density > least {
			wide[k][side] = s.window[k][side] + float64(2*side-1)*0.3*(s.window[k][1]-s.window[k][0])
			moved = true
		}
	}
	cols, rows := len(f.u), len(f.v)
	for r := range rows {
		look(0, 0, f.log[r*cols])
		look(0, 1, f.log[r*cols+cols-1])
	}
	for c := range cols {
		look(1, 0, f.log[c])
		look(1, 1, f.log[(rows-1)*cols+c])
	}
	s.window = wide
	return moved
}

// A field is a log density of the two unconstrained coordinates on a grid.
type field struct {
	u, v []float64 // the nodes
	log  []float64 // row by row: a row has one v
}

// nodes are n coordinates across the window, and one close to each side of every
// hyperplane that is orthogonal to the axis: there a density jumps.
func (s *slice) nodes(which, n int) []float64 {
	w := s.window[which]
	near := 1e-7 * (w[1] - w[0])
	var u []float64
	for k := range n {
		u = append(u, w[0]+(w[1]-w[0])*float64(k)/float64(n-1))
	}
	for _, l := range s.lines() {
		slope, other := l.a, l.b
		if which == 1 {
			slope, other = other, slope
		}
		if other == 0 {
			u = append(u, -l.c/slope-near, -l.c/slope+near)
		}
	}
	slices.Sort(u)
	// Hyperplanes may meet the slice in one line.
	return slices.CompactFunc(u, func(a, b float64) bool { return math.Abs(a-b) < near/2 })
}

// newField evaluates a log density row by row.
func (s *slice) newField(n int, row func(v float64, u, dst []float64) error) (*field, error) {
	f := &field{u: s.nodes(0, n), v: s.nodes(1, n)}
	f.log = make([]float64, len(f.u)*len(f.v))
	for r, v := range f.v {
		if err := row(v, f.u, f.log[r*len(f.u):][:len(f.u)]); err != nil {
			return nil, err
		}
	}
	return f, f.limit()
}

// limit replaces what is not finite, or far below any contour, so that there is
// something to interpolate.
func (f *field) limit() error {
	highest := math.Inf(-1)
	for _, v := range f.log {
		if v > highest && !math.IsInf(v, 1) {
			highest = v
		}
	}
	if math.IsInf(highest, -1) {
		return errors.New("the density is nowhere finite along the slice through the fit's mean")
	}
	for k, v := range f.log {
		if !(v >= highest-20 && v <= highest) {
			f.log[k] = highest - 20
		}
	}
	return nil
}

// model is the log density of the model along the slice, without normalisation.
func (s *slice) model(n int) (*field, error) {
	d := s.fit.Density
	width := len(s.nodes(0, n))
	e, err := d.Executor(width, graph.Compute{Out: true})
	if err != nil {
		return nil, err
	}
	e.Spread(s.mean)
	return s.newField(n, func(v float64, u, dst []float64) error {
		for k := range u {
			e.Z[s.x*width+k], e.Z[s.y*width+k] = u[k], v
		}
		d.Arrangement().SignBatch(e.Signs, e.Z, width)
		if err := e.Run(); err != nil {
			return err
		}
		copy(dst, e.Out)
		return nil
	})
}

// shares are what the contours hold of a density within the window.
var shares = []float64{0.99, 0.9, 0.5}

// fitContours are those of the fit's slice, which of a normal are ellipses.
func (s *slice) fitContours() (lines []plotter.XYs, err error) {
	if _, ok := s.fit.Q.(family.Gaussian); ok {
		for _, share := range shares {
			lines = append(lines, s.fitted(share))
		}
		return lines, nil
	}
	at := slices.Clone(s.mean)
	f, err := s.newField(sliceFitted, func(v float64, u, dst []float64) error {
		for k := range u {
			at[s.x], at[s.y] = u[k], v
			dst[k] = s.fit.Q.LogProb(at)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, level := range f.levels() {
		lines = append(lines, f.contour(level)...)
	}
	return lines, nil
}

// fitted is the ellipse that holds a share of a normal fit's slice.
func (s *slice) fitted(share float64) plotter.XYs {
	a, b, c := s.root()
	r := math.Sqrt(-2 * math.Log1p(-share))
	const n = 360
	out := make(plotter.XYs, n+1)
	for k := range out {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / n)
		out[k] = plotter.XY{X: s.mean[s.x] + r*a*cos, Y: s.mean[s.y] + r*(b*cos+c*sin)}
	}
	return out
}

// root is the lower Cholesky factor (a, 0; b, c) of the covariance of x and y
// along the slice, where log q is a quadratic form.
func (s *slice) root() (a, b, c float64) {
	sx, sy := s.fit.Q.SD(s.x), s.fit.Q.SD(s.y)
	at := slices.Clone(s.mean)
	drop := func(i, j float64) float64 { // of log q, i and j standard deviations off
		at[s.x], at[s.y] = s.mean[s.x], s.mean[s.y]
		top := s.fit.Q.LogProb(at)
		at[s.x], at[s.y] = s.mean[s.x]+i*sx, s.mean[s.y]+j*sy
		return top - s.fit.Q.LogProb(at)
	}
	xx, yy := 2*drop(1, 0), 2*drop(0, 1) // the precision, in these units
	xy := drop(1, 1) - (xx+yy)/2
	det := xx*yy - xy*xy
	a = math.Sqrt(yy / det)
	return a * sx, -xy / det / a * sy, math.Sqrt(1/yy) * sy
}

// levels are the log densities of the contours that hold the shares, ascending.
func (f *field) levels() []float64 {
	order := make([]int, len(f.log)) // the highest first
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(f.log[b], f.log[a]) })
	sum := 0.0
	held := make([]float64, len(order))
	for i, k := range order {
		sum += math.Exp(f.log[k]-f.log[order[0]]) * width(f.u, k%len(f.u)) * width(f.v, k/len(f.u))
		held[i] = sum
	}
	out := make([]float64, len(shares))
	for i, share := range shares {
		at, _ := slices.BinarySearch(held, share*sum)
		out[i] = f.log[order[min(at, len(order)-1)]]
	}
	return out
}

// width is that of what lies closest to node k.
func width(u []float64, k int) float64 {
	return (u[min(k+1, len(u)-1)] - u[max(k-1, 0)]) / 2
}

// A line is the trace of hyperplane Plane on the slice, a·u + b·v + c = 0.
type line struct {
	plane   int
	a, b, c float64
}

func (l line) at(p plotter.XY) float64 { return l.a*p.X + l.b*p.Y + l.c }

// lines are the hyperplanes that cut the window.
func (s *slice) lines() (out []line) {
	arr := s.fit.Density.Arrangement()
	for l, h := range arr.Planes() {
		if arr.Curve(l) != nil {
			continue
		}
		cut := line{plane: l, c: h.Const}
		for k, i := range h.Index {
			switch i {
			case s.x:
				cut.a = h.Coef[k]
			case s.y:
				cut.b = h.Coef[k]
			default:
				cut.c += h.Coef[k] * s.mean[i]
			}
		}
		above, below := false, false
		for _, p := range s.corners() {
			above = above || cut.at(p) > 0
			below = below || cut.at(p) < 0
		}
		if above && below {
			out = append(out, cut)
		}
	}
	return out
}

func (s *slice) corners() plotter.XYs {
	x, y := s.window[0], s.window[1]
	return plotter.XYs{{X: x[0], Y: y[0]}, {X: x[1], Y: y[0]}, {X: x[1], Y: y[1]}, {X: x[0], Y: y[1]}}
}

// cells are the polygons into which the lines cut the window, in unconstrained
// coordinates, each with the parity of its signs: neighbours differ in it.
func (s *slice) cells(lines []line) (polygons []plotter.XYs, odd []bool) {
	polygons, odd = []plotter.XYs{s.corners()}, []bool{false}
	for _, l := range lines {
		for k := range len(polygons) {
			above, below := l.clip(polygons[k], 1), l.clip(polygons[k], -1)
			switch {
			case len(above) > 2 && len(below) > 2:
				polygons[k] = below
				polygons, odd = append(polygons, above), append(odd, !odd[k])
			case len(above) > 2:
				odd[k] = !odd[k]
			}
		}
	}
	return polygons, odd
}

// clip is the part of a convex polygon on one side of the line (Sutherland and
// Hodgman).
func (l line) clip(polygon plotter.XYs, sign float64) (out plotter.XYs) {
	for k, p := range polygon {
		q := polygon[(k+1)%len(polygon)]
		fp, fq := sign*l.at(p), sign*l.at(q)
		if fp >= 0 {
			out = append(out, p)
		}
		if fp*fq < 0 {
			t := fp / (fp - fq)
			out = append(out, plotter.XY{X: p.X + t*(q.X-p.X), Y: p.Y + t*(q.Y-p.Y)})
		}
	}
	return out
}

// bends is the number of pieces in which a straight line is drawn that the
// program's own scale may bend.
const bends = 64

// showLines maps the straight lines between points to the program's own scale,
// where a guard such as log(x) > y is curved.
func (s *slice) showLines(points plotter.XYs) plotter.XYs {
	d := s.fit.Density
	if len(points) == 0 || !d.Transformed(s.x) && !d.Transformed(s.y) {
		return s.show(points)
	}
	fine := plotter.XYs{points[0]}
	for i, b := range points[1:] {
		a := points[i]
		for k := 1; k <= bends; k++ {
			t := float64(k) / bends
			fine = append(fine, plotter.XY{X: (1-t)*a.X + t*b.X, Y: (1-t)*a.Y + t*b.Y})
		}
	}
	return s.show(fine)
}

// show maps points to the program's own scale.
func (s *slice) show(points plotter.XYs) plotter.XYs {
	out := make(plotter.XYs, len(points))
	for k, p := range points {
		out[k] = plotter.XY{X: s.fit.Density.ConstrainOne(s.x, p.X), Y: s.fit.Density.ConstrainOne(s.y, p.Y)}
	}
	return out
}
