package elimination

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Sums, probabilities and marginals are those of all states, for random graphs of factors with
// random classes, where some states are impossible.
func TestAgainstAllStates(t *testing.T) {
	const n = 3
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		values := make([]int, 1+rng.IntN(5))
		for v := range values {
			values[v] = 1 + rng.IntN(6)
		}
		var factors []Factor
		var tables [][]float64
		for range rng.IntN(9) {
			var f Factor
			for v := range values {
				if rng.IntN(len(values)) < 2 {
					var cuts []int
					for c := 1; c < values[v]; c++ {
						if rng.IntN(3) > 0 {
							cuts = append(cuts, c)
						}
					}
					f.Vars, f.Cuts = append(f.Vars, v), append(f.Cuts, cuts)
				}
			}
			if len(f.Vars) == 0 {
				continue
			}
			table := make([]float64, f.Rows()*n)
			for k := range table {
				if table[k] = 30 * rng.NormFloat64(); rng.IntN(12) == 0 {
					table[k] = []float64{math.Inf(-1), math.NaN()}[rng.IntN(2)]
				}
			}
			for row := range f.Rows() { // some are the same, and known to be
				f.First = append(f.First, row)
				if as := rng.IntN(row + 1); rng.IntN(3) == 0 {
					f.First[row] = f.First[as]
					copy(table[row*n:][:n], table[as*n:][:n])
				}
			}
			factors, tables = append(factors, f), append(tables, table)
		}
		known := make([][]float64, len(values))
		for v := range known {
			for range values[v] * n {
				known[v] = append(known[v], rng.NormFloat64())
			}
		}
		p := NewPlan(values, factors, math.MaxInt32)
		s := p.Bind(n)
		for range 2 { // a second run forgets the first
			s.Run(func(f int) []float64 { return tables[f] }, func(v int) []float64 { return known[v] })
		}
		marginals := s.Marginals()
		for k := range n {
			var logs []float64
			var states [][]int
			x := make([]int, len(values))
			for more := true; more; {
				log := 0.0
				for v, value := range x {
					log += known[v][value*n+k]
				}
				for f, factor := range factors {
					row := 0
					for j, v := range factor.Vars {
						row *= len(factor.Cuts[j]) + 1
						for _, c := range factor.Cuts[j] {
							if x[v] >= c {
								row++
							}
						}
					}
					log += tables[f][row*n+k]
				}
				if math.IsNaN(log) {
					log = math.Inf(-1)
				}
				logs, states = append(logs, log), append(states, slices.Clone(x))
				more = false
				for v := range x {
					if x[v]++; x[v] < values[v] {
						more = true
						break
					}
					x[v] = 0
				}
			}
			top, sum := slices.Max(logs), 0.0
			for _, l := range logs {
				sum += math.Exp(l - top)
			}
			if math.IsInf(top, -1) {
				require.Equal(t, top, s.Total[k])
				continue
			}
			total := top + math.Log(sum)
			require.InDelta(t, total, s.Total[k], 1e-12*max(1, math.Abs(total)))
			want := make([][]float64, len(values))
			for v := range want {
				want[v] = make([]float64, values[v])
			}
			for j, x := range states {
				log := s.LogProb(k, x)
				require.InDelta(t, math.Exp(logs[j]-total), math.Exp(log), 1e-12)
				if logs[j] > math.Inf(-1) {
					require.InDelta(t, logs[j]-total, log, 1e-10)
				}
				for v, value := range x {
					want[v][value] += math.Exp(logs[j] - total)
				}
			}
			for v := range want {
				for value, w := range want[v] {
					require.InDelta(t, w, marginals[v][value*n+k], 1e-12)
				}
			}
			for range 5 {
				s.Draw(k, x, func(int) float64 { return rng.Float64() })
				require.Greater(t, s.LogProb(k, x), math.Inf(-1))
			}
		}
	}
}

