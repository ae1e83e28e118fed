package kernel

import "github.com/facetvi/facet/internal/vec"

// Select is in[1] where the sign in[0] is 1, else in[2].
type Select struct{}

// Eval implements [Kernel].
func (Select) Eval(out Matrix, in []Matrix) {
	vec.Select(out.Data, in[0].Data, in[1].Data, in[2].Data)
}

func (Select) diff(j int, _ []int) derivative {
	return derivative{Gate{At: float64(2 - j)}, []operand{0, upstream}}
}

// Gate is in[1] where the sign in[0] is At, 1 or 0, else exactly 0.
type Gate struct{ At float64 }

// Eval implements [Kernel].
func (k Gate) Eval(out Matrix, in []Matrix) { vec.Gate(out.Data, in[0].Data, in[1].Data, k.At) }

// MaxTableSigns is the largest number of signs of a Table.
const MaxTableSigns = 4

// Table looks up numbers by signs: T[Σ_j in[j]·2ʲ]. T has 2^m numbers for m
// signs, or 2^m for each row.
type Table struct{ T []float64 }

// Eval implements [Kernel].
func (k Table) Eval(out Matrix, in []Matrix) {
	size := 1 << len(in)
	if len(k.T) == size {
		lookup(out.Data, in, 0, k.T)
		return
	}
	for r := range out.Rows {
		lookup(out.Row(r), in, r*out.Cols, k.T[r*size:][:size])
	}
}

// lookup is Table for the numbers from the given one on.
func lookup(out []float64, in []Matrix, from int, t []float64) {
	var signs [MaxTableSigns][]float64
	for j, s := range in {
		signs[j] = s.Data[from:][:len(out)]
	}
	vec.Lookup(out, signs[:len(in)], t)
}
