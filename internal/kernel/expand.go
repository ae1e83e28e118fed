package kernel

import "math"

// Expand is f at x, one or two numbers, and writes the derivatives there to slope, len(x), and the second ones to
// curvature, len(x)×len(x): these are central differences of the slopes, good to about 1e-8. Of numbers that do not
// vary it leaves out both. What f has no value or slope at is NaN or infinite.
func (f Function) Expand(x []float64, varies []bool, slope, curvature []float64) (y float64) {
	const step = 1e-5
	y = f.valueAt(x)
	n := len(x)
	for i := range n {
		slope[i] = 0
		if varies[i] {
			slope[i] = f.slopeBy(i, x, y)
		}
	}
	clear(curvature[:n*n])
	for j := range n {
		if !varies[j] {
			continue
		}
		at, h := x[j], step*(math.Abs(x[j])+1e-3)
		x[j] = at + h
		up, over := x[j], f.valueAt(x)
		for i := range j + 1 {
			if varies[i] {
				curvature[i*n+j] = f.slopeBy(i, x, over)
			}
		}
		x[j] = at - h
		down, under := x[j], f.valueAt(x)
		for i := range j + 1 {
			if varies[i] {
				curvature[i*n+j] = (curvature[i*n+j] - f.slopeBy(i, x, under)) / (up - down)
				curvature[j*n+i] = curvature[i*n+j]
			}
		}
		x[j] = at
	}
	return y
}

// valueAt is f of one or two numbers.
func (f Function) valueAt(x []float64) float64 {
	if len(x) == 1 {
		return f.Value(x[0])
	}
	return f.Value2(x[0], x[1])
}

// slopeBy is ∂f/∂x_i, given also y = f(x).
func (f Function) slopeBy(i int, x []float64, y float64) float64 {
	switch {
	case len(x) == 1:
		return f.Slope(x[0], y)
	case f == Mul || f == MulData:
		return x[1-i]
	}
	return functions[f].slopes[i](x[0], x[1], y)
}