// Sums by tables that are linear in numbers are those by the tables themselves, whether values that factors say the same of are one value, because
// what else is known of them is the same for all samples, or not.
func TestLinear(t *testing.T) {
	const n, m = 5, 3
	rng := rand.New(rand.NewPCG(1, 2))
	merged := 0
	for range 300 {
		values := make([]int, 1+rng.IntN(4))
		for v := range values {
			values[v] = 1 + rng.IntN(12)
		}
		var factors []Factor
		var coefs, tables [][]float64
		x := make([]float64, m*n)
		for k := range x {
			x[k] = 3 * rng.NormFloat64()
		}
		for range 2 + rng.IntN(5) {
			f := Factor{Vars: []int{rng.IntN(len(values))}}
			if w := rng.IntN(len(values)); w > f.Vars[0] {
				f.Vars = append(f.Vars, w)
			}
			for _, v := range f.Vars {
				var cuts []int
				for c := 1; c < values[v]; c++ {
					if rng.IntN(3) > 0 {
						cuts = append(cuts, c)
					}
				}
				f.Cuts = append(f.Cuts, cuts)
			}
			coef, table := make([]float64, f.Rows()*m), make([]float64, f.Rows()*n)
			for r := range f.Rows() {
				if copyOf := r - 1; copyOf >= 0 && rng.IntN(3) > 0 {
					copy(coef[r*m:][:m], coef[copyOf*m:][:m])
				} else {
					coef[r*m+rng.IntN(m)] = rng.NormFloat64()
				}
				for k := range n {
					for j := range m {
						table[r*n+k] += coef[r*m+j] * x[j*n+k]
					}
				}
			}
			factors, coefs, tables = append(factors, f), append(coefs, coef), append(tables, table)
		}
		fixed, known, masses := rng.IntN(3) > 0, make([][]float64, len(values)), make([][]float64, len(values))
		for v := range known {
			for range values[v] {
				mass := rng.NormFloat64()
				if rng.IntN(10) == 0 {
					mass = math.Inf(-1)
				}
				masses[v] = append(masses[v], mass)
				for range n {
					if !fixed {
						mass = rng.NormFloat64()
					}
					known[v] = append(known[v], mass)
				}
			}
		}
		p := NewPlan(values, factors, math.MaxInt32)
		s, by, l := p.Bind(n), p.Bind(n), p.Linear(m)
		of := func(v int) []float64 { return known[v] }
		for range 2 { // a second run forgets the first
			s.Run(func(f int) []float64 { return tables[f] }, of)
			l.Set(func(f int) []float64 { return coefs[f] }, func(v int) []float64 {
				if !fixed {
					return nil
				}
				return masses[v]
			})
			by.RunLinear(l, x, of)
		}
		for _, step := range by.steps {
			for _, firsts := range step.spans.firsts {
				merged += step.values - len(firsts)
			}
		}
		require.InDeltaSlice(t, s.Total, by.Total, 1e-11)
		if math.IsInf(s.Total[0], -1) {
			continue
		}
		for v, want := range s.Marginals() {
			require.InDeltaSlice(t, want, by.Marginals()[v], 1e-11)
		}
		state, other, u := make([]int, len(values)), make([]int, len(values)), make([]float64, len(values))
		for range 20 {
			for v := range u {
				u[v] = rng.Float64()
			}
			for k := range n {
				s.Draw(k, state, func(v int) float64 { return u[v] })
				by.Draw(k, other, func(v int) float64 { return u[v] })
				require.Equal(t, state, other)
				require.InDelta(t, s.LogProb(k, state), by.LogProb(k, state), 1e-10)
			}
		}
		by.Run(func(f int) []float64 { return tables[f] }, of) // after which no values are one
		require.Equal(t, s.Total, by.Total)
		require.Equal(t, s.LogProb(0, state), by.LogProb(0, state))
	}
	require.Greater(t, merged, 1000)
}

// Draws have the probabilities of LogProb: each state of two variables as often as it should.
func TestDraw(t *testing.T) {
	p := NewPlan([]int{2, 3}, []Factor{{Vars: []int{0, 1}, Cuts: [][]int{{1}, {1, 2}}}}, math.MaxInt32)
	s := p.Bind(1)
	table := []float64{0, 1, -1, 0.5, -2, 1}
	s.Run(func(int) []float64 { return table }, func(int) []float64 { return make([]float64, 3) })
	const draws = 100_000
	count := map[[2]int]float64{}
	rng, x := rand.New(rand.NewPCG(1, 2)), make([]int, 2)
	for range draws {
		s.Draw(0, x, func(int) float64 { return rng.Float64() })
		count[[2]int(x)]++
	}
	for a := range 2 {
		for b := range 3 {
			want := math.Exp(s.LogProb(0, []int{a, b}))
			require.InDelta(t, want, count[[2]int{a, b}]/draws, 5*math.Sqrt(want*(1-want)/draws))
		}
	}
}

// A chain costs what its length says, in whatever order its factors come; a part costs what it has
// itself, and no more.
func TestCost(t *testing.T) {
	var factors []Factor
	values := make([]int, 101)
	for v := range values {
		values[v] = 3
		if v > 0 && v < 100 {
			factors = append(factors, Factor{Vars: []int{v - 1, v}, Cuts: [][]int{{1, 2}, {1, 2}}})
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(factors), func(i, j int) { factors[i], factors[j] = factors[j], factors[i] })
	p := NewPlan(values, factors, math.MaxInt32)
	require.Equal(t, 99*2*9+3, p.Cost(0))
	require.Equal(t, 3, p.Cost(100))
	require.Equal(t, p.Group(0), p.Group(99))
	require.NotEqual(t, p.Group(0), p.Group(100))
}
