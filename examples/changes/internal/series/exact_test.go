package series

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"
)

// exact are log evidences of no to most changes, and for each number of changes the probabilities that a change, of any order, is
// before each row, by dynamic programming over the gaps: segment is the log evidence of rows from … to − 1.
func exact(n, most int, segment func(from, to int) float64) (evidence []float64, change [][]float64) {
	seg := make([][]float64, n)
	for i := range seg {
		seg[i] = make([]float64, n+1)
		for j := i + 1; j <= n; j++ {
			seg[i][j] = segment(i, j)
		}
	}
	// left[k][j] is the log sum over k changes in the rows before j, right[k][i] over those from i on
	left, right := table(most+1, n+1), table(most+1, n+1)
	for j := 1; j <= n; j++ {
		left[0][j], right[0][n-j] = seg[0][j], seg[n-j][n]
	}
	for k := 1; k <= most; k++ {
		for j := 1; j <= n; j++ {
			var a, b []float64
			for i := 1; i < j; i++ {
				a = append(a, left[k-1][i]+seg[i][j])
				b = append(b, seg[n-j][n-i]+right[k-1][n-i])
			}
			if a != nil {
				left[k][j], right[k][n-j] = floats.LogSumExp(a), floats.LogSumExp(b)
			}
		}
	}
	for k := range most + 1 {
		evidence = append(evidence, left[k][n]-combin.LogGeneralizedBinomial(float64(n-1), float64(k)))
		p := make([]float64, n)
		for i := 1; i < n; i++ {
			for before := range k {
				p[i] += math.Exp(left[before][i] + right[k-1-before][i] - left[k][n])
			}
		}
		change = append(change, p)
	}
	return evidence, change
}

func table(rows, columns int) [][]float64 {
	t := make([][]float64, rows)
	for i := range t {
		t[i] = make([]float64, columns)
		for j := range t[i] {
			t[i][j] = math.Inf(-1)
		}
	}
	return t
}

// poissonSegments are those of counts whose rate is exponential.
func poissonSegments(y []float64, rate float64) func(from, to int) float64 {
	return func(from, to int) float64 {
		shape, total, fixed := 1.0, rate, math.Log(rate)
		for _, v := range y[from:to] {
			if !math.IsNaN(v) {
				g, _ := math.Lgamma(v + 1)
				shape, total, fixed = shape+v, total+1, fixed-g
			}
		}
		g, _ := math.Lgamma(shape)
		return fixed + g - shape*math.Log(total)
	}
}

// bernoulliSegments are those of 0 and 1 with a uniform probability.
func bernoulliSegments(y []float64) func(from, to int) float64 {
	return func(from, to int) float64 {
		a, b := 1.0, 1.0
		for _, v := range y[from:to] {
			if !math.IsNaN(v) {
				a, b = a+v, b+1-v
			}
		}
		x, _ := math.Lgamma(a)
		z, _ := math.Lgamma(b)
		total, _ := math.Lgamma(a + b)
		return x + z - total
	}
}

// normalSegments are those of normal rows of the given noise.
func normalSegments(y []float64, p prior, noise float64) func(from, to int) float64 {
	return func(from, to int) float64 {
		n, sum, squares := 0.0, 0.0, 0.0
		for _, v := range y[from:to] {
			if !math.IsNaN(v) {
				v -= p.center
				n, sum, squares = n+1, sum+v, squares+v*v
			}
		}
		precision := 1/(p.spread*p.spread) + n/(noise*noise)
		mean := sum / (noise * noise) / precision
		return -n*math.Log(noise*math.Sqrt(2*math.Pi)) - math.Log(p.spread*math.Sqrt(precision)) - (squares/(noise*noise)-mean*mean*precision)/2
	}
}

// exactNormal sums over the noise too, by the trapezoidal rule in its logarithm.
func exactNormal(y []float64, p prior, most int) (evidence []float64, change [][]float64) {
	const nodes, step = 61, 0.05
	logs, changes := table(most+1, nodes), make([][][]float64, nodes)
	for a := range nodes {
		z := float64(a-nodes/2) * step // around the noise that neighbours have
		e, c := exact(len(y), most, normalSegments(y, p, p.noise*math.Exp(z)))
		for k := range e {
			logs[k][a] = e[k] - z*z/2 - math.Log(math.Sqrt(2*math.Pi)) + math.Log(step)
		}
		changes[a] = c
	}
	for k := range most + 1 {
		evidence = append(evidence, floats.LogSumExp(logs[k]))
		p := make([]float64, len(y))
		for a := range nodes {
			floats.AddScaled(p, math.Exp(logs[k][a]-evidence[k]), changes[a][k])
		}
		change = append(change, p)
	}
	return evidence, change
}

// chances are the probabilities of numbers of changes.
func chances(evidence []float64) []float64 {
	logs := make([]float64, len(evidence))
	for k := range logs {
		logs[k] = evidence[k] - float64(k)*math.Ln2
	}
	total := floats.LogSumExp(logs)
	for k := range logs {
		logs[k] = math.Exp(logs[k] - total)
	}
	return logs
}
