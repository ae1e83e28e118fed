package packed

import (
	"encoding/hex"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type inner struct {
	Floats []float64
	Bytes  [][]byte
}

type value struct {
	inner
	Any   fmt.Stringer
	Name  string
	Took  time.Duration
	Yes   bool
	Small *int
	Tree  []value
	own   int
}

func example() value {
	seven := 7
	return value{
		inner: inner{[]float64{math.Copysign(0, -1), math.Inf(1), math.Pi, 5e-324}, [][]byte{{0, 255}, nil, {}}},
		Name:  "θ\x00", Took: -time.Hour, Yes: true, Small: &seven, Tree: []value{{}, {Tree: []value{}}},
	}
}

// What is written comes back, nil as nil and NaN with its bits; what follows is left.
func TestAppendRead(t *testing.T) {
	want := example()
	b := Append([]byte("before"), &want)
	require.Equal(t, example(), want)
	var got value
	rest, err := Read(append(b, "after"...)[len("before"):], &got)
	require.NoError(t, err)
	require.Equal(t, "after", string(rest))
	require.Equal(t, want, got)
	require.Equal(t, math.Float64bits(want.Floats[0]), math.Float64bits(got.Floats[0]))

	nan, x := math.Float64frombits(0xfff8000000000123), 0.
	_, err = Read(Append(nil, &nan), &x)
	require.NoError(t, err)
	require.Equal(t, math.Float64bits(nan), math.Float64bits(x))

	require.Panics(t, func() { Append(nil, &struct{ X map[int]int }{}) })
	mine := value{own: 1}
	require.Equal(t, Append(nil, new(value)), Append(nil, &mine))
}

// These bytes are in files: what changes them makes another format.
func TestBytes(t *testing.T) {
	v := struct {
		A int
		B float64
		C string
		D []bool
		E *int
	}{-3, 1.5, "x", []bool{true, false}, nil}
	require.Equal(t, "05"+"000000000000f83f"+"0278"+"040200"+"01", hex.EncodeToString(Append(nil, &v)))
}

// Bytes that end early are noticed, and none make Read panic or take much memory.
func FuzzRead(f *testing.F) {
	v := example()
	whole := Append(nil, &v)
	for n := range whole {
		var got value
		_, err := Read(whole[:n], &got)
		require.ErrorIs(f, err, ErrLength, n)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		var got value
		if rest, err := Read(b, &got); err == nil {
			again := Append(nil, &got)
			var back value
			left, err := Read(append(again, rest...), &back)
			require.NoError(t, err)
			require.Len(t, left, len(rest))
			require.Equal(t, again, Append(nil, &back))
		}
	})
}
