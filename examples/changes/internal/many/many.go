// Package many asks each of many series whether it changed, once, and where: in a few milliseconds each, since one program is fitted to
// all that have as many rows. The time of the change is a latent, and whether there is one is part of it:
//
//	when ~ Uniform(0, E)     row t is of the new level if when < t; after the last row there is no change
//	|----|----|----|----|---------------------------|
//	0    1    2   …  rows−1      no change          E = (rows − 1)/prior
//
// A row may have several numbers, as runs of one benchmark at one commit.
package many

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/changes/internal/series"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// A Set is one series: of each row the numbers, NaN where they are missing.
type Set struct {
	Key  string
	Rows [][]float64
}

// Settings say what to ask.
type Settings struct {
	Likelihood series.Likelihood
	Prior      float64 // probability of a change beforehand
	Vi         vi.Settings
}

// Found is the answer for one series. But for the probability it is of what there is if there is a change, and empty if that has a
// probability below 0.1.
type Found struct {
	Key         string
	Probability float64 // of a change
	Row         int     // the most probable first row of the new level
	Here        float64 // its probability
	From, To    int     // with probability 0.9 the first row is from … to …
	Before      series.Interval
	After       series.Interval
	Up          float64 // probability that the level after is the higher one
	Difference  series.Interval
	Ratio       series.Interval
	Trust       vi.Trust
	Err         error
}

// dull is the probability of no change above which nobody asks where there is one.
const dull = 0.9

// least is the noise that there is at least, in standard deviations of a series: numbers that are alike have none.
const least = 0.005

// program is of so many rows with so many numbers; center is the mean of counts.
func program(rows, runs int, center float64, set Settings) (*graph.Density, error) {
	m := graph.NewModel()
	gaps := float64(rows - 1)
	when := m.Sample("when", graph.Uniform(0, gaps/set.Prior))
	level, around := graph.Normal(0, 1), func(level graph.Expr) graph.Dist { return graph.Poisson(level) }
	switch set.Likelihood {
	case series.Poisson:
		level = graph.Exponential(1 / center)
	case series.NegativeBinomial:
		size := m.Sample("size", graph.LogNormal(math.Log(5), 1.5))
		level, around = graph.Exponential(1/center), func(level graph.Expr) graph.Dist {
			return graph.NegativeBinomial(size, graph.Div(size, graph.Add(size, level)))
		}
	case series.Bernoulli:
		level, around = graph.Beta(1, 1), func(level graph.Expr) graph.Dist { return graph.Bernoulli(level) }
	default:
		noise := graph.Add(least, m.Sample("noise", graph.LogNormal(math.Log(0.7), 1)))
		around = func(level graph.Expr) graph.Dist { return graph.Normal(level, noise) }
		if set.Likelihood == series.Student {
			around = func(level graph.Expr) graph.Dist { return graph.StudentsT(level, noise, 4) }
		}
	}
	before, after := m.Sample("before", level), m.Sample("after", level)
	for t := range rows {
		now := before
		if t > 0 {
			now = graph.If(graph.Less(when, t), after, before)
		}
		for range runs {
			m.Observe("y", around(now), 1)
		}
	}
	return m.Compile()
}

// A group is of series that share a program: of as many rows and runs, and counts around as large a mean.
type group struct{ rows, runs, size int }

// A scale is what numbers of a series were divided by, and what was subtracted before.
type scale struct{ center, unit float64 }

// Find asks all sets, and yields the answers group by group. A series that cannot be asked has an error.
func Find(ctx context.Context, sets []Set, set Settings) iter.Seq[Found] {
	return func(yield func(Found) bool) {
		groups := map[group][]Set{}
		var order []group
		for _, s := range sets {
			g, err := groupOf(s, set.Likelihood)
			if err != nil {
				if !yield(Found{Key: s.Key, Err: err}) {
					return
				}
				continue
			}
			if groups[g] == nil {
				order = append(order, g)
			}
			groups[g] = append(groups[g], s)
		}
		for _, g := range order {
			d, err := program(g.rows, g.runs, math.Exp2(float64(g.size)), set)
			if err != nil {
				yield(Found{Err: err})
				return
			}
			for f := range vi.FitAll(ctx, d, dataOf(groups[g], g, set.Likelihood), set.Vi) {
				if !yield(found(f, g, groups[g], set)) {
					return
				}
			}
		}
	}
}

