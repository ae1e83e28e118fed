package regions

// A backward says how the derivatives of Φ are found: an adjoint for each step, from the last one down. What comes through sums alone is
// a number, the same at all points.
type backward struct {
	constant []float64 // by step: the part of its adjoint that is a number
	varying  []int     // steps whose adjoint has another part
	pulls    []int     // steps that add to it, descending
	reads    []bool    // by step: whether its value is read
}

func newBackward(steps []Step) backward {
	b := backward{constant: make([]float64, len(steps)), reads: make([]bool, len(steps))}
	varies := make([]bool, len(steps))
	b.constant[len(steps)-1] = 1
	for s := len(steps) - 1; s >= 0; s-- {
		x := steps[s]
		if x.Kind == Affine && !varies[s] {
			for _, t := range x.Terms {
				b.constant[t.Of] += b.constant[s] * t.Coef
			}
		} else if x.Kind != Coordinate {
			b.pulls = append(b.pulls, s)
			for o := range x.operands {
				varies[o] = true
			}
		}
		if varies[s] {
			b.varying = append(b.varying, s)
		}
	}
	for s := len(steps) - 1; s >= 0; s-- {
		x := steps[s]
		pulled := x.Kind != Affine && x.Kind != Coordinate // with its own value and those of its operands
		b.reads[s] = b.reads[s] || pulled && x.Kind != Times
		for o := range x.operands {
			b.reads[o] = b.reads[o] || b.reads[s] || pulled
		}
	}
	return b
}
