package family

import "math"

// boxes tell fast that most parts of a mixture have no density at a point: by those
// of their sides that bound one latent by a number.
type boxes struct {
	from []int // of each part, and the end
	list []boxSide
}

// A boxSide is the interval of a latent, wider by more than what rounding lets in.
type boxSide struct {
	latent int
	lo, hi float64
}

func newBoxes(parts []Q) (f boxes) {
	wider := func(at float64) float64 { return 1e-12*math.Abs(at) + 1e-300 }
	f.from, f.list = make([]int, 0, len(parts)+1), make([]boxSide, 0, len(parts))
	for _, q := range parts {
		f.from = append(f.from, len(f.list))
		c, ok := q.(*confined)
		if !ok {
			continue
		}
		for _, r := range c.truncations {
			if r == nil {
				continue
			}
			x := boxSide{r.latent, math.Inf(-1), math.Inf(1)}
			for _, b := range r.floors {
				if len(b.Index) == 1 {
					x.lo = max(x.lo, b.at-wider(b.at))
				}
			}
			for _, b := range r.ceilings {
				if len(b.Index) == 1 {
					x.hi = min(x.hi, b.at+wider(b.at))
				}
			}
			f.list = append(f.list, x)
		}
	}
	f.from = append(f.from, len(f.list))
	return f
}

// outside reports whether part k has no density at z, as far as its boxes tell.
func (f *boxes) outside(k int, z []float64) bool {
	for _, x := range f.list[f.from[k]:f.from[k+1]] {
		if v := z[x.latent]; v < x.lo || v > x.hi {
			return true
		}
	}
	return false
}
