package series

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
)

// studentNu is the number of degrees of freedom of Student's distribution.
const studentNu = 4

// A prior is what is known of levels and noise before: only on what scale the numbers are.
type prior struct{ center, spread, noise float64 }

// priorOf is a prior as wide as the known rows. Counts need their mean alone.
func priorOf(y []float64, l Likelihood) prior {
	sd, _ := spread(y)
	p := prior{center: median(y), spread: cmp.Or(sd, stat.StdDev(y, nil))}
	if l.Counts() {
		p.center = stat.Mean(y, nil)
	}
	near := make([]float64, len(y)-1)
	for i := range near {
		near[i] = math.Abs(y[i+1] - y[i])
	}
	p.noise = cmp.Or(1.4826/math.Sqrt2*median(near), p.spread)
	return p
}

// level is the prior of a level.
func (p prior) level(l Likelihood) graph.Dist {
	switch l {
	case Poisson, NegativeBinomial:
		return graph.Exponential(1 / p.center)
	case Bernoulli:
		return graph.Beta(1, 1)
	}
	return graph.Normal(p.center, p.spread)
}

// around is the distribution of a row of the given level.
func (p prior) around(l Likelihood, m *graph.Model) func(level graph.Expr) graph.Dist {
	switch l {
	case Poisson:
		return func(level graph.Expr) graph.Dist { return graph.Poisson(level) }
	case Bernoulli:
		return func(level graph.Expr) graph.Dist { return graph.Bernoulli(level) }
	case NegativeBinomial:
		size := m.Sample("size", graph.LogNormal(math.Log(5), 1.5))
		return func(level graph.Expr) graph.Dist {
			return graph.NegativeBinomial(size, graph.Div(size, graph.Add(size, level)))
		}
	}
	noise := m.Sample("noise", graph.LogNormal(math.Log(p.noise), 1))
	if l == Student {
		return func(level graph.Expr) graph.Dist { return graph.StudentsT(level, noise, studentNu) }
	}
	return func(level graph.Expr) graph.Dist { return graph.Normal(level, noise) }
}

// state names the expression that has the probability of each row to be after so many changes and before the next one.
func state(changes int) string { return "after " + plural(changes, "change") }

// program is the one with the given number of changes, in any gaps between rows, all sets of gaps alike, and with ahead rows more that
// are not known. After the change before the last row there is none.
func program(y []float64, l Likelihood, changes, ahead int) (*graph.Density, error) {
	var known []float64
	for _, v := range y {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	m, p := graph.NewModel(), priorOf(known, l)
	level := m.SampleN("level", changes+1, p.level(l))
	row := p.around(l, m)
	rows := y[:len(y):len(y)]
	for range ahead {
		rows = append(rows, math.NaN())
	}
	if changes == 0 {
		for _, v := range rows {
			m.Observe("y", row(level[0]), v)
		}
		return m.Compile()
	}
	initial := make([]graph.Expr, changes+1)
	initial[0] = graph.Numbers(1)[0]
	chain := m.ObserveHMM("y", graph.HMM{
		Initial:      initial,
		TransitionAt: func(t int) [][]graph.Expr { return moves(changes, len(y)-t) },
		Emission:     func(_ int, s []int) graph.Dist { return row(level[s[0]]) },
	}, rows)
	for k := range changes {
		chain.Deterministic(state(k+1), k+1)
	}
	return m.Compile()
}

// moves are the probabilities to go from k changes to k or k + 1 in a gap, with so many gaps left, it among them: of the changes that
// are left each is in any of them.
func moves(changes, gaps int) [][]graph.Expr {
	p := make([][]graph.Expr, changes+1)
	for k := range p {
		p[k] = make([]graph.Expr, changes+1) // of 0
		move := 0.0
		if gaps > 0 {
			move = min(1, float64(changes-k)/float64(gaps)) // more are left than gaps only where the chain cannot be
		}
		p[k][k] = graph.Numbers(1 - move)[0]
		if k < changes {
			p[k][k+1] = graph.Numbers(move)[0]
		}
	}
	return p
}
