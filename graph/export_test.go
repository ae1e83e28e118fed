package graph

import (
	gonum "gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/regions"
)

// copies is where the hyperplanes of different guards are kept apart: guard k
// is on coordinates of its own, k·copies + i for latent i.
const copies = 1 << 10

// KeepCoincident makes every comparison of m a hyperplane of its own, even where
// two have the same zero set: the mistake that merging avoids. Call it before
// building m, which must have fewer than 1024 latents.
func KeepCoincident(m *Model) {
	m.addPlane = func(h regions.Hyperplane) (regions.Side, error) {
		for k := range h.Index {
			h.Index[k] += copies * len(m.guards)
		}
		return m.arr.Add(h)
	}
	m.arrange = func(dim int) (*regions.Arrangement, error) {
		apart := regions.NewArrangement(copies * len(m.guards))
		for _, h := range m.arr.Planes() {
			if _, err := apart.Add(h); err != nil {
				return nil, err
			}
		}
		return apart.PushForward(make([]float64, apart.Dim()), together{apart.Dim(), dim})
	}
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
