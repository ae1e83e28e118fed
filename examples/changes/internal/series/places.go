package series

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/vi"
)

// drawsOf are how many draws are taken: fewer of long series.
func drawsOf(rows int) int { return max(250, min(4000, 400_000/rows)) }

// A history is what draws of one number of changes say: after has, for each change, the probability that it has been by each row, draws
// × rows, and level the draws of each level.
type history struct {
	after []*mat.Dense
	level [][]float64
}

func historyOf(fit *vi.Posterior, changes, n int, seed uint64) (h history, err error) {
	p, err := fit.Predict(n, seed)
	if err != nil {
		return h, err
	}
	for k := range changes + 1 {
		level, err := p.Latents.Of(fmt.Sprintf("level[%d]", k))
		if err != nil {
			return h, err
		}
		h.level = append(h.level, level)
		if k == 0 {
			continue
		}
		in, err := p.Of(state(k))
		if err != nil {
			return h, err
		}
		for _, earlier := range h.after { // who is after change k is after those before it
			earlier.Add(earlier, in)
		}
		h.after = append(h.after, in)
	}
	return h, nil
}

// places finds changes and levels of the most probable number of changes.
func (r *Result) places(seed uint64) error {
	n := drawsOf(r.Rows)
	h, err := historyOf(r.Models.Models[r.Most].Fit, r.Most, n, seed)
	if err != nil {
		return err
	}
	for _, level := range h.level {
		r.Levels = append(r.Levels, intervalOf(level))
	}
	change := make([]float64, r.Rows)
	for k, after := range h.after {
		by := make([]float64, r.Rows) // probability that the change has been by each row
		for i := range by {
			by[i] = stat.Mean(mat.Col(nil, i, after), nil)
		}
		c := Change{Difference: intervalOf(combine(h.level[k+1], h.level[k], func(a, b float64) float64 { return a - b })),
			Ratio: intervalOf(combine(h.level[k+1], h.level[k], func(a, b float64) float64 { return a / b }))}
		for i := 1; i < r.Rows; i++ {
			p := by[i] - by[i-1]
			change[i] += p
			if p > c.Probability {
				c.Probability, c.Last, c.First = p, r.Series.Label[i-1], r.Series.Label[i]
			}
			if by[i] < 0.05 {
				continue
			}
			if c.From == "" {
				c.From = r.Series.Label[i]
			}
			if by[i-1] < 0.95 {
				c.To = r.Series.Label[i]
			}
		}
		r.Changes = append(r.Changes, c)
	}
	r.rows(h, change, seed)
	return nil
}

// rows draws the level of each row.
func (r *Result) rows(h history, change []float64, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	level := make([]float64, len(h.level[0]))
	for i := range r.Rows {
		for d := range level {
			u, k := rng.Float64(), 0
			for k < len(h.after) && u < h.after[k].At(d, i) {
				k++
			}
			level[d] = h.level[k][d]
		}
		row := Row{X: r.Series.Label[i], Level: intervalOf(level), Change: change[i]}
		if y := r.Series.Y[i]; y == y {
			row.Y = &r.Series.Y[i]
		}
		r.Row = append(r.Row, row)
	}
}

// forecast predicts rows after the last.
func (r *Result) forecast(ahead int, seed uint64) error {
	if ahead == 0 {
		return nil
	}
	p, err := r.Models.Predict(drawsOf(r.Rows+ahead), seed)
	if err != nil {
		return err
	}
	y, err := p.Of("y")
	if err != nil {
		return err
	}
	for i := range ahead {
		r.Next = append(r.Next, intervalOf(mat.Col(nil, r.Rows+i, y)))
	}
	return nil
}

func combine(a, b []float64, f func(a, b float64) float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = f(a[i], b[i])
	}
	return out
}

func intervalOf(x []float64) Interval {
	s := slices.Sorted(slices.Values(x))
	return Interval{stat.Mean(s, nil), stat.Quantile(0.05, stat.Empirical, s, nil), stat.Quantile(0.95, stat.Empirical, s, nil)}
}
