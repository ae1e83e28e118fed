package graph

import (
	gonum "gonum.org/v1/gonum/mat"
)

// copies is the distance between the copies of a latent: copy k of latent i is
// coordinate k·copies + i.
const copies = 1 << 10

// Copy is x with copy k of each of its latents in the latent's place. Guards on
// different copies are different hyperplanes, even where those of the latents
// themselves coincide: the mistake that merging avoids. The model must have
// fewer than 1024 latents, and be compiled by CompileCopies.
func Copy(x Expr, k int) Expr {
	w := rewriter{m: x.m, sub: Substitution{
		Latent: func(i int) (Expr, bool) { return Expr{m: x.m, id: x.m.st.leaf(kLatent, k*copies+i)}, true },
	}, done: map[nodeID]nodeID{}}
	return Expr{m: x.m, id: w.rewrite(x.id)}
}

// CompileCopies compiles m with every copy of a latent in the latent's place
// again, and all its hyperplanes.
func CompileCopies(m *Model) (*Density, error) {
	apart, err := m.arrangement(copies*(len(m.guards)+1), m.arr.Len())
	if err != nil {
		return nil, err
	}
	arr, err := apart.PushForward(make([]float64, apart.Dim()), together{apart.Dim(), len(m.latents)})
	if err != nil {
		return nil, err
	}
	return m.compile(arr)
}

// together is the matrix that gives every copy of a latent the latent's value.
type together struct{ rows, cols int }

func (t together) Dims() (r, c int) { return t.rows, t.cols }
func (t together) T() gonum.Matrix  { return gonum.Transpose{Matrix: t} }
func (t together) At(i, j int) float64 {
	if i%copies == j {
		return 1
	}
	return 0
}
