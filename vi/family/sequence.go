package family

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Sequence are the sequential normals with given parents, confined to given sides
// of guards: the family of what Sequential, FromPrecision and Confine return.
type Sequence struct {
	Parents string // of each latent, in JSON: "[[],[0],[0,1]]"
	Sides   string `json:",omitempty"` // a list of Side in JSON; "" if there are none
}

// Name implements Family.
func (Sequence) Name() string { return "sequential" }

// StepSize implements Family.
func (Sequence) StepSize() float64 { return relative }

// AnyData implements DataFree.
func (Sequence) AnyData() {}

// SequenceOf is the Sequence that q is a member of; the zero one if it is of another family.
func SequenceOf(q Q) Sequence {
	f, _ := q.Family().(Sequence)
	return f
}

// ascending reports whether list ascends and lies in [0, n).
func ascending(list []int, n int) bool {
	for k, j := range list {
		if j < 0 || j >= n || k > 0 && j <= list[k-1] {
			return false
		}
	}
	return true
}

// Sequential is the normal whose latents have the given parents, with means 0,
// scales 1 and no correlations. It panics unless the parents of each latent are
// earlier ones, ascending.
func Sequential(parents [][]int) *Normal {
	for i, list := range parents {
		if !ascending(list, i) {
			panic("family: parents that are not earlier latents, ascending")
		}
	}
	return newNormal(Sequence{Parents: newEdges(parents).text()}, parents)
}

// FromPrecision is the normal with the given means and precision matrix P. Latents
// have the parents that this needs: those where the factor U of P = UUᵀ, upper
// triangular, has an entry. It panics unless P is positive definite.
func FromPrecision(mean []float64, precision mat.Symmetric) *Normal {
	n := precision.SymmetricDim()
	if len(mean) != n {
		panic("family: means of another number of latents")
	}
	linked, sd := make([][]bool, n), make([]float64, n)
	for i := range linked {
		linked[i] = make([]bool, i)
		sd[i] = 1 / math.Sqrt(precision.At(i, i))
		for j := range linked[i] {
			linked[i][j] = precision.At(i, j) != 0
		}
	}
	parents := make([][]int, n)
	for i := n - 1; i >= 0; i-- { // what has a later latent in common is linked without it
		for j, yes := range linked[i] {
			if yes {
				for _, k := range parents[i] {
					linked[j][k] = true
				}
				parents[i] = append(parents[i], j)
			}
		}
	}
	q := Sequential(parents)
	q.Place(mean, sd)
	q.Correlate(precision)
	return q
}
