package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An op is a kernel as a Gorgonia operation: a function of matrices of float64
// that can be differentiated symbolically. Operands with one column stand for
// matrices with equal columns.
type op struct {
	k      Kernel
	rows   []int  // rows of each operand
	scalar []bool // which operands are scalars rather than matrices
	wrt    []bool // which operands depend on the latents
	digest [sha256.Size]byte
	salt   int
}

func newOp(k Kernel, rows []int, scalar, wrt []bool) *op {
	o := &op{k: k, rows: rows, scalar: scalar, wrt: wrt}
	o.sum()
	return o
}

// sum makes the digest of everything that tells this operation from others.
func (o *op) sum() {
	h := sha256.New()
	fmt.Fprintf(h, "%T %v %v %v %d", o.k, o.rows, o.scalar, o.wrt, o.salt)
	writeFields(h, reflect.ValueOf(o.k))
	h.Sum(o.digest[:0])
}

// writeFields writes every field of a kernel, so that none can be forgotten.
func writeFields(h hash.Hash, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fmt.Fprintf(h, "|%d:", i)
			writeFields(h, v.Field(i))
		}
	case reflect.Slice:
		fmt.Fprintf(h, "%d,", v.Len())
		switch v.Type().Elem().Kind() {
		case reflect.Int32:
			writeNumbers(h, v.Convert(reflect.TypeFor[[]int32]()).Interface().([]int32), func(b []byte, x int32) []byte {
				return binary.LittleEndian.AppendUint32(b, uint32(x))
			})
		case reflect.Float64:
			writeNumbers(h, v.Convert(reflect.TypeFor[[]float64]()).Interface().([]float64), func(b []byte, x float64) []byte {
				return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
			})
		default:
			for i := range v.Len() {
				writeFields(h, v.Index(i))
			}
		}
	default:
		fmt.Fprintf(h, "%v,", v)
	}
}

// writeNumbers writes x, each number by put.
func writeNumbers[T any](h hash.Hash, x []T, put func(b []byte, x T) []byte) {
	b := make([]byte, 0, 1<<12)
	for _, v := range x {
		if b = put(b, v); len(b)+8 > cap(b) {
			h.Write(b)
			b = b[:0]
		}
	}
	h.Write(b)
}

func (o *op) Arity() int { return len(o.rows) }

func (o *op) Type() hm.Type {
	types := make([]hm.Type, 0, len(o.rows)+1)
	for _, scalar := range append(slices.Clone(o.scalar), o.isTotal()) {
		if scalar {
			types = append(types, tensor.Float64)
		} else {
			types = append(types, gorgonia.TensorType{Dims: 2, Of: tensor.Float64})
		}
	}
	return hm.NewFnType(types...)
}

// isTotal reports whether the result is a scalar.
func (o *op) isTotal() bool {
	_, ok := o.k.(Total)
	return ok
}

// outRows is the number of rows of the result.
func (o *op) outRows() int {
	if k, ok := o.k.(shaped); ok {
		return k.outRows(o.rows)
	}
	return o.rows[0]
}

// InferShape returns (rows, columns); the columns are those of the widest
// operand.
func (o *op) InferShape(in ...gorgonia.DimSizer) (tensor.Shape, error) {
	if o.isTotal() {
		return tensor.ScalarShape(), nil
	}
	cols := 1
	for i, d := range in {
		if o.scalar[i] {
			continue
		}
		c, err := d.DimSize(1)
		if err != nil {
			return nil, err
		}
		cols = max(cols, c)
	}
	return tensor.Shape{o.outRows(), cols}, nil
}

// Do runs the kernel on freshly allocated output, for Gorgonia's own machines.
func (o *op) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	cols := 1
	for i, v := range in {
		if !o.scalar[i] {
			cols = max(cols, v.Shape()[1])
		}
	}
	if o.isTotal() {
		out := NewMatrix(1, 1)
		err := o.eval(out, cols, in)
		return gorgonia.NewF64(out.Data[0]), err
	}
	out := NewMatrix(o.outRows(), cols)
	return tensor.New(tensor.WithShape(out.Rows, cols), tensor.WithBacking(out.Data)), o.eval(out, cols, in)
}

// eval runs the kernel on operands of cols columns.
func (o *op) eval(out Matrix, cols int, in []gorgonia.Value) error {
	x := make([]Matrix, len(in))
	for i, v := range in {
		var err error
		if x[i], err = MatrixOf(v, o.rows[i], cols); err != nil {
			return err
		}
	}
	o.k.Eval(out, x)
	return nil
}

// MatrixOf views a value of Gorgonia's as a matrix of cols columns. One that is
// the same for all samples is spread.
func MatrixOf(v gorgonia.Value, rows, cols int) (Matrix, error) {
	switch d := v.Data().(type) {
	case float64:
		return Column([]float64{d}), nil
	case []float64:
		switch len(d) {
		case rows * cols:
			return Matrix{d, rows, cols}, nil
		case rows:
			wide := NewMatrix(rows, cols)
			wide.SetConstant(d)
			return wide, nil
		}
	}
	return Matrix{}, fmt.Errorf("kernel: operand of shape %v, want %d × %d", v.Shape(), rows, cols)
}

