package graph

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/derive"
)

// A latent that something else uses is no switch. Switches that meet in a term are both listed.
func TestSwitches(t *testing.T) {
	m := NewModel()
	level := m.Sample("level", Normal(0, 1))
	change := m.Sample("change", Normal(level, 2)) // its prior may depend on others
	other := m.Sample("other", Uniform(0, 3))
	used := m.Sample("used", Normal(0, 1))
	slanted := m.Sample("slanted", Normal(0, 1))
	heavy := m.Sample("heavy", StudentsT(0, 1, 3)) // its distribution function is not known
	for k := range 3 {
		m.Observe("y", Normal(If(Greater(change, k), level, 1), 1), 0.5)
	}
	m.Observe("w", Normal(If(Greater(other, 1), 1, 2), 1), 0.5)
	m.Observe("both", Normal(If(And(Greater(change, 1), Greater(other, 2)), 1, 2), 1), 0.5)
	m.Observe("v", Normal(If(Greater(used, 1), used, 2), 1), 0.5)
	m.Observe("u", Normal(If(Greater(Add(slanted, level), 1), 1, 2), 1), 0.5)
	m.Observe("u", Normal(If(Greater(Sub(slanted, level), 1), 1, 2), 1), 0.5)
	tilted := m.Sample("tilted", Normal(0, 1))
	m.Observe("x", Normal(If(Less(Add(level, Mul(2, tilted)), 1), 1, 2), 1), 0.5)
	m.Observe("x", Normal(If(Less(Add(level, Mul(2, tilted)), 5), 1, 2), 1), 0.5)
	m.Observe("t", Normal(If(Greater(heavy, 1), 1, 2), 1), 0.5)
	d, err := m.Compile()
	require.NoError(t, err)
	list := d.Engine().Switches()
	require.Len(t, list, 3) // those with the most planes for each that they meet first
	for k, name := range []string{"tilted", "change", "other"} {
		require.Equal(t, name, d.Latents()[list[k].Latent])
	}
	tiltedOnes, changes := list[0], list[1]
	cuts := func(s derive.SwitchLatent, z ...float64) []float64 {
		out := make([]float64, len(s.Planes))
		s.Thresholds(1).Fill(out, z)
		return out
	}
	require.Equal(t, []int{0}, tiltedOnes.Index)
	require.InDeltaSlice(t, []float64{-0.5, 1.5}, cuts(tiltedOnes, 2, 0, 0, 0, 0, 0, 9), 1e-15)
	require.Equal(t, []float64{0, 1, 2}, cuts(changes, 5, 5, 5, 5, 5, 5, 5))
}

// Of switches that meet and take long to sum together, and of those whose priors depend on
// others, only some are listed, of which no two meet; others are not in the way of a chain.
func TestSwitchesThatMeet(t *testing.T) {
	names := func(m *Model) (names []string) {
		d, err := m.Compile()
		require.NoError(t, err)
		for _, w := range d.Engine().Switches() {
			names = append(names, d.Latents()[w.Latent])
		}
		return names
	}
	m := NewModel()
	first, second := m.Sample("first", Uniform(0, 100)), m.Sample("second", Uniform(0, 200))
	for k := range 100 {
		m.Observe("y", Normal(If(Greater(first, k), 1, If(Greater(second, k), 2, 3)), 1), 0.5)
	}
	require.Equal(t, []string{"first"}, names(m))

	m = NewModel()
	cause := m.Sample("cause", Normal(0, 1))
	effect := m.Sample("effect", Normal(If(Greater(cause, 0), 1, -1), 1))
	m.Observe("y", Normal(If(Greater(effect, 0), 1, 2), 1), 0.5)
	require.Equal(t, []string{"cause"}, names(m))

	m = NewModel()
	var s Expr
	for k := range 500 {
		p := Numbers(0.5)[0]
		if k > 0 {
			p = Switch(s, 0.1, 0.8)
		}
		s = m.Sample("s"+fmt.Sprint(k), Bernoulli(p))
	}
	all := m.Sample("all", Uniform(0, 500))
	for k := range 500 {
		m.Observe("y", Normal(If(Greater(all, k), 1, 2), 1), 0.5)
	}
	require.Len(t, names(m), 501)
}

