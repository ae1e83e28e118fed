package kernel

import "github.com/facetvi/facet/internal/vec"

// Formulas is a list of formulas over signs, made in order. Row r is the product of the rows Ref[e] for
// e = From[r] … From[r+1]−1, or 1 − x for the row x of number −1 − Ref[e], if that is negative: such a row has no other factor. Behind two others a
// negative one is the row that r is where the first is not 1: where it is, r is the second.
// References number the rows of operand 0, which end at Base[0], then those of operand 1, which end at
// Base[1], then those of the result itself.
type Formulas struct {
	From, Ref []int32
	Base      [2]int32
	Runs      []int32 // the first rows of runs, which Join finds
}

func (k Formulas) outRows([]int) int { return len(k.From) - 1 }

// Join returns k with runs: rows whose operands are the rows after those of the row before. They are one product of many numbers.
func (k Formulas) Join() Formulas {
	k.Runs = []int32{}
	first := 0
	for r := range len(k.From) - 1 {
		if r == 0 || !k.joins(first, r) {
			first = r
			k.Runs = append(k.Runs, int32(r))
		}
	}
	return k
}

// joins reports whether row r can be of the run that begins at row first.
func (k Formulas) joins(first, r int) bool {
	refs, start := k.Ref[k.From[r]:k.From[r+1]], k.Ref[k.From[first]:k.From[first+1]]
	if len(refs) != len(start) || (refs[0] < 0) != (start[0] < 0) || isChoice(refs) || isChoice(start) {
		return false
	}
	for e, ref := range refs {
		from := start[e]
		if ref < 0 {
			ref, from = -1-ref, -1-from
		}
		if ref-from != int32(r-first) || (ref < k.Base[0]) != (from < k.Base[0]) || (ref < k.Base[1]) != (from < k.Base[1]) || ref-k.Base[1] >= int32(first) {
			return false
		}
	}
	return true
}

// isChoice reports whether a row with these references is one of two others.
func isChoice(refs []int32) bool { return len(refs) == 3 && refs[2] < 0 }

// Eval implements [Kernel].
func (k Formulas) Eval(out Matrix, in []Matrix) {
	x := operandsOf(out, in, k.Base)
	for i, first := range k.Runs {
		last := int32(out.Rows)
		if i+1 < len(k.Runs) {
			last = k.Runs[i+1]
		}
		n := int(last - first)
		rows, refs := out.Data[int(first)*out.Cols:][:n*out.Cols], k.Ref[k.From[first]:k.From[first+1]]
		switch {
		case refs[0] < 0:
			vec.Affine(rows, x.rows(-1-refs[0], n), -1, 1)
			continue
		case isChoice(refs):
			vec.Select(rows, x.rows(refs[0], n), x.rows(refs[1], n), x.rows(-1-refs[2], n))
			continue
		}
		vec.Mul(rows, x.rows(refs[0], n), x.rows(refs[1], n))
		for _, ref := range refs[2:] {
			vec.Mul(rows, rows, x.rows(ref, n))
		}
	}
}

// Flip is a list of rows, made in order:
//
//	row r = s·(x + Σ_e Coef[e]·(row Ref[e])),    e = From[r] … From[r+1]−1
//
// for row r of operand 0, s, which is −1, 0 or 1, and row r of operand 1, x. The
// result is exactly 0 where s is. Ref are earlier rows.
type Flip struct {
	From, Ref []int32
	Coef      []float64
}

// Eval implements [Kernel].
func (k Flip) Eval(out Matrix, in []Matrix) {
	copy(out.Data, in[1].Data)
	for r := range out.Rows {
		row := out.Row(r)
		for e := k.From[r]; e < k.From[r+1]; e++ {
			vec.AddScaled(row, k.Coef[e], out.Row(int(k.Ref[e])))
		}
		for i, s := range in[0].Row(r) {
			if s == 0 {
				row[i] = 0
			} else {
				row[i] *= s
			}
		}
	}
}
