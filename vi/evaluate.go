package vi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/graph"
)

// evaluate returns log r at points that fill puts into the Z and Signs of an
// executor, x.N of them from number first on. Blocks of points are filled
// concurrently, each from a stream of its own.
func evaluate(d *graph.Density, points int, seed uint64, fill func(first int, x *graph.Executor, rng *rand.Rand)) ([]float64, error) {
	cut := splitOf(points, d.Dim())
	n := cut.blocks()
	out := make([]float64, points)
	execs := make([]map[int]*graph.Executor, workers(n))
	err := pool(len(execs), n, func(w, b int) error {
		width := cut.width(b)
		if execs[w] == nil {
			execs[w] = map[int]*graph.Executor{}
		}
		x := execs[w][width]
		if x == nil {
			var err error
			if x, err = d.Executor(width, graph.Compute{Out: true}); err != nil {
				return err
			}
			execs[w][width] = x
		}
		fill(b*cut.size, x, rand.New(stream(seed, b)))
		if err := x.Run(); err != nil {
			return err
		}
		copy(out[b*cut.size:], x.Out)
		return nil
	})
	return out, err
}

// estimate is the mean of values and its standard error. If one of them is −Inf
// so is the mean, without error.
func estimate(values []float64) Estimate {
	var m moments
	for _, v := range values {
		if math.IsInf(v, -1) {
			return Estimate{Mean: v}
		}
		m.add(v)
	}
	return Estimate{m.mean, m.se()}
}

// badLog is the first of log densities that is NaN or +Inf, or −1.
func badLog(logs []float64) int {
	return slices.IndexFunc(logs, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 1) })
}

// checkLogs reports a log density that is NaN or +Inf at draws from q.
func checkLogs(d *graph.Density, q MeanField, logs []float64) error {
	k := badLog(logs)
	if k < 0 {
		return nil
	}
	err := fmt.Errorf("vi: log r is %v at a draw", logs[k])
	if why := blame(d, q); why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}