// A tabulation has, for each state of the switches, the terms of log r.
func TestTabulation(t *testing.T) {
	m := NewModel()
	level := m.Sample("level", Normal(0, 1))
	a := m.Sample("a", Categorical(Numbers(0.2, 0.3, 0.5)...))
	b := m.Sample("b", Bernoulli(Switch(a, Numbers(0.1)[0], NormalCDF(level), Numbers(0.8)[0])))
	c := m.Sample("c", Normal(level, 1))
	m.Observe("y", Normal(Switch(b, level, Numbers(1)[0]), 1), 0.3)
	m.Observe("z", Normal(If(Greater(level, 0.5), If(Less(c, level), 1, 2), Switch(a, 1, 2, 5)), 1), 0.3)
	m.Observe("x", Normal(If(Less(c, 1), Square(level), level), 2), 1)
	d, err := m.Compile()
	require.NoError(t, err)
	switches := d.Engine().Switches() // and not c, which a guard compares with level and another one with a number
	require.Len(t, switches, 2)
	tab, err := d.Engine().Tabulate(context.Background(), switches)
	require.NoError(t, err)
	table, err := tab.Bind(d.Engine(), 2)
	require.NoError(t, err)
	for _, z := range [][]float64{{0.2, 0, 0, 0}, {0.7, 0, 0, 2}, {-1, 0, 0, 0.5}} {
		for state := range 6 {
			values := []float64{float64(state % 3), float64(state / 3)}
			for i, v := range values {
				z[1+i], err = d.Coordinate(1 + i).Inverse(v)
				require.NoError(t, err)
			}
			want, err := d.LogProb(z)
			require.NoError(t, err)
			for i := range z {
				table.X.Z[2*i], table.X.Z[2*i+1] = z[i], z[i]
			}
			d.Arrangement().SignBatch(table.X.Signs, table.X.Z, 2)
			require.NoError(t, table.X.Run())
			got := table.Rest()[1]
			for k, f := range tab.Factors {
				row := 0
				for j, v := range f.Vars {
					row *= len(f.Cuts[j]) + 1
					class, _ := slices.BinarySearch(f.Cuts[j], int(values[switches[v].Latent-1])+1)
					row += class
				}
				got += table.Factor(k)[row*2+1]
			}
			require.InDelta(t, want, got, 1e-12)
		}
	}
}

// decide is a decision tree of depth 2 for rows, each of whose splits is by one of two variables at a threshold.
func decide(rows int) *Model {
	m := NewModel()
	by, at := m.SampleN("by", 3, Bernoulli(0.5)), m.SampleN("at", 3, Uniform(0, 1))
	leaf := m.SampleN("leaf", 4, Normal(0, 3))
	rng := rand.New(rand.NewPCG(1, 2))
	for range rows {
		x := [2]float64{rng.Float64(), rng.Float64()}
		var above [3]Guard
		for j := range above {
			above[j] = Or(And(Equal(by[j], 1), Less(at[j], x[1])), And(Equal(by[j], 0), Less(at[j], x[0])))
		}
		m.Observe("y", Normal(If(above[0], If(above[2], leaf[3], leaf[2]), If(above[1], leaf[1], leaf[0])), 1), rng.NormFloat64())
	}
	return m
}

// What is below the two branches of a tree does not meet: both splits are summed out, though each term has them both, and the variables that
// they are by with them. The root's is not: it meets them all. Tables of branches add up to log r.
func TestBranches(t *testing.T) {
	const rows = 40
	d, err := decide(rows).Compile()
	require.NoError(t, err)
	switches := d.Engine().Switches()
	var names []string
	for _, w := range switches {
		names = append(names, d.Latents()[w.Latent])
	}
	require.Equal(t, []string{"at[1]", "at[2]", "by[1]", "by[2]"}, names)
	tab, err := d.Engine().Tabulate(context.Background(), switches)
	require.NoError(t, err)
	for _, f := range tab.Factors {
		require.True(t, slices.Equal(f.Vars, []int{0, 2}) || slices.Equal(f.Vars, []int{1, 3}) || len(f.Vars) == 1, "%v", f.Vars)
	}
	table, err := tab.Bind(d.Engine(), 1)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		z := make([]float64, d.Dim())
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		copy(table.X.Z, z)
		d.Arrangement().SignBatch(table.X.Signs, z, 1)
		require.NoError(t, table.X.Run())
		got := table.Rest()[0]
		for k, f := range tab.Factors {
			row := 0
			for j, v := range f.Vars {
				value := 0
				for _, l := range switches[v].Planes {
					if d.Arrangement().At(l, z) > 0 != switches[v].Down {
						value++
					}
				}
				class, _ := slices.BinarySearch(f.Cuts[j], value+1)
				row = row*(len(f.Cuts[j])+1) + class
			}
			require.LessOrEqual(t, f.First[row], row)
			require.Equal(t, table.Factor(k)[f.First[row]], table.Factor(k)[row])
			got += table.Factor(k)[row]
		}
		want, err := d.LogProb(z)
		require.NoError(t, err)
		require.InDelta(t, want, got, 1e-9)
	}
}

