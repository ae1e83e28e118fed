package kernel

import "github.com/facetvi/facet/internal/vec"

// A Sparse is a sparse matrix in coordinate form: entry e has the value W[e], in
// row Row[e] and column Col[e]. Entries in one place add up.
type Sparse struct {
	Row, Col RowList
	W        Coefs
}

// AddMul is out += s·x. It is fastest where entries of one row are neighbours.
func (s *Sparse) AddMul(out, x Matrix) {
	if out.Cols == 1 {
		s.addMulColumn(out.Data, x.Data)
		return
	}
	vec.AddSparse(out.Data, x.Data, out.Cols, s.Row, s.Col, s.W)
}

// addMulColumn is AddMul of one column.
func (s *Sparse) addMulColumn(out, x []float64) {
	step := 1
	if len(s.W) == 1 {
		step = 0
	}
	col, w := s.Col, s.W
	row := s.Row[:len(col)]
	for e, at := 0, 0; e < len(col); {
		r := row[e]
		sum := out[r]
		for ; e < len(col) && row[e] == r; e++ {
			sum += float64(w[at] * x[col[e]])
			at += step
		}
		out[r] = sum
	}
}

// Reduce is C + Σ_j M[j]·in[j], a matrix of Rows rows.
type Reduce struct {
	Rows int
	C    Coefs
	M    []Sparse
}

func (k Reduce) outRows([]int) int { return k.Rows }

// Eval implements [Kernel].
func (k Reduce) Eval(out Matrix, in []Matrix) {
	out.SetConstant(k.C)
	for j, x := range in {
		k.M[j].AddMul(out, x)
	}
}

func (k Reduce) diff(j int, rows []int) derivative {
	m := k.M[j]
	return derivative{Spread{Sparse{m.Col, m.Row, m.W}, rows[j]}, []operand{upstream}}
}

// Spread is M·in[0], a matrix of Rows rows: the derivative of Reduce, where M is
// the transpose of one of Reduce's.
type Spread struct {
	M    Sparse
	Rows int
}

func (k Spread) outRows([]int) int { return k.Rows }

// Eval implements [Kernel].
func (k Spread) Eval(out Matrix, in []Matrix) {
	clear(out.Data)
	k.M.AddMul(out, in[0])
}

// Total is the sum of all numbers of a matrix: a scalar.
type Total struct{}

func (Total) outRows([]int) int { return 1 }

// Eval implements [Kernel].
func (Total) Eval(out Matrix, in []Matrix) { out.Data[0] = vec.Sum(in[0].Data) }

func (Total) diff(_ int, rows []int) derivative {
	return derivative{Fill{Rows: rows[0]}, []operand{upstream, 0}}
}

// Fill is the scalar in[0] everywhere in a matrix of the shape of in[1], whose
// numbers do not matter.
type Fill struct{ Rows int }

func (k Fill) outRows([]int) int { return k.Rows }

// Eval implements [Kernel].
func (k Fill) Eval(out Matrix, in []Matrix) {
	for i := range out.Data {
		out.Data[i] = in[0].Data[0]
	}
}
