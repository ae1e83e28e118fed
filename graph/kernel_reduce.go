package graph

import (
	"slices"

	"github.com/facetvi/facet/internal/vec"
)

// reduce sums rows of its operands into Rows outputs: entry e of operand j adds
// W[j][e] times row Src[j][e] to output Owner[j][e]. C are the constants of the
// outputs.
type reduce struct {
	Rows  int
	C     coefs
	Src   []rowList
	Owner []rowList
	W     []coefs
	K     []int // rows of each operand
}

func (k reduce) outRows([]int) int { return k.Rows }
func (k reduce) eval(out mat, in []mat) {
	n := out.cols
	for r := range k.Rows {
		c, row := k.C.at(r), out.v[r*n:r*n+n]
		for i := range row {
			row[i] = c
		}
	}
	for j, x := range in {
		addRows(out, k.Owner[j], x, k.Src[j], k.W[j])
	}
}

// addRows adds w[e]·x[src[e]] to row dst[e] of out, for each entry e. It is
// fastest where entries of one row are neighbours.
func addRows(out mat, dst rowList, x mat, src rowList, w coefs) {
	n := out.cols
	dst = dst[:len(src)]
	if n == 1 {
		addNumbers(out.v, dst, x.v, src, w)
		return
	}
	rows := vec.Rows{A: x.v, Split: int32(x.rows)}
	for e := 0; e < len(src); { // run by run of one row
		to, from := dst[e], e
		for e++; e < len(src) && dst[e] == to; {
			e++
		}
		rows.AddCombine(out.v[int(to)*n:][:n], src[from:e], w.span(from, e))
	}
}

// addNumbers is addRows for one sample.
func addNumbers(out []float64, dst rowList, x []float64, src rowList, w coefs) {
	step := 1
	if len(w) == 1 {
		step = 0
	}
	dst = dst[:len(src)]
	for e, at := 0, 0; e < len(src); {
		to := dst[e]
		sum := out[to]
		for ; e < len(src) && dst[e] == to; e++ {
			sum += w[at] * x[src[e]]
			at += step
		}
		out[to] = sum
	}
}

func (k reduce) diff(j int, _ diffArgs) (kernel, []operandRef) {
	return spread{K: k.K[j], Src: k.Src[j], Owner: k.Owner[j], W: k.W[j]}, []operandRef{refGrad}
}

// spread is the transpose of one operand of reduce.
type spread struct {
	noDiff
	K          int
	Src, Owner rowList
	W          coefs
}

func (k spread) outRows([]int) int { return k.K }
func (k spread) eval(out mat, in []mat) {
	clear(out.v)
	addRows(out, k.Src, in[0], k.Owner, k.W)
}

// sumReduce is reduce summed over the samples: a result of one column.
type sumReduce struct {
	noDiff
	r    reduce
	rows []rowList   // the rows of each operand that enter
	sums [][]float64 // and their sums
}

func newSumReduce(r reduce) sumReduce {
	k := sumReduce{r: r}
	for j, src := range r.Src {
		rows := slices.Clone(src)
		slices.Sort(rows)
		k.rows = append(k.rows, slices.Compact(rows))
		k.sums = append(k.sums, make([]float64, r.K[j]))
	}
	return k
}

func (k sumReduce) outRows([]int) int { return k.r.Rows }
func (k sumReduce) eval(out mat, in []mat) {
	n := in[0].cols
	if n == 1 {
		k.r.eval(out, in)
		return
	}
	for r := range out.v {
		out.v[r] = k.r.C.at(r) * float64(n)
	}
	for j, x := range in {
		sums := mat{k.sums[j], len(k.sums[j]), 1}
		vec.SumRows(sums.v, x.v, n, k.rows[j])
		addRows(out, k.r.Owner[j], sums, k.r.Src[j], k.r.W[j])
	}
}

// sumRows is the sum of each row over the samples: a result of one column.
type sumRows struct{ noDiff }

func (sumRows) outRows(in []int) int { return in[0] }
func (sumRows) eval(out mat, in []mat) {
	n := in[0].cols
	for r := range out.v {
		out.v[r] = vec.Sum(in[0].v[r*n:][:n])
	}
}
