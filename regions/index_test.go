package regions

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/facetvi/facet/internal/long"
)

const manyPlanes = 100_000

// families are sets of many different planes in canonical form, with a structure that could send a lot of them to one cell.
var families = map[string]func(i int) Hyperplane{
	"constants 1, 2, 3":     func(i int) Hyperplane { return axis(float64(i + 1)) },
	"constants 1e-11 apart": func(i int) Hyperplane { return axis(1 + float64(i)*1e-11) },
	"nanoseconds":           func(i int) Hyperplane { return axis(-1.7e18 - 2048*float64(i)) },
	"constants far apart":   func(i int) Hyperplane { return axis(math.Pow(1.005, float64(i-manyPlanes/2))) },
	"slopes":                func(i int) Hyperplane { return pair(0, 1, float64(i+1)/manyPlanes, 0) },
	"slopes and constants":  func(i int) Hyperplane { return pair(0, 1, float64(i%316+1)/317, float64(i/316+1)) },
	"differences":           func(i int) Hyperplane { return pair(i%300, 300+i/300, -1, -1) },
}

// axis returns z0 + constant.
func axis(constant float64) Hyperplane {
	return Hyperplane{Index: []int{0}, Coef: []float64{1}, Const: constant}
}

// pair returns z_i + slope·z_j + constant.
func pair(i, j int, slope, constant float64) Hyperplane {
	return Hyperplane{Index: []int{i, j}, Coef: []float64{1, slope}, Const: constant}
}

// Each plane is new, -3 times it is its negative side, and a search never meets more than a few planes, however many there are.
func TestManyPlanes(t *testing.T) {
	for name, plane := range families {
		if !long.On() && !slices.Contains([]string{"constants 1e-11 apart", "slopes and constants", "differences"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			a := NewArrangement(1000)
			for i := range manyPlanes {
				if side, err := a.Add(plane(i)); err != nil || side != (Side{Plane: i, Positive: true}) {
					t.Fatalf("%v: got %+v, %v, want a new plane %d", plane(i), side, err, i)
				}
			}
			if n := fullest(&a.index); n > 12 {
				t.Fatalf("one cell has %d planes", n)
			}
			for i := range manyPlanes {
				h := plane(i)
				for k := range h.Coef {
					h.Coef[k] *= -3
				}
				h.Const *= -3
				if side, err := a.Add(h); err != nil || side != (Side{Plane: i}) {
					t.Fatalf("%v: got %+v, %v, want the negative side of %d", h, side, err, i)
				}
			}
		})
	}
}

// fullest returns the largest number of planes in one cell.
func fullest(x *index) (most int) {
	for _, next := range x.newest {
		n := 0
		for ; next > 0; next = x.entries[next-1].older {
			n++
		}
		most = max(most, n)
	}
	return most
}

// The edge of a cell may lie anywhere between two forms that coincide; they are found all the same, in every layer. The steps of a run are
// wider than two errors, and much narrower than a cell.
func TestNoEdgeIsMissed(t *testing.T) {
	many := long.Or(20_000, 100_000)
	for layer, c := range []struct {
		relative float64
		planes   int
	}{{0x1p-51, many}, {0x1p-38, many}, {0x1p-26, many}, {0x1p-22, 1000}} {
		for _, direction := range []float64{1, -1} {
			a := NewArrangement(1)
			x := 1.5
			for i := range c.planes {
				e := Rounding{Const: c.relative * x}
				first, err := a.AddRounded(axis(x), e)
				if err != nil || first.Plane != i || a.planes[i].position().layer != layer {
					t.Fatalf("plane %d in layer %d: got %+v in layer %d, %v", i, layer, first, a.planes[i].position().layer, err)
				}
				near, err := a.AddRounded(axis(x*(1+direction*1.75*c.relative)), e)
				if err != nil || near != first {
					t.Fatalf("plane %d, z0 + %v: an edge is between it and what is near", i, x)
				}
				x *= 1 + direction*5*c.relative
			}
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(families)) {
		b.Run(name, func(b *testing.B) {
			planes := make([]Hyperplane, manyPlanes)
			for i := range planes {
				planes[i] = families[name](i)
			}
			b.ReportAllocs()
			for b.Loop() {
				a := NewArrangement(1000)
				for _, h := range planes {
					if _, err := a.Add(h); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/manyPlanes, "ns/plane")
		})
	}
}
