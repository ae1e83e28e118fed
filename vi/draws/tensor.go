package draws

import (
	"archive/zip"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"
)

// Dense is a copy of the draws as a matrix, draws × Names; empty if there are
// no draws.
func (d Draws) Dense() *mat.Dense {
	if len(d.Values) == 0 {
		return &mat.Dense{}
	}
	m := mat.NewDense(len(d.Values), len(d.Names), nil)
	for k, row := range d.Values {
		m.SetRow(k, row)
	}
	return m
}

// Tensor is a copy of the draws as a tensor of shape draws × Names.
func (d Draws) Tensor() *tensor.Dense {
	all := make([]int, len(d.Names))
	for i := range all {
		all[i] = i
	}
	return dense(d.Values, array{dims: []int{len(all)}, columns: all})
}

// dense holds the draws of an array: draws × its own lengths.
func dense(rows [][]float64, f array) *tensor.Dense {
	backing := make([]float64, 0, len(rows)*len(f.columns))
	for _, row := range rows {
		for _, i := range f.columns {
			backing = append(backing, row[i])
		}
	}
	shape := append([]int{len(rows)}, f.dims...)
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
}

// WriteNPZ writes the draws in NumPy's .npz format, for numpy.load: an array of
// 64-bit floats for each latent and each component of a vector, of shape (draws,). Latents whose names are
// consecutive elements, theta[0], theta[1], …, are one array theta of shape
// (draws, k), and so on for more indices; its first element is the one with the
// lowest index.
func (d Draws) WriteNPZ(w io.Writer) error {
	if len(d.Values) == 0 {
		return fmt.Errorf("draws: no draws to write")
	}
	z := zip.NewWriter(w)
	for _, f := range arraysOf(d.Names) {
		entry, err := z.Create(f.name + ".npy")
		if err != nil {
			return fmt.Errorf("draws: %s: %w", f.name, err)
		}
		if err := dense(d.Values, f).WriteNpy(entry); err != nil {
			return fmt.Errorf("draws: %s: %w", f.name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("draws: %w", err)
	}
	return nil
}
