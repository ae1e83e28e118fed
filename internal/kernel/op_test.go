package kernel

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// kernels are one of each kind with fields that have a value to change.
func kernels() []Kernel {
	m := Sparse{Row: RowList{0, 1}, Col: RowList{1, 0}, W: Coefs{1}}
	return []Kernel{
		Gather{Idx: RowList{0, 1}}, Head{Rows: 2}, Scatter{Idx: RowList{0, 1}, Rows: 2},
		WeightedSum{C: Coefs{0}, Coef: []Coefs{{1}, {2}}}, Scale{Coef: Coefs{2}}, Plus{},
		Affine{C: []float64{1}, From: []int32{0, 1}, Ref: []int32{0}, Coef: []float64{2}, Base: [2]int32{1, 1}},
		Reduce{Rows: 2, C: Coefs{0}, M: []Sparse{m}}, Spread{M: m, Rows: 2}, Total{}, Fill{Rows: 2},
		Select{}, Gate{At: 1}, Table{T: []float64{1, 2}},
		Formulas{From: []int32{0, 1, 3}, Ref: []int32{-1, 1, 0}, Base: [2]int32{1, 1}}.Join(),
		Flip{From: []int32{0, 1}, Ref: []int32{0}, Coef: []float64{2}},
		Forward{States: 1, Steps: 2, From: RowList{0}, To: RowList{0}}, ForwardGrad{Forward{States: 1, Steps: 2, From: RowList{0}, To: RowList{0}}},
		LogSum{}, LogSumShare{Of: 1},
		Elementwise{F: Exp}, Slope{F: Exp}, Elementwise{F: Mul}, Slope{F: Pow, Of: 1},
		Elementwise{F: LogOddsBeta}, Slope{F: LogOddsBeta, Of: 1}, GradTimes{C: 1},
	}
}

// The list above has every type with an Eval, so that a new one is tested too.
func TestEveryKernelIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, k := range kernels() {
		listed[reflect.TypeOf(k).Name()] = true
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Name.Name != "Eval" || f.Recv == nil {
				continue
			}
			name := strings.TrimPrefix(fmt.Sprint(f.Recv.List[0].Type), "*")
			require.True(t, listed[name], "kernel %s is not in the test's list", name)
		}
	}
}

func digestOf(k Kernel) string {
	return string(newOp(k, []int{2}, []bool{false}, []bool{true}).digest[:])
}

// Two operations that differ in any field, however deep, are different to
// Gorgonia.
func TestEveryFieldIsIdentity(t *testing.T) {
	seen := map[string]string{}
	unique := func(k Kernel, what string) {
		t.Helper()
		d := digestOf(k)
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have one digest", what, other)
		}
		seen[d] = what
	}
	changes := 0
	for _, k := range kernels() {
		unique(k, fmt.Sprintf("%#v", k))
		v := reflect.New(reflect.TypeOf(k)).Elem()
		v.Set(reflect.ValueOf(k))
		mutate(v, func(what string) {
			changes++
			changed := v.Interface().(Kernel)
			if digestOf(changed) == digestOf(k) {
				t.Errorf("%#v: changing %s changes nothing", k, what)
			}
		})
	}
	require.Greater(t, changes, 40)
}

// mutate changes each number, flag and length below v in turn, calls changed,
// and restores it.
func mutate(v reflect.Value, changed func(what string)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			mutate(v.Field(i), func(what string) { changed(v.Type().Field(i).Name + what) })
		}
	case reflect.Slice:
		old := reflect.ValueOf(v.Interface())
		longer := reflect.MakeSlice(v.Type(), 0, v.Len()+1)
		v.Set(reflect.Append(reflect.AppendSlice(longer, old), reflect.Zero(v.Type().Elem())))
		changed(" length")
		v.Set(old)
		for i := range v.Len() {
			fresh := reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), old)
			v.Set(fresh)
			mutate(v.Index(i), func(what string) { changed(fmt.Sprintf("[%d]%s", i, what)) })
			v.Set(old)
		}
	case reflect.Array:
		for i := range v.Len() {
			mutate(v.Index(i), func(what string) { changed(fmt.Sprintf("[%d]%s", i, what)) })
		}
	case reflect.Bool:
		v.SetBool(!v.Bool())
		changed("")
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int32:
		v.SetInt(v.Int() + 1)
		changed("")
		v.SetInt(v.Int() - 1)
	case reflect.Uint8:
		v.SetUint(v.Uint() + 1)
		changed("")
		v.SetUint(v.Uint() - 1)
	case reflect.Float64:
		x := v.Float()
		v.SetFloat(x + 0x1p-52*(1+x)) // the last bit
		changed("")
		v.SetFloat(x)
	default:
		panic("a kernel has a field of kind " + v.Kind().String() + ", whose print may not be its value")
	}
}

// The operation's own fields count too.
func TestOperandsAreIdentity(t *testing.T) {
	base := newOp(Elementwise{F: Exp}, []int{2}, []bool{false}, []bool{true})
	salted := *base
	salted.salt = 1
	salted.sum()
	for name, o := range map[string]*op{
		"rows":   newOp(Elementwise{F: Exp}, []int{3}, []bool{false}, []bool{true}),
		"scalar": newOp(Elementwise{F: Exp}, []int{2}, []bool{true}, []bool{true}),
		"wrt":    newOp(Elementwise{F: Exp}, []int{2}, []bool{false}, []bool{false}),
		"salt":   &salted,
	} {
		require.NotEqual(t, base.digest, o.digest, name)
	}
}

func input(g *gorgonia.ExprGraph, name string) *gorgonia.Node {
	return gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(2, 2), gorgonia.WithName(name))
}

// Apply gives an equal operation on equal operands back as one node, and
// knows a node that is another operation's, or has other operands.
func TestApplyOpDetectsClash(t *testing.T) {
	g := gorgonia.NewGraph()
	x, y := input(g, "x"), input(g, "y")
	apply := func(k Kernel, in ...*gorgonia.Node) *gorgonia.Node {
		n, err := Apply(k, in, make([]bool, len(in)))
		require.NoError(t, err)
		return n
	}
	n := apply(Elementwise{F: Exp}, x)
	require.Same(t, n, apply(Elementwise{F: Exp}, x))
	require.NotSame(t, n, apply(Elementwise{F: Exp}, y))
	require.NotSame(t, n, apply(Elementwise{F: Sin}, x))
	o := n.Op().(*op)
	require.True(t, isNode(n, o, gorgonia.Nodes{x}))
	require.False(t, isNode(n, o, gorgonia.Nodes{y}), "operand")
	require.False(t, isNode(n, o, gorgonia.Nodes{x, y}), "number of operands")
	require.False(t, isNode(n, newOp(Elementwise{F: Sin}, o.rows, o.scalar, o.wrt), gorgonia.Nodes{x}), "operation")
	require.False(t, isNode(x, o, nil), "input")
	require.False(t, isNode(gorgonia.Must(gorgonia.Square(x)), o, gorgonia.Nodes{x}), "operation of Gorgonia's")
}
