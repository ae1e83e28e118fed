package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// In each of many columns a chain has the sum over all its paths, and the gradient the parts that they have in it: of states with no way there, with
// one, two and three, and of impossible ones.
func TestForwardOfManyColumns(t *testing.T) {
	for _, k := range []Forward{
		{States: 4, Steps: 3, From: RowList{0, 0, 1, 0, 1, 2}, To: RowList{0, 1, 1, 2, 2, 2}, Varying: true},
		{States: 2, Steps: 3, From: RowList{0, 1, 1}, To: RowList{0, 0, 1}, Varying: true}, // one state is never left,
		{States: 2, Steps: 3, From: RowList{0, 0, 1}, To: RowList{0, 1, 1}},                // or the other
		{States: 2, Steps: 3, From: RowList{0, 1, 0}, To: RowList{0, 0, 1}, Varying: true},
	} {
		testForward(t, k)
	}
}

func testForward(t *testing.T, k Forward) {
	const columns = 2*part + 3
	rng := rand.New(rand.NewPCG(1, 1))
	in := NewMatrix(2*k.InRows(), columns) // two chains
	for i := range in.Data {
		if in.Data[i] = rng.NormFloat64(); rng.IntN(10) == 0 {
			in.Data[i] = math.Inf(-1)
		}
	}
	out, g, grad := NewMatrix(k.OutRows(2), columns), NewMatrix(2, columns), NewMatrix(in.Rows, columns)
	for i := range g.Data {
		g.Data[i] = float64(rng.IntN(3))
	}
	k.Eval(out, []Matrix{in})
	ForwardGrad{k}.Eval(grad, []Matrix{g, in, out})
	for chain := range 2 {
		for c := range columns {
			x := func(row int) float64 { return in.Row(chain*k.InRows() + row)[c] }
			total, parts := 0.0, make([]float64, k.InRows())
			for first := range k.States {
				for m := range k.To {
					for l := range k.To {
						if int(k.From[m]) != first || k.From[l] != k.To[m] {
							continue
						}
						rows := []int{first, k.moves(1) + m, k.moves(2) + l, k.emission(0) + first, k.emission(1) + int(k.To[m]), k.emission(2) + int(k.To[l])}
						p := 0.0
						for _, r := range rows {
							p += x(r)
						}
						total += math.Exp(p)
						for _, r := range rows {
							parts[r] += math.Exp(p)
						}
					}
				}
			}
			require.InDelta(t, total, math.Exp(out.Row(chain)[c]), 1e-12*total)
			for r, p := range parts {
				if total == 0 { // there is no path
					continue
				}
				require.InDelta(t, g.Row(chain)[c]*p/total, grad.Row(chain*k.InRows() + r)[c], 1e-12, "chain %d, column %d, row %d", chain, c, r)
			}
		}
	}
}
