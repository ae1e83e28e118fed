package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/ir"
)

// A chainModel is a hidden Markov model read in two ways: by build, and path by path. Its latents
// are a location, the logits of a probability of the first state and of staying in each, and noise.
type chainModel struct {
	states, lags int
	varying      bool // a transition for each step
	cut          float64
	ys           []float64
}

const chainLatents = 4

// numbers are those of the model at latents x: the initial probabilities, the transition to
// step t, and the mean of step t given the states.
func (c chainModel) initial(x []float64) []float64 {
	p := sigmoid(x[1])
	if c.states == 1 {
		p = 1
	}
	out := []float64{p}
	for range c.states - 1 {
		out = append(out, (1-p)/float64(c.states-1))
	}
	return out
}

func (c chainModel) move(x []float64, t, from, to int) float64 {
	stay := sigmoid(x[2])
	if c.varying {
		stay = sigmoid(x[2] + 0.3*float64(t))
	}
	if x[0] > c.cut {
		stay = sigmoid(x[1])
	}
	switch {
	case c.states == 1:
		return 1
	case from == to:
		return stay
	}
	return (1 - stay) / float64(c.states-1)
}

func (c chainModel) mean(x []float64, t int, s []int) float64 {
	mean := float64(s[0]) * x[0]
	if s[0] == 0 && x[2] > c.cut {
		mean = 1
	}
	for l, state := range s[1:] {
		mean += 0.4 / float64(l+1) * (float64(state) - x[3])
	}
	if t > 0 {
		mean += 0.2 * c.ys[t-1]
	}
	return mean
}

func (c chainModel) noise(x []float64) float64 { return 0.5 + sigmoid(x[3]) }

func (c chainModel) build() (*graph.Model, *graph.Hidden) {
	m := graph.NewModel()
	var x []graph.Expr
	for i := range chainLatents {
		x = append(x, m.Sample(fmt.Sprint("x", i), graph.Normal(0, 1)))
	}
	return m, c.observe(m, x)
}

func (c chainModel) observe(m *graph.Model, x []graph.Expr) *graph.Hidden {
	h := graph.HMM{Lags: c.lags}
	p := graph.Sigmoid(x[1])
	h.Initial = append(h.Initial, p)
	for range c.states - 1 {
		h.Initial = append(h.Initial, graph.Div(graph.Sub(1, p), c.states-1))
	}
	if c.states == 1 {
		h.Initial = graph.Numbers(1)
	}
	at := func(t int) (rows [][]graph.Expr) {
		logit := x[2]
		if c.varying {
			logit = graph.Add(logit, 0.3*float64(t))
		}
		stay := graph.If(graph.Greater(x[0], c.cut), graph.Sigmoid(x[1]), graph.Sigmoid(logit))
		for i := range c.states {
			var row []graph.Expr
			for j := range c.states {
				switch {
				case c.states == 1:
					row = graph.Numbers(1)
				case i == j:
					row = append(row, stay)
				default:
					row = append(row, graph.Div(graph.Sub(1, stay), c.states-1))
				}
			}
			rows = append(rows, row)
		}
		return rows
	}
	if c.varying {
		h.TransitionAt = at
	} else {
		h.Transition = at(0)
	}
	h.Emission = func(t int, s []int) graph.Dist {
		mean := graph.Mul(s[0], x[0])
		if s[0] == 0 {
			mean = graph.If(graph.Greater(x[2], c.cut), 1, 0)
		}
		for l, state := range s[1:] {
			mean = graph.Add(mean, graph.Mul(0.4/float64(l+1), graph.Sub(state, x[3])))
		}
		if t > 0 {
			mean = graph.Add(mean, 0.2*c.ys[t-1])
		}
		return graph.Normal(mean, graph.Add(0.5, graph.Sigmoid(x[3])))
	}
	return m.ObserveHMM("y", h, c.ys)
}

// paths calls visit with each path of states, the first Lags ones before the first observation,
// and its log probability with the data.
func (c chainModel) paths(x []float64, visit func(path []int, logProb float64)) {
	path := make([]int, c.lags+len(c.ys))
	var walk func(i int, logProb float64)
	walk = func(i int, logProb float64) {
		if i == len(path) {
			visit(path, logProb)
			return
		}
		for s := range c.states {
			path[i] = s
			lp := logProb
			if i == 0 {
				lp += math.Log(c.initial(x)[s])
			} else {
				lp += math.Log(c.move(x, i-c.lags, path[i-1], s))
			}
			if t := i - c.lags; t >= 0 {
				tuple := make([]int, 1+c.lags)
				for l := range tuple {
					tuple[l] = path[i-l]
				}
				lp += logNormalPDF(c.ys[t], c.mean(x, t, tuple), c.noise(x))
			}
			walk(i+1, lp)
		}
	}
	walk(0, 0)
}

