package programs

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
)

// Vectors and hidden chains: each is drawn, written and interpreted here.

// vector is a vector of latents, or one latent where there is no room.
func (g *generator) vector() stmt {
	s := stmt{op: []string{"several", "dirichlet", "multivariate", "ordered"}[g.pick(4)], name: g.name("v"), n: 2 + g.pick(2)}
	if s.op == "multivariate" {
		s.n = 2
	}
	if g.p.dim+s.n > g.Most {
		return stmt{op: "factor", e: []expr{apply("tanh", g.value(2))}}
	}
	s.law, g.p.dim = g.continuous(), g.p.dim+s.n
	switch s.op {
	case "dirichlet":
		s.law = Law{Kinds: "ppp"[:s.n], Space: Unit}
		g.p.dim--
	case "multivariate":
		s.law = Law{Kinds: normalKinds, Space: Line}
	case "ordered":
		s.law = fewLaws[g.pick(3)]
	}
	s.e, s.variable = g.lawParams(s.law, g.pick(2) == 0), s.law.variable()
	s.i = g.p.vars
	for k := range s.n {
		kind := latent
		if s.op == "dirichlet" && (k > 0 || s.n > 2) || s.op == "ordered" && k > 0 {
			kind = computed
		}
		g.define(s.law.Space, kind)
	}
	return s
}

// normalKinds are those of the parameters of a normal vector: its mean, and the rows of its
// Cholesky factor.
const normalKinds = "rrprp"

func (g *generator) observeVector() stmt {
	s := stmt{op: "observevector", name: g.name("y"), n: 2, law: Law{Kinds: normalKinds}}
	s.e = g.lawParams(s.law, false)
	s.xs = g.column(len(g.rows)-1, g.number)
	s.xs = append(s.xs, g.column(len(g.rows)-1, g.number)...)
	return s
}

// chain is a hidden chain of two states.
func (g *generator) chain() stmt {
	law := g.Laws[g.pick(len(g.Laws))]
	s := stmt{op: "hmm", name: g.name("y"), n: 1 + g.pick(4), lags: g.pick(2), varying: g.pick(2) == 0}
	s.law = Law{Make: law.Make, LogProb: law.LogProb, Kinds: "uuu" + law.Kinds + law.Kinds}
	s.e = g.lawParams(Law{Kinds: "uuu"}, false)
	for range 2 {
		s.e = append(s.e, g.lawParams(law, false)...)
	}
	for range s.n {
		s.xs = append(s.xs, law.Xs[g.pick(len(law.Xs))])
	}
	return s
}

// emission is which of two emissions the states now and before have.
func emission(states []int) int {
	if len(states) == 1 {
		return states[0]
	}
	return states[0] ^ states[1]
}

// swapped reports whether the rows of the transition to step t are the other way round.
func (s *stmt) swapped(t int) bool { return s.varying && t%2 != 0 }

// normal is the distribution of vectors with parameters as normalKinds.
func normal(p []graph.Expr) graph.VectorDist {
	return graph.MultivariateNormal(p[:2], [][]graph.Expr{{p[2]}, {p[3], p[4]}})
}

// vector writes a vector.
func (w *writer) vector(s stmt) {
	p := w.params(s)
	var x []graph.Expr
	switch s.op {
	case "several":
		x = w.m.SampleN(s.name, s.n, s.law.Make(p))
	case "dirichlet":
		x = w.m.SampleVector(s.name, graph.Dirichlet(p...))
	case "multivariate":
		x = w.m.SampleVector(s.name, normal(p))
	case "ordered":
		x = w.m.SampleVector(s.name, graph.Ordered(s.n, s.law.Make(p)))
	case "observevector":
		rows := slices.Collect(slices.Chunk(s.xs, s.n))
		if len(w.plates) > 0 {
			w.plates[len(w.plates)-1].ObserveVector(s.name, normal(p), rows)
		} else {
			w.observeVector(s.name, p, rows[at(w.n, w.row, len(w.row)-1)])
		}
	}
	copy(w.vars[s.i:], x)
}

func (w *writer) observeVector(name string, p []graph.Expr, x []float64) {
	switch {
	case !w.bare || !math.IsNaN(x[1]):
		w.m.ObserveVector(name, normal(p), x)
	case !math.IsNaN(x[0]):
		w.m.Observe(name, graph.Normal(p[0], p[2]), x[0])
	}
}

