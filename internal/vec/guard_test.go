//go:build unix

package vec

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// edges hands out numbers next to memory that must not be touched: a loop that
// reads or writes beyond them crashes.
type edges struct {
	t    *testing.T
	page int
	maps [][]byte
}

func newEdges(t *testing.T) *edges {
	e := &edges{t: t, page: os.Getpagesize()}
	t.Cleanup(func() {
		for _, m := range e.maps {
			require.NoError(t, syscall.Munmap(m))
		}
	})
	return e
}

// numbers returns n numbers, at the end of their page if last, else at its start.
func (e *edges) numbers(n int, last bool) []float64 {
	m, err := syscall.Mmap(-1, 0, 3*e.page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(e.t, err)
	e.maps = append(e.maps, m)
	require.NoError(e.t, syscall.Mprotect(m[:e.page], syscall.PROT_NONE))
	require.NoError(e.t, syscall.Mprotect(m[2*e.page:], syscall.PROT_NONE))
	require.LessOrEqual(e.t, 8*n, e.page)
	from := e.page
	if last {
		from = 2*e.page - 8*n
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&m[from])), n)
}

// Nothing is read or written outside the slices, at any length.
func TestNothingOutside(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		for _, last := range []bool{true, false} {
			e := newEdges(t)
			for n := 1; n < 36; n++ {
				v := make([][]float64, 6)
				for i := range v {
					v[i] = e.numbers(n, last)
				}
				for _, l := range loops {
					l.run(v[0], v[1], v[2], v[3:])
				}
				const rows = 3
				x, y, dst := e.numbers(rows*n, last), e.numbers(rows*n, last), e.numbers(rows*n, last)
				a, c, few := e.numbers(rows, last), e.numbers(rows, last), e.numbers(1, last)
				FirstExit(e.numbers(3*n+len(v[0]), last), v[0], n, 1, 2)
				FirstExit(e.numbers(3*(n/2)+n, last), v[0], n/2, 1, 2)
				Transpose(dst, rows, x, rows, n)
				square, other := e.numbers(9*n, last), e.numbers(9*n, last)
				Transpose(square, 9, other, 9, n)
				Take(square, other, n, 9, n)
				Sum(x)
				SumRows(a, x, n, []int32{0, 2})
				AddSumDotRows(a, c, x, y, n)
				AffineRows(dst, x, n, a, c)
				StepRows(dst, x, n, []StepRow{{1, 2, 2}, {1, 2, 0}, {1, 2, 1}})
				first, second := []int32{2, 0, 2}, []int32{1, 2, 0}
				MulRows(dst, x, y, n, first, second)
				GatedMulRows(dst, x, y, n, first, second, 2)
				SelectRows(dst, x, y, square[:rows*n], n, first, second, first)
				m := Rows{A: x, B: y, Split: rows}
				AddRows(v[0], x, []int32{0, 2}, a[:2])
				AddSparse(dst, x, n, []int32{0, 2, 2}, []int32{1, 1, 0}, few)
				AddSparse(dst, x, n, []int32{0, 2, 2}, []int32{1, 1, 0}, a)
				AddDots(a, x, y, n, []int32{0, 2, 2}, []int32{1, 1, 0})
				m.Sparse(dst, n, c, []int32{0, 2, 2, 3}, []int32{5, 0, 3}, a)
				for _, path := range normalPaths() {
					by(path, func() { Normals(v[0], [2]uint64{1, 2}) })
				}
			}
		}
	})
}

func TestFill(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		e := newEdges(t)
		for n := range 40 {
			row := e.numbers(n, true)
			Fill(row, 1.7)
			require.Equal(t, slices.Repeat([]float64{1.7}, n), slices.Clone(row), n)
		}
	})
}
