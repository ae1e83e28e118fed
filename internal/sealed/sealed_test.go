package sealed

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/long"
)

const (
	format = "facet test 2"
	limit  = 1 << 20
)

type value struct {
	Name    string
	Numbers []float64
	Inner   map[string]any
}

var example = value{"θ <&> \u2028\n", []float64{0.1, 1e300, 5e-324, -math.Pi}, map[string]any{"Format": "x", "SHA256": "y"}}

func written(t testing.TB, format string, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, format, v))
	return b.Bytes()
}

// A value comes back equal, from two lines of JSON that a person can read.
func TestWriteRead(t *testing.T) {
	file := written(t, format, example)
	var got value
	require.NoError(t, Read(bytes.NewReader(file), format, limit, &got))
	require.Equal(t, example, got)
	lines := strings.SplitAfter(string(file), "\n")
	require.Len(t, lines, 3)
	require.Regexp(t, `^\{"Format":"facet test 2","Bytes":\d+,"SHA256":"[0-9a-f]{64}"\}\n$`, lines[0])
	require.Equal(t, `{"Name":"θ <&> \u2028\n","Numbers":[0.1,1e+300,5e-324,-3.141592653589793],"Inner":{"Format":"x","SHA256":"y"}}`+"\n", lines[1])
	require.Empty(t, lines[2])
	require.Equal(t, string(file), string(written(t, format, json.RawMessage(lines[1]))))

	require.NoError(t, Read(iotest.OneByteReader(bytes.NewReader(file)), format, limit, &got))
	require.Error(t, Write(new(bytes.Buffer), format, math.NaN()))
	closed, w := io.Pipe()
	require.NoError(t, closed.Close())
	require.ErrorIs(t, Write(w, format, 1), io.ErrClosedPipe)
	for _, n := range []int{0, 10, len(file)} {
		r := io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(io.ErrClosedPipe))
		require.ErrorIs(t, Read(r, format, limit, &got), io.ErrClosedPipe)
	}
	var number float64
	require.ErrorContains(t, Read(bytes.NewReader(file), format, limit, &number), "json: cannot unmarshal")
}

// requireRefused asks that Read says why, and leaves the value alone.
func requireRefused(t testing.TB, want error, file []byte, what ...any) {
	t.Helper()
	got := value{Name: "before"}
	err := Read(bytes.NewReader(file), format, limit, &got)
	for _, e := range []error{ErrFormat, ErrTruncated, ErrTrailing, ErrDamaged, ErrTooLarge} {
		if errors.Is(err, e) != (e == want) {
			require.Equal(t, want, err, what...)
		}
	}
	require.Equal(t, value{Name: "before"}, got)
}

// Every bit that flips is noticed as damage, wherever it is, and every cut as a
// cut; what follows is noticed as well.
func TestEveryChangeIsNoticed(t *testing.T) {
	for _, v := range []any{example, 0, strings.Repeat("long", long.Or(1000, 3000))} {
		file := written(t, format, v)
		for i := range file {
			for bit := range 8 {
				bad := bytes.Clone(file)
				bad[i] ^= 1 << bit
				requireRefused(t, ErrDamaged, bad, "bit %d of byte %d: %q", bit, i, bad)
				if i > 1000 {
					break // one bit of each is enough
				}
			}
			requireRefused(t, ErrTruncated, file[:i], "cut at %d", i)
		}
		for _, more := range []string{"\n", " ", "{}", string(file), strings.Repeat("\x00", limit/2), strings.Repeat("x", 3*limit)} {
			requireRefused(t, ErrTrailing, append(bytes.Clone(file), more...))
		}
	}
}

// A file of another version or kind says so.
func TestFormat(t *testing.T) {
	for _, file := range []string{
		string(written(t, "facet test 3", example)), "no JSON\n", "[1, 2]\n", `{"Format":"facet test 1","Model":{"Latents":["x"]}}` + "\n",
		`{"Format":"facet test 1","Model":"` + strings.Repeat("x", 10000) + `"}` + "\n", strings.Repeat("\x00", 10000), "\n", "null\n",
	} {
		requireRefused(t, ErrFormat, []byte(file), file)
	}
	err := Read(bytes.NewReader(written(t, "facet test 3", example)), format, limit, new(value))
	require.EqualError(t, err, `of another format: "facet test 3", not "facet test 2"`)
	requireRefused(t, ErrTruncated, nil)
	requireRefused(t, ErrDamaged, []byte(`{"Format":"facet test 2","Bytes":-1,"SHA256":""}`+"\n"))
}

// Something large is refused before it takes memory.
func TestLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, which runs the short tests, takes memory of its own")
	}
	body := strings.Repeat("x", limit-3) // and two quotes and a newline
	var back string
	require.NoError(t, Read(bytes.NewReader(written(t, format, body)), format, limit, &back))
	require.Equal(t, body, back)
	requireRefused(t, ErrTooLarge, written(t, format, body+"x"))

	const large = 1 << 30
	honest, _ := line(head{format, large, strings.Repeat("0", 64)})
	small, _ := line(head{format, limit, strings.Repeat("0", 64)})
	for first, want := range map[string]error{"": ErrFormat, string(honest): ErrTooLarge, string(small): ErrDamaged} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := Read(io.MultiReader(strings.NewReader(first), io.LimitReader(xs{}, large)), format, limit, &back)
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, want)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(3*limit))
	}
}

// FuzzRead feeds Read what Write did not write, and what it wrote with a change.
func FuzzRead(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte, at uint, bit byte) {
		files := [][]byte{written(t, format, string(data))}
		var v any
		if Read(bytes.NewReader(data), format, limit, &v) == nil {
			files = append(files, data)
		}
		for _, file := range files {
			at := int(at % uint(len(file)))
			bad := bytes.Clone(file)
			bad[at] ^= 1 << (bit % 8)
			requireRefused(t, ErrDamaged, bad)
			requireRefused(t, ErrTruncated, file[:at])
			requireRefused(t, ErrTrailing, append(append(bytes.Clone(file), bit), data...))
		}
	})
}

// xs are without end.
type xs struct{}

func (xs) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}
