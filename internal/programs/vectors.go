package programs

// Vectors and hidden chains.

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