// The rows of tables are sums of monomials with coefficients that are the same for all points on the same side of the root of a tree.
func TestPolynomials(t *testing.T) {
	const n = 5
	d, err := decide(60).Compile()
	require.NoError(t, err)
	tab, err := d.Engine().Tabulate(context.Background(), d.Engine().Switches())
	require.NoError(t, err)
	table, err := tab.Bind(d.Engine(), n)
	require.NoError(t, err)
	m := table.Monomials()
	require.Equal(t, 9, m) // 1, and of each leaf the first and the second power
	rng := rand.New(rand.NewPCG(5, 6))
	root := map[string]bool{"at[0]": true, "by[0]": true}
	for round := range 100 {
		for i, name := range d.Latents() {
			x := rng.NormFloat64()
			for k := range n {
				if !root[name] {
					x = 3 * rng.NormFloat64()
				}
				table.X.Z[i*n+k] = x
			}
		}
		d.Arrangement().SignBatch(table.X.Signs, table.X.Z, n)
		require.NoError(t, table.X.Run())
		rest, x, fresh, err := table.Polynomials()
		require.NoError(t, err)
		require.InDeltaSlice(t, table.Rest(), rest, 1e-12)
		require.True(t, fresh || round > 0)
		for f := range tab.Factors {
			coef := table.Coefficients(f)
			for r, want := range table.Factor(f) {
				got := 0.0
				for k := range m {
					got += coef[r/n*m+k] * x[k*n+r%n]
				}
				require.InDelta(t, want, got, 1e-10)
			}
		}
		_, _, fresh, err = table.Polynomials()
		require.NoError(t, err)
		require.False(t, fresh)
	}
	table.X.Z[0*n+1], table.X.Z[3*n+1] = -table.X.Z[0], -table.X.Z[3*n] // another side of the root
	d.Arrangement().SignBatch(table.X.Signs, table.X.Z, n)
	_, x, _, err := table.Polynomials()
	require.NoError(t, err)
	require.Nil(t, x)
	other, err := d.WithData(map[string][]float64{"y": d.Data()})
	require.NoError(t, err)
	table, err = tab.Bind(other.Engine(), n)
	require.NoError(t, err)
	require.Zero(t, table.Monomials())
}

// The thresholds of a switch may be any functions of other latents: of μ + τ·η > x, η = (x − μ)/τ.
// A guard whose sign in the latent is not known makes none.
func TestCurvedSwitches(t *testing.T) {
	m := NewModel()
	mu, tau := m.Sample("mu", Normal(0, 1)), m.Sample("tau", Gamma(2, 1))
	eta := m.Sample("eta", Normal(0, 1))
	weight := m.Sample("weight", Normal(0, 1))
	for k := range 3 {
		m.Observe("y", Normal(If(Greater(Add(mu, Mul(tau, eta)), 3-k), 1, 2), 1), 0.5)
	}
	m.Observe("w", Normal(If(Greater(Add(mu, Mul(mu, weight)), 0.3), 1, 2), 1), 0.5)
	d, err := m.Compile()
	require.NoError(t, err)
	list := d.Engine().Switches()
	require.Len(t, list, 1)
	require.Equal(t, 2, list[0].Latent)
	require.Equal(t, []int{0, 1}, list[0].Index)
	require.False(t, list[0].Down)
	out := make([]float64, 3*2)
	list[0].Thresholds(2).Fill(out, []float64{0.5, -1, math.Log(2), 0, 9, 9, 0, 0})
	require.InDeltaSlice(t, []float64{0.25, 2, 0.75, 3, 1.25, 4}, out, 1e-12)
}

// What Across moves is what the program moves: a latent whose prior has jumped, and the
// signs on it; others stay.
func TestAcross(t *testing.T) {
	m := NewModel()
	x := m.Sample("x", Normal(0, 1))
	noise := m.Sample("noise", Normal(If(Greater(x, 1), 1, 0), 0.01))
	near := m.Sample("near", Normal(If(Greater(x, 1), 1, 0), 2))
	m.Observe("y", Normal(If(Greater(noise, 0.5), near, 0), 1), 1)
	d, err := m.Compile()
	require.NoError(t, err)
	z := []float64{0.5, 0.003, 0.2}
	from := d.Arrangement().Signs(z)
	require.Equal(t, "--", from.String())
	require.Equal(t, "++", d.Across(z, from, []int{0}, 6).String())
	require.InDeltaSlice(t, []float64{0.5, 1.003, 0.2}, z, 1e-12)
	z = []float64{0.5, 0.003, 0.2}
	require.Equal(t, "+-", d.Across(z, from, []int{0}, math.Inf(1)).String())
	require.Equal(t, []float64{0.5, 0.003, 0.2}, z)
}