func groupOf(s Set, l series.Likelihood) (g group, err error) {
	known := flat(s)
	switch {
	case len(known) < 3:
		return g, fmt.Errorf("too few numbers: %d", len(known))
	case floats.Max(known) == floats.Min(known) && l != series.Bernoulli:
		return g, ErrConstant
	}
	g.rows = len(s.Rows)
	for _, r := range s.Rows {
		g.runs = max(g.runs, len(r))
	}
	if l.Counts() {
		g.size = int(math.Round(math.Log2(stat.Mean(known, nil))))
	}
	return g, nil
}

// ErrConstant is the error of a series that is the same number in all rows.
var ErrConstant = errors.New("is the same in all rows")

// flat are the numbers that are not missing.
func flat(s Set) (known []float64) {
	for _, r := range s.Rows {
		for _, v := range r {
			if !math.IsNaN(v) {
				known = append(known, v)
			}
		}
	}
	return known
}

func scaleOf(s Set, l series.Likelihood) scale {
	if l.Counts() || l == series.Bernoulli {
		return scale{0, 1}
	}
	mean, sd := stat.MeanStdDev(flat(s), nil)
	return scale{mean, sd}
}

// dataOf yields the numbers of series, in their own scale.
func dataOf(sets []Set, g group, l series.Likelihood) iter.Seq2[string, map[string][]float64] {
	return func(yield func(string, map[string][]float64) bool) {
		for _, s := range sets {
			c := scaleOf(s, l)
			y := make([]float64, 0, g.rows*g.runs)
			for _, r := range s.Rows {
				for _, v := range r {
					y = append(y, (v-c.center)/c.unit)
				}
				for range g.runs - len(r) {
					y = append(y, math.NaN())
				}
			}
			if !yield(s.Key, map[string][]float64{"y": y}) {
				return
			}
		}
	}
}

// found reads a fit.
func found(f vi.Fitted, g group, sets []Set, set Settings) Found {
	out := Found{Key: f.Key, Err: f.Err}
	k := slices.IndexFunc(sets, func(s Set) bool { return s.Key == f.Key })
	if out.Err != nil || k < 0 {
		return out
	}
	c := scaleOf(sets[k], set.Likelihood)
	v, err := f.Fit.Verdict()
	if err != nil {
		out.Err = err
		return out
	}
	out.Trust = v.Trust
	none := fmt.Sprintf("when > %d", g.rows-1)
	for _, cell := range f.Fit.Cells() {
		if cell.Where == none && cell.Weight > dull {
			out.Probability = 1 - cell.Weight
			return out // the rest takes as long as the fit
		}
	}
	s, err := f.Fit.Sample()
	if err != nil {
		out.Err = err
		return out
	}
	at := func(name string) []float64 {
		i, _ := f.Fit.Density.Latent(name)
		return s.Latent(i)
	}
	when, before, after := at("when"), at("before"), at("after")
	place := make([]float64, g.rows)
	var w, b, a, difference, ratio []float64
	for d, t := range when {
		row := int(math.Ceil(t))
		if row >= g.rows {
			continue
		}
		place[row] += s.Weights[d]
		x, y := c.center+c.unit*before[d], c.center+c.unit*after[d]
		w, b, a = append(w, s.Weights[d]), append(b, x), append(a, y)
		difference, ratio = append(difference, y-x), append(ratio, y/x)
		if y > x {
			out.Up += s.Weights[d]
		}
	}
	out.Probability = min(1, floats.Sum(place))
	if out.Probability == 0 {
		return out
	}
	out.Up = min(1, out.Up/floats.Sum(place))
	floats.Scale(1/floats.Sum(place), place)
	out.Row = floats.MaxIdx(place)
	out.Here, out.From, out.To = place[out.Row], -1, 0
	for r, by := 0, 0.0; r < g.rows; r++ {
		if by < 0.95 && place[r] > 0 {
			out.To = r
		}
		if by += place[r]; by >= 0.05 && out.From < 0 {
			out.From = r
		}
	}
	out.Before, out.After = interval(b, w), interval(a, w)
	out.Difference, out.Ratio = interval(difference, w), interval(ratio, w)
	return out
}

// interval is of weighted draws.
func interval(x, w []float64) series.Interval {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	sx, sw := make([]float64, len(x)), make([]float64, len(x))
	for k, i := range order {
		sx[k], sw[k] = x[i], w[i]
	}
	return series.Interval{
		Mean: stat.Mean(sx, sw), Low: stat.Quantile(0.05, stat.Empirical, sx, sw), High: stat.Quantile(0.95, stat.Empirical, sx, sw),
	}
}
