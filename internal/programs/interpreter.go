package programs

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Run is what the program computes at one point.
type Run struct {
	LogProb float64
	// Decisions are the comparisons that the program makes, in their order, whether what
	// they decide counts or not.
	Decisions []bool
	// Records are the recorded values, NaN in blocks that are not entered.
	Records []float64
}

// Run runs the program at u, Dim coordinates.
func (p *Program) Run(u []float64) Run { return p.run(u, nil) }

// RunAs runs the program at u with the decisions of another run: it continues the region
// of that run.
func (p *Program) RunAs(u []float64, decisions []bool) Run { return p.run(u, decisions) }

// RunGiven is RunAs with other data, in the order in which the program observes them. NaN is what is missing.
func (p *Program) RunGiven(u []float64, decisions []bool, data []float64) Run {
	return p.runGiven(u, decisions, data)
}

func (p *Program) run(u []float64, script []bool) Run { return p.runGiven(u, script, nil) }

func (p *Program) runGiven(u []float64, script []bool, data []float64) Run {
	in := interpreter{u: u, data: data, vars: make([]float64, p.vars), vectors: make([][]float64, p.vectors), script: script, live: true}
	for i, v := range p.params {
		in.vars[i], _ = v.value(in.coordinate())
	}
	in.block(p.body)
	return in.Run
}

// An interpreter runs a program. It evaluates all there is, so that decisions come in the
// same order everywhere.
type interpreter struct {
	Run
	u       []float64 // that are still to come
	data    []float64 // likewise; nil for those of the program
	vars    []float64
	vectors [][]float64
	script  []bool    // nil to decide
	stack   []float64 // of operands
	n, row  []int     // of open plates
	live    bool      // what it adds to log r counts
}

func (in *interpreter) coordinate() float64 {
	u := in.u[0]
	in.u = in.u[1:]
	return u
}

// datum is the next observation; the program has own.
func (in *interpreter) datum(own float64) float64 {
	if in.data == nil {
		return own
	}
	x := in.data[0]
	in.data = in.data[1:]
	return x
}

func (in *interpreter) decide(yes bool) bool {
	if in.script != nil {
		yes = in.script[len(in.Decisions)]
	}
	in.Decisions = append(in.Decisions, yes)
	return yes
}

func (in *interpreter) block(list []stmt) {
	for i := range list {
		in.stmt(&list[i])
	}
}

func (in *interpreter) add(x float64) {
	if in.live {
		in.LogProb += x
	}
}

func (in *interpreter) stmt(s *stmt) {
	switch s.op {
	case "sample":
		params := in.params(s)
		if s.law.Space == Discrete {
			in.vars[s.i] = in.discrete(s, params)
			return
		}
		x, logJac := s.variable.value(in.coordinate())
		in.LogProb += s.law.LogProb(x, params) + logJac // also where it is not used
		in.vars[s.i] = x
	case "observe":
		params := in.params(s)
		if x := in.datum(s.xs[at(in.n, in.row, len(in.row)-1)]); !math.IsNaN(x) {
			in.add(s.law.LogProb(x, params))
		}
	case "factor":
		in.add(in.expr(&s.e[0]))
	case "let":
		in.vars[s.i] = in.expr(&s.e[0])
	case "record":
		in.record(in.expr(&s.e[0]))
	case "name":
		in.guard(&s.g)
	case "require":
		if !in.guard(&s.g) {
			in.add(math.Inf(-1))
		}
	case "if":
		live := in.live
		holds := in.guard(&s.g)
		in.live = live && holds
		in.block(s.then)
		in.live = live && !holds
		in.block(s.othw)
		in.live = live
	case "several", "dirichlet", "multivariate", "ordered", "observevector":
		in.vector(s)
	case "hmm":
		in.chain(s)
	case "collect":
		in.vectors[s.i] = append(in.vectors[s.i], in.expr(&s.e[0]))
	case "plate":
		for row := range s.n {
			in.n, in.row = append(in.n, s.n), append(in.row, row)
			in.block(s.then)
			in.n, in.row = in.n[:len(in.n)-1], in.row[:len(in.row)-1]
		}
	}
}

// discrete is a discrete latent: how many of its cuts are below its coordinate, which is
// standard normal. Where its probabilities depend on others the cuts are those of equal ones,
// and log r makes up for it.
func (in *interpreter) discrete(s *stmt, params []float64) float64 {
	u, first, n := in.coordinate(), s.variable.first, s.variable.last-s.variable.first+1
	in.LogProb += distuv.UnitNormal.LogProb(u)
	fixed := !slices.ContainsFunc(s.e, func(x expr) bool { return x.op != "const" })
	mass := func(j int) float64 {
		if fixed {
			return math.Exp(s.law.LogProb(float64(first+j), params))
		}
		return 1 / float64(n)
	}
	x := first
	for k := 1; k < n; k++ {
		below, above := 0.0, 0.0
		for j := range n {
			if j < k {
				below += mass(j)
			} else {
				above += mass(j)
			}
		}
		cut := distuv.UnitNormal.Quantile(below / (below + above))
		if above < below { // which keeps its digits
			cut = -distuv.UnitNormal.Quantile(above / (below + above))
		}
		if in.decide(u > cut) {
			x++
		}
	}
	if !fixed {
		in.LogProb += s.law.LogProb(float64(x), params) + math.Log(float64(n))
	}
	return float64(x)
}