// chain writes a hidden chain.
func (w *writer) chain(s stmt) {
	p := w.params(s)
	first, stay, rest := p[0], p[1:3], p[3:]
	rows := func(t int) [][]graph.Expr {
		m := [][]graph.Expr{{stay[0], graph.Sub(1, stay[0])}, {graph.Sub(1, stay[1]), stay[1]}}
		if s.swapped(t) {
			slices.Reverse(m)
		}
		return m
	}
	h := graph.HMM{Initial: []graph.Expr{first, graph.Sub(1, first)}, Transition: rows(0), Lags: s.lags}
	if s.varying {
		h.TransitionAt = rows
	}
	h.Emission = func(_ int, states []int) graph.Dist {
		k := emission(states)
		return s.law.Make(rest[k*len(rest)/2 : (k+1)*len(rest)/2])
	}
	w.m.ObserveHMM(s.name, h, s.xs).Deterministic(s.name+" state", 1)
}

// vector interprets a vector.
func (in *interpreter) vector(s *stmt) {
	p := in.params(s)
	x := in.vars[s.i:]
	switch s.op {
	case "several":
		for k := range s.n {
			v, logJac := s.variable.value(in.coordinate())
			in.LogProb += s.law.LogProb(v, p) + logJac
			x[k] = v
		}
	case "dirichlet": // by the density of the shares
		left, sum, log := 1.0, 0.0, 0.0
		for k, a := range p {
			x[k] = left
			if k+1 < s.n {
				stick, logJac := s.variable.value(in.coordinate())
				log += logJac + math.Log(left)
				x[k] *= stick
				left *= 1 - stick
			}
			norm, _ := math.Lgamma(a)
			log += (a-1)*math.Log(x[k]) - norm
			sum += a
		}
		norm, _ := math.Lgamma(sum)
		in.LogProb += log + norm
	case "multivariate":
		x[0], x[1] = in.coordinate(), in.coordinate()
		in.LogProb += logNormalVector(x[:2], p)
	case "ordered": // as the order of independent draws
		u := in.coordinate()
		for k := range s.n {
			if k > 0 {
				gap := in.coordinate()
				u += math.Exp(gap)
				in.LogProb += gap
			}
			v, logJac := s.variable.value(u)
			in.LogProb += s.law.LogProb(v, p) + logJac + math.Log(float64(k+1))
			x[k] = v
		}
	case "observevector":
		row := at(in.n, in.row, len(in.row)-1)
		a, b := in.datum(s.xs[row*s.n]), in.datum(s.xs[row*s.n+1])
		switch sd := math.Hypot(p[3], p[4]); { // of b
		case !math.IsNaN(a) && !math.IsNaN(b):
			in.add(logNormalVector([]float64{a, b}, p))
		case !math.IsNaN(a):
			in.add(distuv.Normal{Mu: p[0], Sigma: p[2]}.LogProb(a))
		case !math.IsNaN(b):
			in.add(distuv.Normal{Mu: p[1], Sigma: sd}.LogProb(b))
		}
	}
	if s.op == "dirichlet" || s.op == "ordered" {
		for _, v := range x[:s.n] {
			in.record(v)
		}
	}
}

// logNormalVector is the log density of a normal vector, by its covariance.
func logNormalVector(x, p []float64) float64 {
	a, b, c := p[2]*p[2], p[2]*p[3], p[3]*p[3]+p[4]*p[4]
	det, u, v := a*c-b*b, x[0]-p[0], x[1]-p[1]
	return -0.5*(c*u*u-2*b*u*v+a*v*v)/det - 0.5*math.Log(det) - math.Log(2*math.Pi)
}

// chain interprets a hidden chain: it adds up its paths.
func (in *interpreter) chain(s *stmt) {
	p := in.params(s)
	rest, xs := p[3:], make([]float64, s.n)
	for t, x := range s.xs {
		xs[t] = in.datum(x)
	}
	path := make([]int, s.lags+s.n)
	var logProbs []float64 // of all paths
	inSecond := make([][]float64, s.n)
	var walk func(i int, logProb float64)
	walk = func(i int, logProb float64) {
		if i == len(path) {
			logProbs = append(logProbs, logProb)
			for t, state := range path[s.lags:] {
				if state == 1 {
					inSecond[t] = append(inSecond[t], logProb)
				}
			}
			return
		}
		for state := range 2 {
			path[i] = state
			q := p[0] // of state 0
			if i > 0 {
				from := path[i-1]
				if s.swapped(i - s.lags) {
					from = 1 - from
				}
				if q = p[1]; from == 1 {
					q = 1 - p[2]
				}
			}
			if state == 1 {
				q = 1 - q
			}
			logProb := logProb + math.Log(q)
			if t := i - s.lags; t >= 0 {
				states := slices.Clone(path[t : i+1])
				slices.Reverse(states)
				if k := emission(states); !math.IsNaN(xs[t]) {
					logProb += s.law.LogProb(xs[t], rest[k*len(rest)/2:(k+1)*len(rest)/2])
				}
			}
			walk(i+1, logProb)
		}
	}
	walk(0, 0)
	total := floats.LogSumExp(logProbs)
	in.add(total)
	for _, paths := range inSecond {
		in.record(math.Exp(floats.LogSumExp(paths) - total))
	}
}
