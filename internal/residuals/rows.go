package residuals

import (
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/vec"
)

// rows are the values of nodes at n points, a row for each node that is needed.
type rows struct {
	of        Program
	n         int
	z, signs  []float64             // of the points, latents or planes × n
	at        [][]float64           // by ID
	constants map[float64][]float64 // rows that are one number
}

// An instruction computes a row from the rows of a node's operands.
type instruction struct {
	ir.Node
	out []float64
}

// number is a row of one number.
func (r *rows) number(v float64) []float64 {
	return ir.Remembered(r.constants, v, func() []float64 { return slices.Repeat([]float64{v}, r.n) })
}

// need makes a row for a node and, first, for its operands, and adds what computes them to list.
func (r *rows) need(list []instruction, id ir.ID) []instruction {
	if r.at[id] != nil {
		return list
	}
	n := r.of.Nodes.At(id)
	a := int(n.A)
	switch n.Kind {
	case ir.Const:
		r.at[id] = r.number(n.V)
		return list
	case ir.Data:
		r.at[id] = r.number(r.of.Data[a])
		return list
	case ir.Latent:
		r.at[id] = r.z[a*r.n : (a+1)*r.n]
		return list
	case ir.Sign:
		r.at[id] = r.signs[a*r.n : (a+1)*r.n]
	default:
		n.Operands(func(o ir.ID) { list = r.need(list, o) })
		r.at[id] = make([]float64, r.n)
	}
	return append(list, instruction{n, r.at[id]})
}

func (r *rows) run(in instruction) {
	a, b, c := r.at[in.A], r.at[in.B], r.at[in.C]
	switch in.Kind {
	case ir.Sign:
		r.of.Arr.SignRow(in.out, int(in.A), r.z, r.n)
	case ir.Sum:
		vec.Affine(in.out, r.at[in.Terms[0].Atom], in.Terms[0].Coef, in.V)
		for _, t := range in.Terms[1:] {
			vec.AddScaled(in.out, t.Coef, r.at[t.Atom])
		}
	case ir.Unary, ir.Binary, ir.Ternary:
		kernel.Elementwise{F: in.Fn}.Eval(r.matrix(in.out), []kernel.Matrix{r.matrix(a), r.matrix(b), r.matrix(c)}[:in.Arity()])
	case ir.Select:
		vec.Select(in.out, a, b, c)
	case ir.Not:
		vec.Affine(in.out, a, -1, 1)
	case ir.And:
		vec.Mul(in.out, a, b)
	case ir.Forward:
		x := make([]float64, len(in.Terms))
		for k := range in.out {
			for i, t := range in.Terms {
				x[i] = r.at[t.Atom][k]
			}
			in.out[k] = ir.ForwardValue(int(in.A), int(in.B), x)
		}
	default:
		panic("graph: an input of a derived program in a model")
	}
}

func (r *rows) matrix(row []float64) kernel.Matrix {
	return kernel.Matrix{Data: row, Rows: 1, Cols: r.n}
}