// ReturnsPtr says that results are pointers to new tensors.
func (o *op) ReturnsPtr() bool { return true }

// CallsExtern says that nothing outside Go is called.
func (o *op) CallsExtern() bool { return false }

// OverwritesInput says that no operand is overwritten.
func (o *op) OverwritesInput() int { return -1 }

// WriteHash writes the operation's identity.
func (o *op) WriteHash(h hash.Hash) { h.Write(o.digest[:]) }

// Hashcode is a hash of the operation's identity.
func (o *op) Hashcode() uint32 { return binary.LittleEndian.Uint32(o.digest[:]) }

// String is the kernel's name, or that of its function if it has one.
func (o *op) String() string {
	switch k := o.k.(type) {
	case Elementwise:
		return k.F.String()
	case Slope:
		return "slope of " + k.F.String()
	}
	name := reflect.TypeOf(o.k).Name()
	return strings.ToLower(name[:1]) + name[1:]
}

// DiffWRT says which operands depend on the latents.
func (o *op) DiffWRT(int) []bool { return o.wrt }

// SymDiff builds the derivative with respect to each operand.
func (o *op) SymDiff(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	d := make(gorgonia.Nodes, len(in))
	for j := range in {
		if !o.wrt[j] {
			continue
		}
		var err error
		if d[j], err = o.symDiff(j, in, out, grad); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// symDiff builds the derivative with respect to operand j.
func (o *op) symDiff(j int, in gorgonia.Nodes, out, grad *gorgonia.Node) (*gorgonia.Node, error) {
	f, ok := o.k.(differentiable)
	if !ok {
		return nil, fmt.Errorf("kernel: %v has no derivative", o)
	}
	d := f.diff(j, o.rows)
	if d.k == nil {
		return grad, nil
	}
	operands := make(gorgonia.Nodes, len(d.of))
	for i, x := range d.of {
		switch x {
		case upstream:
			operands[i] = grad
		case result:
			operands[i] = out
		default:
			operands[i] = in[x]
		}
	}
	n, err := Apply(d.k, operands, make([]bool, len(operands)))
	if t, ok := d.k.(Affine); ok && err == nil { // its working rows are no gradient
		last := RowRange(len(t.C)-o.rows[j], o.rows[j])
		return Apply(Gather{Idx: last}, gorgonia.Nodes{n}, []bool{false})
	}
	return n, err
}

var errHashClash = errors.New("kernel: Gorgonia merged two different nodes")

// Apply makes a node of kernel k and its operands, or returns the equal one that
// there is. wrt tells which operands depend on what gorgonia.Grad
// differentiates by.
//
// Gorgonia knows nodes by a hash of 32 bits. Apply checks that it has not given
// back another node; if so, it tries again with another hash.
func Apply(k Kernel, operands gorgonia.Nodes, wrt []bool) (*gorgonia.Node, error) {
	rows := make([]int, len(operands))
	scalar := make([]bool, len(operands))
	for i, n := range operands {
		rows[i] = 1
		if scalar[i] = n.IsScalar(); !scalar[i] {
			rows[i] = n.Shape()[0]
		}
	}
	o := newOp(k, rows, scalar, wrt)
	for ; o.salt < 8; o.salt++ {
		if o.salt > 0 {
			o.sum()
		}
		n, err := gorgonia.ApplyOp(o, operands...)
		if err != nil {
			return nil, fmt.Errorf("kernel: %v: %w", o, err)
		}
		if isNode(n, o, operands) {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%w: %v", errHashClash, o)
}

// isNode reports whether n is operation o of the operands.
func isNode(n *gorgonia.Node, o *op, operands gorgonia.Nodes) bool {
	got, ok := n.Op().(*op)
	return ok && got.digest == o.digest && slices.Equal(Operands(n), operands)
}

// Of is the kernel of a node with operands: one that Apply made, or Plus for
// Gorgonia's own sum of gradients.
func Of(n *gorgonia.Node) (Kernel, error) {
	if o, ok := n.Op().(*op); ok {
		return o.k, nil
	}
	if n.Op().String() == "+ false" {
		return Plus{}, nil
	}
	return nil, fmt.Errorf("kernel: Gorgonia's %v has no kernel", n.Op())
}

// Operands lists the operands of n in order.
func Operands(n *gorgonia.Node) gorgonia.Nodes {
	it := n.Graph().From(n.ID())
	if it == nil {
		return nil
	}
	var list gorgonia.Nodes
	for it.Next() {
		list = append(list, it.Node().(*gorgonia.Node))
	}
	return list
}
