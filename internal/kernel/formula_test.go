package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/parallel"
)

// Rows that are joined are what they are one by one: also where a row is of the one before it, and where rows of two operands follow each other.
func TestFormulasJoin(t *testing.T) {
	rng, joined := parallel.NewRand(1), 0
	for range 2000 {
		cols, first, second := 1+rng.IntN(9), 1+rng.IntN(6), rng.IntN(4)
		k := Formulas{From: []int32{0}, Base: [2]int32{int32(first), int32(first + second)}}
		for r := range 1 + rng.IntN(30) {
			refs := k.Ref[k.From[max(0, r-1)]:]
			if follows := r > 0 && rng.IntN(4) > 0; follows { // the rows after those of the row before
				refs = append([]int32(nil), refs...)
				for e, ref := range refs {
					if refs[e]++; ref < 0 {
						refs[e] = ref - 1
					}
				}
			} else if refs = []int32{int32(rng.IntN(first + second + r))}; rng.IntN(2) == 0 {
				refs[0] = -1 - refs[0]
			} else {
				for range 1 + rng.IntN(2) {
					refs = append(refs, int32(rng.IntN(first+second+r)))
				}
				if len(refs) == 3 && rng.IntN(2) == 0 { // one of two rows
					refs[2] = -1 - refs[2]
				}
			}
			k.Ref = append(k.Ref, refs...)
			k.From = append(k.From, int32(len(k.Ref)))
		}
		all := make([][]float64, first+second)
		in := []Matrix{NewMatrix(first, cols), NewMatrix(second, cols)}
		for r := range all {
			if all[r] = in[0].Data; r >= first {
				all[r] = in[1].Data[(r-first)*cols:][:cols]
			} else {
				all[r] = all[r][r*cols:][:cols]
			}
			for i := range all[r] {
				all[r][i] = float64(rng.IntN(2))
			}
		}
		rows := len(k.From) - 1
		for r := range rows {
			row := make([]float64, cols)
			for i := range row {
				refs := k.Ref[k.From[r]:k.From[r+1]]
				if len(refs) == 3 && refs[2] < 0 {
					if row[i] = all[refs[1]][i]; all[refs[0]][i] == 0 {
						row[i] = all[-1-refs[2]][i]
					}
					continue
				}
				row[i] = 1
				for _, ref := range refs {
					if ref < 0 {
						row[i] = 1 - all[-1-ref][i]
					} else {
						row[i] *= all[ref][i]
					}
				}
			}
			all = append(all, row)
		}
		out := NewMatrix(rows, cols)
		k = k.Join()
		k.Eval(out, in)
		for r := range rows {
			require.Equal(t, all[first+second+r], out.Row(r))
		}
		joined += rows - len(k.Runs)
	}
	require.Greater(t, joined, 1000)
}