// logProb is log r, and smoothed the probabilities of the states at each observation.
func (c chainModel) logProb(x []float64) (logProb float64, smoothed [][]float64) {
	total := 0.0
	smoothed = make([][]float64, len(c.ys))
	for t := range smoothed {
		smoothed[t] = make([]float64, c.states)
	}
	c.paths(x, func(path []int, lp float64) {
		total += math.Exp(lp)
		for t := range c.ys {
			smoothed[t][path[c.lags+t]] += math.Exp(lp)
		}
	})
	for t := range smoothed {
		for s := range smoothed[t] {
			smoothed[t][s] /= total
		}
	}
	logProb = math.Log(total)
	for _, v := range x {
		logProb += logNormalPDF(v, 0, 1)
	}
	return logProb, smoothed
}

var chainModels = map[string]chainModel{
	"2^10 paths":        {states: 2, ys: []float64{0.3, -1, 2, 0.1, 1.5, 0, -0.4, 0.8, 1.1, 0.2}, cut: 0.2},
	"three states":      {states: 3, ys: []float64{0.3, -1, 2, 0.1, 1.5}, cut: -0.1},
	"lags":              {states: 2, lags: 2, ys: []float64{0.3, -1, 2, 0.1, 1.5, 0}, cut: 0.1},
	"transition varies": {states: 2, varying: true, ys: []float64{0.3, -1, 2, 0.1, 1.5, 0}, cut: 0.1},
	"both":              {states: 3, lags: 1, varying: true, ys: []float64{0.3, -1, 2, 0.1}, cut: 0.1},
	"one state":         {states: 1, ys: []float64{0.3, -1, 2}, cut: 0.1},
	"one step":          {states: 3, ys: []float64{0.3}, cut: 0.1},
	"one step and lags": {states: 2, lags: 1, varying: true, ys: []float64{0.3}, cut: 0.1},
	"one state, lags":   {states: 1, lags: 3, ys: []float64{0.3, 2}, cut: 0.1},
}

// log r of a chain is that of the sum over all its paths, in all regions, with its gradient on plan and TapeMachine; and the smoothed
// probabilities are those of the paths.
func TestHMM(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, c := range chainModels {
		m, hidden := c.build()
		for s := range c.states {
			hidden.Deterministic(fmt.Sprint("state ", s), s)
		}
		d := mustCompile(t, m)
		for range 10 {
			z := make([]float64, chainLatents)
			for i := range z {
				z[i] = rng.NormFloat64()
			}
			want, smoothed := c.logProb(z)
			for how, x := range both(t, d, z, d.Arrangement().Signs(z)) {
				close12(t, want, x.Out[0], name, how)
				for i := range z {
					slope, trust := partial(func(z []float64) float64 { v, _ := c.logProb(z); return v }, z, i)
					if trust {
						closeTo(t, slope, x.Grad[i], 1e-7, name, how, i)
					}
				}
			}
			at := d.DeterministicAt(nil, z)
			for s := range c.states {
				for step := range c.ys {
					close12(t, smoothed[step][s], at[s*len(c.ys)+step], name, s, step)
				}
			}
		}
	}
}

// The jump of log r at a guard in a chain's probabilities or means is that of the whole sum.
func TestHMMJumps(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	c := chainModels["lags"]
	m, _ := c.build()
	d := mustCompile(t, m)
	require.Equal(t, 2, d.Arrangement().Len())
	b := d.Engine().Builder()
	var outs []ir.ID
	for l := range 2 {
		outs = append(outs, b.Jump(l, ir.Substitution{}))
	}
	p, err := b.Compile(outs)
	require.NoError(t, err)
	x, err := d.Engine().Executor(p, 1, graph.Compute{Out: true})
	require.NoError(t, err)
	for range 20 {
		z := make([]float64, chainLatents)
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		s := d.Arrangement().Signs(z)
		copy(x.Z, z)
		s.Floats(x.Signs)
		require.NoError(t, x.Run())
		for l := range 2 {
			on, err := d.LogProbAt(z, s.Force(l, true))
			require.NoError(t, err)
			off, err := d.LogProbAt(z, s.Force(l, false))
			require.NoError(t, err)
			close12(t, on-off, x.Out[l])
			require.Greater(t, math.Abs(on-off), 1e-6)
		}
	}
}

