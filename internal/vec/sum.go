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
// rows. That the rows exist is not checked.
func SumRows(dst, x []float64, n int, rows []int32) {
	if useAVX2 && n == lanes && len(rows) > 0 {
		sumRowsAVX2(&dst[0], &x[0], &rows[0], len(rows))
		return
	}
	for _, r := range rows {
		dst[r] = Sum(x[int(r)*n:][:n])
	}
}

// AddSumDotRows adds Σ x to sum[r], and Σ x·y to dot[r], for each row r of x and
// y, which has n numbers.
func AddSumDotRows(sum, dot, x, y []float64, n int) {
	dot, x, y = dot[:len(sum)], x[:len(sum)*n], y[:len(sum)*n]
	if useAVX2 && n > 0 && n%lanes == 0 && len(sum) > 0 {
		addSumDotRowsAVX2(&sum[0], &dot[0], &x[0], &y[0], len(sum), n)
		return
	}
	whole := n &^ (lanes - 1)
	for r := range sum {
		x, y := x[r*n:][:n], y[r*n:][:n]
		s, d := sumLanes(x[:whole]), dotLanes(x[:whole], y[:whole])
		for i := whole; i < n; i++ {
			s += x[i]
			d += float64(x[i] * y[i])
		}
		sum[r] += s
		dot[r] += d
	}
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
