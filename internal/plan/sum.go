package plan

import (
	"slices"

	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/vec"
)

// sumOverSamples makes the node of the sums of n over the samples. The sums of a
// reduce are a reduce of sums, which is cheaper.
func (p *planner) sumOverSamples(n *node) *node {
	if k, ok := n.k.(kernel.Reduce); ok && n.uses == 1 {
		sum := &node{k: newSumReduce(k, n.in), in: n.in, rows: n.rows, uses: 1}
		p.order[slices.Index(p.order, n)] = sum
		return sum
	}
	sum := &node{k: sumRows{}, in: []*node{n}, rows: n.rows, uses: 1}
	p.order = append(p.order, sum)
	return sum
}

// sumRows is the sum of each row over the samples: a result of one column.
type sumRows struct{}

// Eval sets out to the sums of the rows of in[0].
func (sumRows) Eval(out kernel.Matrix, in []kernel.Matrix) {
	for r := range out.Data {
		out.Data[r] = vec.Sum(in[0].Row(r))
	}
}

// A sumReduce is a reduce summed over the samples: a result of one column.
type sumReduce struct {
	kernel.Reduce
	cols []kernel.RowList // the rows of each operand that enter
	sums []kernel.Matrix  // and their sums
}

func newSumReduce(r kernel.Reduce, in []*node) sumReduce {
	k := sumReduce{Reduce: r}
	for j, m := range r.M {
		cols := slices.Clone(m.Col)
		slices.Sort(cols)
		k.cols = append(k.cols, slices.Compact(cols))
		k.sums = append(k.sums, kernel.NewMatrix(in[j].rows, 1))
	}
	return k
}

// Eval sets out to n·C + Σ_j M_j·(the sums of the rows of in[j]), for n samples.
func (k sumReduce) Eval(out kernel.Matrix, in []kernel.Matrix) {
	n := in[0].Cols
	if n == 1 {
		k.Reduce.Eval(out, in)
		return
	}
	for r := range out.Data {
		out.Data[r] = k.C.At(r) * float64(n)
	}
	for j, x := range in {
		vec.SumRows(k.sums[j].Data, x.Data, n, k.cols[j])
		k.M[j].AddMul(out, k.sums[j])
	}
}