// In an If block a chain counts on its side, and its data and states are NaN on the other.
func TestHMMInIf(t *testing.T) {
	c := chainModels["three states"]
	m := graph.NewModel()
	var x []graph.Expr
	for i := range chainLatents {
		x = append(x, m.Sample(fmt.Sprint("x", i), graph.Normal(0, 1)))
	}
	m.If(graph.Greater(x[3], 0), func() { c.observe(m, x).Deterministic("first", 0) }, nil)
	d := mustCompile(t, m)
	z := []float64{0.5, 0.1, -0.3, 0.2}
	want, _ := c.logProb(z)
	close12(t, want, logProb(t, d, z...))
	require.Len(t, d.DataAt(z), len(c.ys))
	z[3] = -0.2
	prior := 0.0
	for _, v := range z {
		prior += logNormalPDF(v, 0, 1)
	}
	close12(t, prior, logProb(t, d, z...))
	rng := rand.New(rand.NewPCG(1, 1))
	for _, v := range append(d.Replicate(nil, z, rng), d.DeterministicAt(nil, z)...) {
		require.True(t, math.IsNaN(v))
	}
	require.Empty(t, d.DataAt(z))
}

// Replicated series have the probabilities of the paths: observations that tell the states are as often as the paths are.
func TestHMMReplicates(t *testing.T) {
	skipShort(t)
	const draws = 40000
	for name, c := range map[string]chainModel{
		"plain": {states: 3, ys: make([]float64, 4)}, "lags": {states: 2, lags: 2, ys: make([]float64, 4)},
		"varying": {states: 2, lags: 1, varying: true, ys: make([]float64, 4)},
	} {
		x := []float64{1, 0.4, 0.7, 0}
		m := graph.NewModel()
		var z []graph.Expr
		for i := range x {
			z = append(z, m.Sample(fmt.Sprint("x", i), graph.Normal(0, 1)))
		}
		c.cut = 10 // on one side
		h := graph.HMM{Lags: c.lags, Initial: graph.Numbers(c.initial(x)...)}
		h.TransitionAt = func(t int) (rows [][]graph.Expr) {
			for i := range c.states {
				var row []graph.Expr
				for j := range c.states { // an expression of a latent, so that it is no number
					p := c.move(x, t, i, j)
					row = append(row, graph.Sigmoid(graph.Add(math.Log(p/(1-p)), graph.Mul(1e-300, z[0]))))
				}
				rows = append(rows, row)
			}
			return rows
		}
		h.Emission = func(t int, s []int) graph.Dist {
			code := 0.0
			for _, state := range s {
				code = code*float64(c.states) + float64(state)
			}
			return graph.Normal(code, 1e-9)
		}
		m.ObserveHMM("y", h, c.ys)
		d := mustCompile(t, m)

		probability := map[string]float64{}
		c.paths(x, func(path []int, _ float64) {
			p := c.initial(x)[path[0]]
			for i := 1; i < len(path); i++ {
				p *= c.move(x, i-c.lags, path[i-1], path[i])
			}
			var code []int
			for i := c.lags; i < len(path); i++ {
				v := 0
				for l := range c.lags + 1 {
					v = v*c.states + path[i-l]
				}
				code = append(code, v)
			}
			probability[fmt.Sprint(code)] += p
		})
		rng := rand.New(rand.NewPCG(5, 5))
		seen := map[string]float64{}
		for range draws {
			var code []int
			for _, y := range d.Replicate(nil, x, rng) {
				code = append(code, int(math.Round(y)))
			}
			seen[fmt.Sprint(code)]++
		}
		total := 0.0
		for code, p := range probability {
			total += p
			require.Less(t, math.Abs(seen[code]-draws*p), 5*math.Sqrt(draws*p*(1-p)), "%s: %s", name, code)
		}
		for code := range seen {
			require.Contains(t, probability, code)
		}
		close12(t, 1, total)
		require.Greater(t, len(probability), 15)
	}
}

// Other data give the density of a program with those, without anything being compiled again; the autoregression's are those that the
// program was written with.
func TestHMMWithData(t *testing.T) {
	c := chainModels["lags"]
	m, _ := c.build()
	d := mustCompile(t, m)
	ys := []float64{1, 0, -0.3, 0.4, 2, 0.7}
	other, err := d.WithData(map[string][]float64{"y": ys})
	require.NoError(t, err)
	require.Equal(t, ys, other.Data())
	require.Equal(t, d.Fingerprint(), other.Fingerprint())
	z := []float64{0.5, 0.1, -0.3, 0.2}
	total := 0.0
	c.paths(z, func(path []int, lp float64) {
		for t, y := range ys {
			tuple := []int{path[2+t], path[1+t], path[t]}
			lp += logNormalPDF(y, c.mean(z, t, tuple), c.noise(z)) - logNormalPDF(c.ys[t], c.mean(z, t, tuple), c.noise(z))
		}
		total += math.Exp(lp)
	})
	want := math.Log(total)
	for _, v := range z {
		want += logNormalPDF(v, 0, 1)
	}
	close12(t, want, logProb(t, other, z...))
	_, err = d.WithData(map[string][]float64{"y": {1, 0, math.Inf(1), 0, 0, 0}})
	require.ErrorContains(t, err, `observation "y" number 2`)
}

