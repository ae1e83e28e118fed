package graph

import (
	"crypto/sha256"
	bits "encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"reflect"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An op is a kernel as a Gorgonia operation: a function of matrices of float64
// that can be differentiated symbolically. Operands with one column stand for
// matrices with equal columns.
type op struct {
	k      kernel
	rows   []int  // rows of each operand
	scalar []bool // which operands are scalars rather than matrices
	wrt    []bool // which operands depend on the latents
	digest [sha256.Size]byte
	salt   int
}

func newOp(k kernel, rows []int, scalar, wrt []bool) *op {
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
			writeNumbers(h, v.Convert(reflect.TypeFor[[]int32]()).Interface())
		case reflect.Float64:
			writeNumbers(h, v.Convert(reflect.TypeFor[[]float64]()).Interface())
		default:
			for i := range v.Len() {
				writeFields(h, v.Index(i))
			}
		}
	default:
		fmt.Fprintf(h, "%v,", v)
	}
}

func writeNumbers(h hash.Hash, v any) {
	b, err := bits.Append(nil, bits.LittleEndian, v)
	if err != nil {
		panic("graph: a kernel's field has no binary form: " + err.Error())
	}
	h.Write(b)
}

func (o *op) Arity() int { return len(o.rows) }

func (o *op) Type() hm.Type {
	matrix := hm.Type(gorgonia.TensorType{Dims: 2, Of: tensor.Float64})
	types := make([]hm.Type, 0, len(o.rows)+1)
	for _, scalar := range o.scalar {
		if scalar {
			types = append(types, tensor.Float64)
		} else {
			types = append(types, matrix)
		}
	}
	if o.isTotal() {
		return hm.NewFnType(append(types, tensor.Float64)...)
	}
	return hm.NewFnType(append(types, matrix)...)
}

func (o *op) isTotal() bool {
	_, ok := o.k.(total)
	return ok
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
	return tensor.Shape{o.k.outRows(o.rows), cols}, nil
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
		x, err := toMat(in[0], o.rows[0], cols)
		if err != nil {
			return nil, err
		}
		out := mat{make([]float64, 1), 1, 1}
		o.k.eval(out, []mat{x})
		return gorgonia.NewF64(out.v[0]), nil
	}
	rows := o.k.outRows(o.rows)
	out := tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(make([]float64, rows*cols)))
	return out, o.doInto(out, cols, in)
}

func (o *op) doInto(out *tensor.Dense, cols int, in []gorgonia.Value) error {
	mats := make([]mat, len(in))
	for i, v := range in {
		x, err := toMat(v, o.rows[i], cols)
		if err != nil {
			return err
		}
		mats[i] = x
	}
	v, ok := out.Data().([]float64)
	if rows := o.k.outRows(o.rows); !ok || len(v) != rows*cols {
		return fmt.Errorf("graph: %v: output of %v, want %d × %d numbers", o, out.Shape(), rows, cols)
	}
	o.k.eval(mat{v, o.k.outRows(o.rows), cols}, mats)
	return nil
}

// UsePreallocDo writes the result into prealloc.
func (o *op) UsePreallocDo(prealloc gorgonia.Value, in ...gorgonia.Value) (gorgonia.Value, error) {
	out, ok := prealloc.(*tensor.Dense)
	if !ok {
		return o.Do(in...)
	}
	cols := 1
	if len(out.Shape()) == 2 {
		cols = out.Shape()[1]
	}
	return out, o.doInto(out, cols, in)
}

// toMat views a value as a matrix; a static one is spread to cols.
func toMat(v gorgonia.Value, rows, cols int) (mat, error) {
	switch d := v.Data().(type) {
	case float64:
		return mat{[]float64{d}, 1, 1}, nil
	case []float64:
		switch len(d) {
		case rows * cols:
			return mat{d, rows, cols}, nil
		case rows:
			wide := mat{make([]float64, rows*cols), rows, cols}
			spreadColumns(wide, d)
			return wide, nil
		}
	}
	return mat{}, fmt.Errorf("graph: operand of shape %v, want %d × %d", v.Shape(), rows, cols)
}

// spreadColumns copies each number of v into all of its row of dst.
func spreadColumns(dst mat, v []float64) {
	for r, x := range v {
		row := dst.v[r*dst.cols : (r+1)*dst.cols]
		for i := range row {
			row[i] = x
		}
	}
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
func (o *op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// String is the kernel's name, with its function if it has one.
func (o *op) String() string {
	switch k := o.k.(type) {
	case unary:
		return k.F.String()
	case binary:
		return k.F.String()
	case slope:
		return "slope of " + k.F.String()
	case slope2:
		return "slope of " + k.F.String()
	}
	return kernelName(o.k)
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
		k, refs := o.k.diff(j, diffArgs{o.rows})
		if k == nil {
			d[j] = grad
			continue
		}
		operands := make(gorgonia.Nodes, len(refs))
		for i, ref := range refs {
			switch ref {
			case refGrad:
				operands[i] = grad
			case refOut:
				operands[i] = out
			default:
				operands[i] = in[ref]
			}
		}
		n, err := applyOp(k, operands, make([]bool, len(refs)))
		if err != nil {
			return nil, err
		}
		if t, ok := k.(affine); ok { // its working rows are no gradient
			last := firstRows(o.rows[j]).shift(len(t.C) - o.rows[j])
			if n, err = applyOp(gather{Idx: last}, gorgonia.Nodes{n}, []bool{false}); err != nil {
				return nil, err
			}
		}
		d[j] = n
	}
	return d, nil
}

func firstRows(n int) rowList {
	l := make(rowList, n)
	for i := range l {
		l[i] = int32(i)
	}
	return l
}

var errHashClash = errors.New("graph: Gorgonia merged two different nodes")

// applyOp makes a node and checks that Gorgonia, which knows nodes by a hash of
// 32 bits, has not given back another one.
func applyOp(k kernel, operands gorgonia.Nodes, wrt []bool) (*gorgonia.Node, error) {
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
			return nil, fmt.Errorf("graph: %v: %w", o, err)
		}
		if isNode(n, o, operands) {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%w: %v", errHashClash, o)
}

func isNode(n *gorgonia.Node, o *op, operands gorgonia.Nodes) bool {
	got, ok := n.Op().(*op)
	if !ok || got.digest != o.digest {
		return false
	}
	kids := childrenOf(n)
	if len(kids) != len(operands) {
		return false
	}
	for i, c := range kids {
		if c != operands[i] {
			return false
		}
	}
	return true
}

// childrenOf lists the operands of n in order.
func childrenOf(n *gorgonia.Node) gorgonia.Nodes {
	it := n.Graph().From(n.ID())
	if it == nil {
		return nil
	}
	var kids gorgonia.Nodes
	for it.Next() {
		kids = append(kids, it.Node().(*gorgonia.Node))
	}
	return kids
}