func (in *interpreter) params(s *stmt) []float64 {
	list := make([]float64, len(s.e))
	for i := range s.e {
		switch x := in.expr(&s.e[i]); s.law.Kinds[i] {
		case 'r':
			list[i] = 2 * math.Tanh(x)
		case 'p':
			list[i] = math.Exp(math.Tanh(x))
		case 'u':
			list[i] = sigmoid(math.Tanh(x))
		default:
			list[i] = x
		}
	}
	return list
}

// record records what Model.Deterministic has.
func (in *interpreter) record(x float64) {
	if !in.live {
		x = math.NaN()
	}
	in.Records = append(in.Records, x)
}

func (in *interpreter) guard(g *guard) bool {
	switch g.op {
	case "greater", "less":
		a, b := in.expr(&g.a), in.expr(&g.b)
		if g.op == "less" {
			a, b = b, a
		}
		return in.decide(a > b)
	case "equal": // decided where both come from
		return in.expr(&g.a) == in.expr(&g.b)
	}
	all, some := true, false
	for i := range g.kids {
		holds := in.guard(&g.kids[i])
		all, some = all && holds, some || holds
	}
	return g.op == "and" && all || g.op == "or" && some || g.op == "not" && !all
}

func (in *interpreter) expr(e *expr) float64 {
	switch e.op {
	case "const":
		return e.v
	case "column":
		return e.xs[at(in.n, in.row, e.deep)]
	case "index":
		return in.vectors[e.i][e.at[at(in.n, in.row, e.deep)]]
	case "var":
		return in.vars[e.i]
	}
	holds := e.g != nil && in.guard(e.g)
	base := len(in.stack)
	for i := range e.kids {
		x := in.expr(&e.kids[i])
		in.stack = append(in.stack, x)
	}
	kids := in.stack[base:]
	in.stack = in.stack[:base]
	switch e.op {
	case "if":
		if holds {
			return kids[0]
		}
		return kids[1]
	case "max":
		return in.larger(kids[0], kids[1])
	case "min":
		return -in.larger(-kids[0], -kids[1])
	case "abs":
		return in.larger(kids[0], -kids[0])
	case "clip":
		return -in.larger(-in.larger(kids[0], kids[1]), -kids[2])
	}
	return e.value(kids...)
}

func (in *interpreter) larger(a, b float64) float64 {
	if in.decide(a > b) {
		return a
	}
	return b
}

// A Crossing is where decisions change on the way from one point to another.
type Crossing struct {
	At []float64
	// Before and After are the decisions on both sides.
	Before, After []bool
}

// Crossings are those on the straight way between two points: of each change between
// neighbours in a row of so many points, those that bisection comes to, to about 1e-14.
func (p *Program) Crossings(from, to []float64, points int) (list []Crossing) {
	return p.CrossingsWithin(from, to, points, 1e-14)
}

// CrossingsWithin is Crossings to a part of the way.
func (p *Program) CrossingsWithin(from, to []float64, points int, part float64) (list []Crossing) {
	on := func(t float64) []float64 {
		u := make([]float64, len(from))
		for i := range u {
			u[i] = from[i] + t*(to[i]-from[i])
		}
		return u
	}
	var between func(a, b float64, before, after []bool)
	between = func(a, b float64, before, after []bool) {
		mid := 0.5 * (a + b)
		switch {
		case slices.Equal(before, after):
		case b-a <= part || mid == a || mid == b:
			list = append(list, Crossing{on(mid), before, after})
		default:
			there := p.Run(on(mid)).Decisions
			between(a, mid, before, there)
			between(mid, b, there, after)
		}
	}
	before := p.Run(from).Decisions
	for k := range points {
		a, b := float64(k)/float64(points), float64(k+1)/float64(points)
		after := p.Run(on(b)).Decisions
		between(a, b, before, after)
		before = after
	}
	return list
}

// Jump is the change of log r at u where it goes the given way: from the region that is a
// little before to the one that is a little behind.
func (p *Program) Jump(u, way []float64) float64 {
	const little = 1e-7
	beside := func(by float64) []bool {
		at := slices.Clone(u)
		for i, x := range way {
			at[i] += by * x
		}
		return p.Run(at).Decisions
	}
	return p.RunAs(u, beside(little)).LogProb - p.RunAs(u, beside(-little)).LogProb
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