// Counts of a chain of Poisson distributions, and other laws, as for independent data.
func TestHMMOfCounts(t *testing.T) {
	ys := []float64{3, 300, 0, 12}
	m := graph.NewModel()
	low, high := m.Sample("low", graph.Exponential(1)), m.Sample("high", graph.Gamma(2, 0.1))
	rates := []graph.Expr{low, high}
	m.ObserveHMM("n", graph.HMM{
		Initial: graph.Numbers(0.5, 0.5), Transition: [][]graph.Expr{graph.Numbers(0.9, 0.1), graph.Numbers(0.2, 0.8)},
		Emission: func(_ int, s []int) graph.Dist { return graph.Poisson(rates[s[0]]) },
	}, ys)
	d := mustCompile(t, m)
	z := []float64{0.3, 2}
	p := pathSum{initial: []float64{math.Log(0.5), math.Log(0.5)}, moves: [][][]float64{{{math.Log(0.9), math.Log(0.1)}, {math.Log(0.2), math.Log(0.8)}}}}
	for _, y := range ys {
		var row []float64
		for _, u := range z {
			row = append(row, y*u-math.Exp(u)-lgamma(y+1))
		}
		p.emission = append(p.emission, row)
	}
	want, _ := p.brute()
	want += z[0] - math.Exp(z[0]) + 2*math.Log(0.1) + 2*z[1] - 0.1*math.Exp(z[1])
	close12(t, want, logProb(t, d, z...))
	_, err := d.WithData(map[string][]float64{"n": {1, 2, 2.5, 1}})
	require.ErrorContains(t, err, "outside the support of Poisson")
}

// Programs that differ in anything of a chain but its data have fingerprints of their own.
func TestHMMFingerprint(t *testing.T) {
	build := func(change string) string {
		m := graph.NewModel()
		x := m.Sample("x", graph.Normal(0, 1))
		p := graph.Sigmoid(x)
		h := graph.HMM{Initial: graph.Numbers(0.5, 0.5), Transition: [][]graph.Expr{{p, graph.Sub(1, p)}, graph.Numbers(0.1, 0.9)}}
		ys := []float64{0.5, 1, 2}
		scale := 1.0
		switch change {
		case "data":
			ys[1] = 3
		case "length":
			ys = ys[:2]
		case "initial":
			h.Initial = graph.Numbers(0.4, 0.6)
		case "transition":
			h.Transition[1] = graph.Numbers(0, 1)
		case "varying":
			rows := h.Transition
			h.TransitionAt = func(int) [][]graph.Expr { return rows }
		case "lags":
			h.Lags = 1
		case "emission":
			scale = 2
		}
		h.Emission = func(_ int, s []int) graph.Dist { return graph.Normal(graph.Mul(x, s[0]), scale) }
		hidden := m.ObserveHMM("y", h, ys)
		if change == "states" {
			hidden.Deterministic("state", 1)
		}
		return mustCompile(t, m).Fingerprint()
	}
	plain := build("")
	for _, same := range []string{"data", "states"} {
		require.Equal(t, plain, build(same), same)
	}
	seen := map[string]string{plain: ""}
	for _, change := range []string{"length", "initial", "transition", "varying", "lags", "emission"} {
		f := build(change)
		require.NotContains(t, seen, f, change)
		seen[f] = change
	}
}

