package regions

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// thin is the relative margin below which a cell counts as empty: see [Arrangement.Feasible]. It is far above the rounding of a linear
// program, about 1e-13.
const thin = 1e-9

// A solver finds points inside cells of a block. It works in homogeneous coordinates (y, w) with w > 0, where z_i = scale_i·y_i/w: a cell
// is then a cone, and where it is cut off, at |y_i| ≤ 1 and w ≤ 1, does not matter, however far away or unbounded the cell is.
type solver struct {
	b     *block
	scale []float64
	unit  float64       // of w
	cut   [][][]float64 // cut[f][k] is the row of level k of family f: row·(y, w) > 0 above it; its largest magnitude is 1
}

// newSolver scales rows and columns in turn until the largest number of each is about 1.
func newSolver(b *block) *solver {
	s := &solver{b: b, scale: make([]float64, len(b.coords))}
	at := map[int]int{}
	for k, i := range b.coords {
		at[i] = k
	}
	d := len(b.coords)
	var all [][]float64
	for _, f := range b.families {
		var rows [][]float64
		for _, v := range f.levels {
			row := make([]float64, d+1)
			for k, i := range f.normal.Index {
				row[at[i]] = f.normal.Coef[k]
			}
			row[d] = -v.at
			rows = append(rows, row)
		}
		s.cut = append(s.cut, rows)
		all = append(all, rows...)
	}
	col := make([]float64, d+1)
	for i := range col {
		col[i] = 1
	}
	for range 4 {
		scaleColumns(all, col)
		scaleRows(all)
	}
	copy(s.scale, col)
	s.unit = col[d]
	return s
}

func scaleRows(rows [][]float64) {
	for _, row := range rows {
		largest := 0.0
		for _, x := range row {
			largest = max(largest, math.Abs(x))
		}
		for i := range row {
			row[i] /= largest
		}
	}
}

// scaleColumns divides the columns by their largest magnitudes, and col too.
func scaleColumns(rows [][]float64, col []float64) {
	for i := range col {
		largest := 0.0
		for _, row := range rows {
			largest = max(largest, math.Abs(row[i]))
		}
		if largest == 0 {
			continue // all constants are zero
		}
		col[i] /= largest
		for _, row := range rows {
			row[i] /= largest
		}
	}
}

// walls are the rows that must be positive in the slabs of the first families, and w > 0.
func (s *solver) walls(j slabs) [][]float64 {
	d := len(s.scale)
	last := make([]float64, d+1)
	last[d] = 1
	rows := [][]float64{last}
	for f := range j {
		rows = append(rows, s.slabWalls(f, j[f], j[f])...)
	}
	return rows
}

// slabWalls are the rows of the slabs from low to high of one family.
func (s *solver) slabWalls(f, low, high int) (rows [][]float64) {
	if low > 0 {
		rows = append(rows, s.cut[f][low-1])
	}
	if high < len(s.cut[f]) {
		rows = append(rows, negated(s.cut[f][high]))
	}
	return rows
}

func negated(row []float64) []float64 {
	out := make([]float64, len(row))
	for i, x := range row {
		out[i] = -x
	}
	return out
}

func dot(row, x []float64) (sum float64) {
	for i, r := range row {
		sum += r * x[i]
	}
	return sum
}

// point writes the coordinates of a homogeneous point.
func (s *solver) point(z, x []float64) {
	w := x[len(s.scale)] * s.unit
	for k, i := range s.b.coords {
		z[i] = s.scale[k] * x[k] / w
	}
}

// margin looks for a point x with row·x > 0 for each row, |x_i| ≤ 1 for all but the last coordinate and 0 ≤ x_last ≤ 1, and as deep inside
// as it can: it maximises t subject to row·x + δ ≥ t. The last coordinate must itself be one of the rows. It returns the smallest row·x
// and x.
//
// The δ, different for each row and at most thin, keep the vertices apart: where many rows meet in a point, gonum's Simplex can go round
// for ever. They cost at most thin of the margin, and fake none, since what is returned is the margin of x itself.
func margin(rows [][]float64) (t float64, x []float64, err error) {
	for try := range 3 {
		if x, err = deepest(rows, try); err == nil {
			break
		}
	}
	if err != nil {
		return 0, nil, fmt.Errorf("regions: linear program of %d planes in %d dimensions: %w", len(rows)-1, len(rows[0])-1, err)
	}
	t = math.Inf(1)
	for _, row := range rows {
		t = min(t, dot(row, x))
	}
	return t, x, nil
}

// deepest is the linear program of margin. In its standard form, of u = x + 1 (but the last), τ = t + shift and a slack for each
// inequality, the slacks are a feasible basis to start from. Without a start, Simplex can call a feasible system infeasible.
func deepest(rows [][]float64, try int) (x []float64, err error) {
	n, k := len(rows), len(rows[0])
	shift := 0.0
	for _, row := range rows {
		sum := 1.0
		for _, r := range row[:k-1] {
			sum += math.Abs(r)
		}
		shift = max(shift, sum)
	}
	// Columns: u and the last coordinate, τ, slacks of the rows, slacks of the bounds.
	m := n + k + 1
	a := mat.NewDense(m, k+1+m, nil)
	b, c, basis := make([]float64, m), make([]float64, k+1+m), make([]int, m)
	for l, row := range rows {
		b[l] = shift + thin*apart(l, try)
		for i, r := range row {
			a.Set(l, i, -r)
			if i < k-1 {
				b[l] -= r
			}
		}
		a.Set(l, k, 1)
	}
	for i := range k + 1 {
		a.Set(n+i, i, 1)
		b[n+i] = 2 + apart(n+i, try)/8
	}
	b[n+k-1] = 1
	b[n+k] += shift // t ≤ 2 says nothing, since t ≤ x_last; it keeps the program bounded for any rows
	for i := range basis {
		basis[i] = k + 1 + i
		a.Set(i, basis[i], 1)
	}
	c[k] = -1
	u, err := simplex(c, a, b, basis, 2*m*(k+1+m)+20*(k+1+2*m)*m)
	if err != nil {
		return nil, err
	}
	for i := range k - 1 {
		u[i]--
	}
	return u[:k], nil
}

// apart is number l of a sequence in [0, 1) that keeps its members apart, another one for each try.
func apart(l, try int) float64 {
	_, f := math.Modf(float64(l+1) * math.Phi / float64(1+try))
	return f
}

// simplex is gonum's Simplex, which does not bound its iterations, stopped after so many reads of a: an iteration reads a column or a few.
func simplex(c []float64, a *mat.Dense, b []float64, basis []int, reads int) (x []float64, err error) {
	defer func() {
		if r := recover(); r == errRound {
			err = errRound
		} else if r != nil {
			panic(r)
		}
	}()
	_, x, err = lp.Simplex(c, &counted{a, reads}, b, 1e-12, basis)
	return x, err
}

var errRound = errors.New("no end after very many steps")

// counted is a matrix that may be read so many times.
type counted struct {
	mat.Matrix
	left int
}

// At is the matrix's, until it panics.
func (c *counted) At(i, j int) float64 {
	if c.left--; c.left < 0 {
		panic(errRound)
	}
	return c.Matrix.At(i, j)
}
