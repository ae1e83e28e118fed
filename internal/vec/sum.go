package vec

// lanes is the number of partial sums: element i goes to lane i mod 16.
const lanes = 16

// Sum is Σ x.
func Sum(x []float64) float64 {
	n, sum := len(x)&^(lanes-1), 0.0
	switch {
	case n == 0:
	case useAVX2:
		sum = sumAVX2(&x[0], n)
	default:
		sum = sumLanes(x[:n])
	}
	for _, v := range x[n:] {
		sum += v
	}
	return sum
}

// SumRows is dst[r] = Σ of row r of x, whose rows have n numbers, for each r in
// rows.
func SumRows(dst, x []float64, n int, rows []int32) {
	if useAVX2 && n == lanes && len(rows) > 0 {
		sumRowsAVX2(&dst[0], &x[0], &rows[0], len(rows))
		return
	}
	for _, r := range rows {
		dst[r] = Sum(x[int(r)*n:][:n])
	}
}

// SumDot is Σ x and Σ x·y.
func SumDot(x, y []float64) (sum, dot float64) {
	y = y[:len(x)]
	n := len(x) &^ (lanes - 1)
	switch {
	case n == 0:
	case useAVX2:
		sum, dot = sumDotAVX2(&x[0], &y[0], n)
	default:
		sum, dot = sumLanes(x[:n]), dotLanes(x[:n], y[:n])
	}
	for i, v := range x[n:] {
		sum += v
		dot += float64(v * y[n+i])
	}
	return sum, dot
}

func sumLanes(x []float64) float64 {
	var l [lanes]float64
	for ; len(x) >= lanes; x = x[lanes:] {
		for j, v := range (*[lanes]float64)(x) {
			l[j] += v
		}
	}
	return total(&l)
}

func dotLanes(x, y []float64) float64 {
	var l [lanes]float64
	for ; len(x) >= lanes; x, y = x[lanes:], y[lanes:] {
		a, b := (*[lanes]float64)(x), (*[lanes]float64)(y)
		for j := range l {
			l[j] += float64(a[j] * b[j])
		}
	}
	return total(&l)
}

// total adds the lanes as the vector loop does: four vectors of four, then the
// halves of what is left.
func total(l *[lanes]float64) float64 {
	var s [4]float64
	for j := range s {
		s[j] = (l[j] + l[4+j]) + (l[8+j] + l[12+j])
	}
	return (s[0] + s[2]) + (s[1] + s[3])
}