// Mistakes are errors of Compile that name the observation and what is wrong.
func TestHMMErrors(t *testing.T) {
	half := graph.Numbers(0.5, 0.5)
	good := func(z graph.Expr) graph.HMM {
		return graph.HMM{Initial: half, Transition: [][]graph.Expr{half, half}, Emission: func(int, []int) graph.Dist { return graph.Normal(z, 1) }}
	}
	other := graph.NewModel().Sample("other", graph.Beta(1, 1))
	for _, c := range []struct {
		says   string
		change func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64
	}{
		{"there are no data", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 { return nil }},
		{"Initial is empty", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 { h.Initial = nil; return []float64{1} }},
		{"Emission is nil", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 { h.Emission = nil; return []float64{1} }},
		{"an HMM of -1 lags", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 { h.Lags = -1; return []float64{1} }},
		{"more than 256 tuples", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 { h.Lags = 8; return []float64{1} }},
		{"Transition has 1 rows for 2 states", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 {
			h.Transition = h.Transition[:1]
			return []float64{1}
		}},
		{"Transition[1] has 1 probabilities for 2 states", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 {
			h.Transition[1] = graph.Numbers(1)
			return []float64{1}
		}},
		{"the probabilities of Initial add up to 0.9", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 {
			h.Initial = graph.Numbers(0.5, 0.4)
			return []float64{1}
		}},
		{"TransitionAt(1)[0]: 1.5 is not a probability", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 {
			h.TransitionAt = func(int) [][]graph.Expr { return [][]graph.Expr{graph.Numbers(1.5, -0.5), half} }
			return []float64{1, 2}
		}},
		{"Initial: NaN is not a probability", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 {
			h.Initial = graph.Numbers(math.NaN(), 0)
			return []float64{1, 2}
		}},
		{"Transition[0] = z can leave (0, 1), and nothing keeps z in", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 {
			h.Transition[0] = []graph.Expr{z, graph.Sub(1, z)}
			return []float64{1}
		}},
		{"Initial: a value of another model", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 {
			h.Initial = []graph.Expr{other, graph.Sub(1, other)}
			return []float64{1}
		}},
		{"sigma = -1 must be positive", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 {
			h.Emission = func(int, []int) graph.Dist { return graph.Normal(z, -1) }
			return []float64{1}
		}},
		{"the value -2 is outside the support of Poisson", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 {
			h.Emission = func(_ int, s []int) graph.Dist {
				if s[0] == 1 {
					return graph.Poisson(graph.Exp(z))
				}
				return graph.Normal(z, 1)
			}
			return []float64{-2}
		}},
		{`the name "z" is already taken`, func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 { return []float64{0.25} }},
		{"the value +Inf is not finite", func(m *graph.Model, z graph.Expr, h *graph.HMM) []float64 { return []float64{math.Inf(1)} }},
	} {
		m := graph.NewModel()
		z := m.Sample("z", graph.Normal(0, 1))
		h := good(z)
		ys := c.change(m, z, &h)
		name := "y"
		if len(ys) == 1 && ys[0] == 0.25 {
			name = "z"
		}
		m.ObserveHMM(name, h, ys)
		_, err := m.Compile()
		require.ErrorContains(t, err, c.says)
		require.ErrorContains(t, err, "hmm_test.go:")
	}
	m := graph.NewModel()
	m.ObserveHMM("y", good(m.Sample("z", graph.Normal(0, 1))), []float64{1}).Deterministic("s", 2)
	_, err := m.Compile()
	require.ErrorContains(t, err, "state 2 of 2")
	m = graph.NewModel()
	z := m.Sample("z", graph.Normal(0, 1))
	m.Plate(2, func(p *graph.Plate) { m.ObserveHMM("y", good(z), []float64{1}) })
	_, err = m.Compile()
	require.ErrorContains(t, err, "a chain in each row takes a loop in place of the plate")
}

// A step of a chain of two states, for one sample of sixteen: value and gradient.
func BenchmarkHMM(b *testing.B) {
	for _, steps := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			ys := make([]float64, steps)
			for t := range ys {
				ys[t] = float64(t/50%2) + rng.NormFloat64()
			}
			m := graph.NewModel()
			mean := []graph.Expr{m.Sample("low", graph.Normal(0, 1)), m.Sample("high", graph.Normal(1, 1))}
			stay, leave := m.Sample("stay", graph.Beta(9, 1)), m.Sample("leave", graph.Beta(1, 9))
			noise := m.Sample("noise", graph.HalfNormal(1))
			m.ObserveHMM("y", graph.HMM{
				Initial: graph.Numbers(0.5, 0.5), Transition: [][]graph.Expr{{stay, graph.Sub(1, stay)}, {leave, graph.Sub(1, leave)}},
				Emission: func(_ int, s []int) graph.Dist { return graph.Normal(mean[s[0]], noise) },
			}, ys)
			d, err := m.Compile()
			require.NoError(b, err)
			const samples = 16
			x, err := d.Executor(samples, graph.Compute{Out: true, Grad: true})
			require.NoError(b, err)
			for i := range x.Z {
				x.Z[i] = 0.3 * rng.NormFloat64()
			}
			b.ResetTimer()
			for range b.N {
				_ = x.Run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/samples/float64(steps), "ns/step")
		})
	}
}
