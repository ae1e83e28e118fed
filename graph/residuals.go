package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/kernel"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/vec"
)

// Residuals are a batch of N points in two coordinates: the unconstrained
// latents z, and what the priors leave of them,
//
//	e_i = (z_i − center_i)/scale_i,
//
// where center_i and scale_i are those of latent i's prior (see PriorStart) with
// the parameters and branches that the program gives it after z_1, …, z_i−1. So
// a change of one residual moves all later latents whose priors follow it,
// across guards too. Where only location and scale of a prior depend on others,
// as those of Normal, LogNormal, Laplace and Exponential can, e_i is independent
// of them a priori. Parameters stay where they start, whatever their residuals are.
//
// Matrices have a row for each latent or hyperplane and N contiguous columns.
// Residuals are not safe for concurrent use.
type Residuals struct {
	N int
	// Z, E and Signs are the latents, their residuals, and the signs of the
	// Arrangement's hyperplanes at Z, as in an Executor.
	Z, E, Signs []float64
	// LogPrior is the log density of each column of E under the prior: NaN where a
	// prior has no meaning, for instance a negative scale.
	LogPrior []float64

	d        *Density
	steps    []residualStep
	row      [][]float64           // values of nodes, by ID
	constant map[float64][]float64 // rows that are one number
	tmp      []float64
	logs     []float64 // of scales
	p        []float64
	columns  []int // where residuals of the step drawn are
	drawn    *residualStep
	paramsOf func(j int) []float64 // of drawn in column columns[j]
	located  int                   // the step that shared centers and scales are of; −1 for none
}

// A residualStep leads to one latent from those before it.
type residualStep struct {
	Dist
	before        []instruction    // that its prior needs and no earlier one did
	after         []instruction    // that logProb needs then
	places        [2][]instruction // what this and later centers and scales take of before and after
	logProb       []float64        // row of log p(z), of a law that has no residual
	normal        bool             // center and scale are the parameters
	numbers       []float64        // the parameters, if none depends on a latent
	rows          [][]float64      // the parameters otherwise
	center, scale []float64        // rows
	shared        bool             // other steps use center and scale too
	like          int              // the first of successive ones that have the same
	constant      bool             // scale is a number
}

// An instruction computes a row from the rows of a node's operands.
type instruction struct {
	ir.Node
	out []float64
}

// Residuals returns a batch of n points.
func (d *Density) Residuals(n int) (*Residuals, error) {
	d.made()
	if n < 1 {
		return nil, fmt.Errorf("graph: a batch of %d points", n)
	}
	var roots, priors []ir.ID
	for _, l := range d.m.latents {
		roots = append(roots, l.prior.nodes()...)
	}
	for _, t := range d.m.terms {
		if t.prior {
			priors = append(priors, t.id)
		}
	}
	for i, id := range priors {
		if d.m.latents[d.m.params+i].prior.law.residual == nil {
			roots = append(roots, id)
		}
	}
	dim, rows := d.Dim(), d.arr.Len()+4*d.Dim()+6
	for _, needed := range ir.Needed(&d.nodes, roots) {
		if needed {
			rows++
		}
	}
	if err := memory.Check(fmt.Sprintf("a batch of %d points", n), 8*float64(rows)*float64(n)); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	r := &Residuals{
		N: n, Z: make([]float64, dim*n), E: make([]float64, dim*n), Signs: make([]float64, d.arr.Len()*n),
		LogPrior: make([]float64, n), d: d, row: make([][]float64, d.nodes.Len()), constant: map[float64][]float64{}, tmp: make([]float64, n), logs: make([]float64, n),
	}
	r.columns = make([]int, 0, n)
	r.paramsOf = func(j int) []float64 { return r.params(r.drawn, r.columns[j]) }
	center, scale := make([]float64, n), make([]float64, n)
	for i := range d.m.params {
		at := d.param(i)
		if unit := d.m.latents[i].prior.params[1].v; d.loose {
			r.steps = append(r.steps, r.step(Normal(at, unit), center, scale))
			continue
		}
		r.steps = append(r.steps, residualStep{center: r.number(at), scale: r.number(0), constant: true})
	}
	for i, l := range d.m.latents[d.m.params:] {
		s := r.step(l.prior, center, scale)
		if l.prior.law.residual == nil {
			of := map[*float64]bool{&r.Z[(d.m.params+i)*n]: true} // the rows that depend on the latent
			for _, in := range r.need(nil, priors[i]) {
				depends := in.Kind == ir.Sign
				in.Operands(func(o ir.ID) { depends = depends || of[&r.row[o][0]] })
				if of[&in.out[0]] = depends; depends {
					s.after = append(s.after, in)
				} else {
					s.before = append(s.before, in)
				}
			}
			s.logProb = r.row[priors[i]]
		}
		r.steps = append(r.steps, s)
	}
	r.findPlaces()
	return r, nil
}

// findPlaces finds the instructions that centers and scales take.
func (r *Residuals) findPlaces() {
	taken := map[*float64]bool{}
	of := func(list []instruction) (some []instruction) {
		for _, in := range slices.Backward(list) {
			if taken[&in.out[0]] {
				some = append(some, in)
				in.Operands(func(o ir.ID) { taken[&r.row[o][0]] = true })
			}
		}
		slices.Reverse(some)
		return some
	}
	for i := range slices.Backward(r.steps) {
		s := &r.steps[i]
		s.places[1] = of(s.after)
		for _, row := range s.rows {
			taken[&row[0]] = true
		}
		s.places[0] = of(s.before)
	}
}

// step prepares the step to a latent with the given prior. center and scale are
// rows that steps share.
func (r *Residuals) step(prior Dist, center, scale []float64) residualStep {
	s := residualStep{Dist: prior, normal: prior.law == normal || prior.law == logNormal}
	if roots := prior.nodes(); len(roots) == 0 {
		for _, x := range prior.params {
			s.numbers = append(s.numbers, x.v)
		}
		c, sd := prior.law.start(s.numbers)
		s.center, s.scale, s.constant = r.number(c), r.number(sd), true
		return s
	}
	for _, x := range prior.params {
		if x.m == nil {
			s.rows = append(s.rows, r.number(x.v))
			continue
		}
		s.before = r.need(s.before, x.id)
		s.rows = append(s.rows, r.row[x.id])
	}
	if s.normal {
		s.center, s.scale, s.constant = s.rows[0], s.rows[1], prior.params[1].m == nil
	} else {
		s.center, s.scale, s.shared = center, scale, true
		s.like = len(r.steps)
		if at := s.like - 1; at >= 0 && r.steps[at].sameStart(prior) {
			s.like = r.steps[at].like
		}
	}
	return s
}

// sameStart reports whether center and scale are shared, and those of a prior too: laws of one name are one law.
func (s *residualStep) sameStart(prior Dist) bool {
	return s.shared && s.law.name == prior.law.name && slices.Equal(s.params, prior.params)
}

// number is a row of one number.
func (r *Residuals) number(v float64) []float64 {
	return ir.Remembered(r.constant, v, func() []float64 { return slices.Repeat([]float64{v}, r.N) })
}

// need makes a row for a node and, first, for its operands, and adds what computes them to list.
func (r *Residuals) need(list []instruction, id ir.ID) []instruction {
	if r.row[id] != nil {
		return list
	}
	n := r.d.nodes.At(id)
	a := int(n.A)
	switch n.Kind {
	case ir.Const:
		r.row[id] = r.number(n.V)
		return list
	case ir.Data:
		r.row[id] = r.number(r.d.data[a])
		return list
	case ir.Latent:
		r.row[id] = r.Z[a*r.N : (a+1)*r.N]
		return list
	case ir.Sign:
		r.row[id] = r.Signs[a*r.N : (a+1)*r.N]
	default:
		n.Operands(func(o ir.ID) { list = r.need(list, o) })
		r.row[id] = make([]float64, r.N)
	}
	return append(list, instruction{n, r.row[id]})
}

func (r *Residuals) run(in instruction) {
	a, b, c := r.row[in.A], r.row[in.B], r.row[in.C]
	switch in.Kind {
	case ir.Sign:
		r.d.arr.SignRow(in.out, int(in.A), r.Z, r.N)
	case ir.Sum:
		vec.Affine(in.out, r.row[in.Terms[0].Atom], in.Terms[0].Coef, in.V)
		for _, t := range in.Terms[1:] {
			vec.AddScaled(in.out, t.Coef, r.row[t.Atom])
		}
	case ir.Unary, ir.Binary, ir.Ternary:
		kernel.Elementwise{F: in.Fn}.Eval(r.matrix(in.out), []kernel.Matrix{r.matrix(a), r.matrix(b), r.matrix(c)}[:in.Arity()])
	case ir.Select:
		vec.Select(in.out, a, b, c)
	case ir.Not:
		vec.Affine(in.out, a, -1, 1)
	case ir.And:
		vec.Mul(in.out, a, b)
	case ir.Forward:
		x := make([]float64, len(in.Terms))
		for k := range in.out {
			for i, t := range in.Terms {
				x[i] = r.row[t.Atom][k]
			}
			in.out[k] = ir.ForwardValue(int(in.A), int(in.B), x)
		}
	default:
		panic("graph: an input of a derived program in a model")
	}
}

func (r *Residuals) matrix(row []float64) kernel.Matrix {
	return kernel.Matrix{Data: row, Rows: 1, Cols: r.N}
}

// Follow computes Z from E, and all else from both.
func (r *Residuals) Follow() { r.follow(func(int, *residualStep, []float64) bool { return false }) }

// Place computes Z from E, as Follow does, and stores the LogScale of each column in dst. It computes nothing else, and takes less time.
func (r *Residuals) Place(dst []float64) {
	clear(sized(dst, r.N, "columns"))
	r.located = -1
	for i := range r.steps {
		s, z := &r.steps[i], r.Z[i*r.N:][:r.N]
		for _, in := range s.places[0] {
			r.run(in)
		}
		if s.law == nil { // a parameter
			copy(z, s.center)
			continue
		}
		r.locate(s)
		s.place(z, r.E[i*r.N:][:r.N])
		r.addLogScale(dst, s)
		for _, in := range s.places[1] {
			r.run(in)
		}
	}
}

// Draw draws E from the prior, with all that follows.
func (r *Residuals) Draw(rng *rand.Rand) {
	checkSource(rng)
	r.columns = r.columns[:0]
	for k := range r.N {
		r.columns = append(r.columns, k)
	}
	r.follow(func(_ int, s *residualStep, e []float64) bool {
		r.draw(s, e, rng)
		return false
	})
}

// Renew draws the residual of latent which[k] in column k from its prior, given
// the latents before it there, with all that follows. It stores in logRatio how
// the log density of that residual has changed. It panics unless both slices
// have N numbers.
func (r *Residuals) Renew(which []int, logRatio []float64, rng *rand.Rand) {
	checkSource(rng)
	sized(which, r.N, "columns")
	sized(logRatio, r.N, "columns")
	clear(logRatio) // of parameters
	r.follow(func(i int, s *residualStep, e []float64) bool {
		if !slices.Contains(which, i) {
			return false
		}
		z := r.Z[i*r.N : (i+1)*r.N]
		add := func(sign float64) { // the log density where latent i is renewed
			s.place(z, e)
			r.logResidual(s, e)
			for k, latent := range which {
				if latent == i {
					logRatio[k] += sign * r.tmp[k]
				}
			}
		}
		add(-1)
		r.columns = r.columns[:0]
		for k, latent := range which {
			if latent == i {
				r.columns = append(r.columns, k)
			}
		}
		r.draw(s, e, rng)
		add(1)
		return true
	})
}

// follow is Follow with residuals that residual changes on the way. It says whether it has stored their latents, and
// their log densities in r.tmp.
func (r *Residuals) follow(residual func(i int, s *residualStep, e []float64) bool) {
	r.walk(func(i int, s *residualStep, z, e []float64) bool {
		if residual(i, s, e) {
			return true
		}
		s.place(z, e)
		return false
	})
}

// place stores center + scale·e in z.
func (s *residualStep) place(z, e []float64) {
	vec.Mul(z, e, s.scale)
	vec.Add(z, z, s.center)
}

// logResidual stores the log densities of the residuals e, whose latents are in Z, in r.tmp.
func (r *Residuals) logResidual(s *residualStep, e []float64) {
	if s.normal { // normalResidual of each
		vec.Affine(r.tmp, e, -0.5, 0)
		vec.Mul(r.tmp, r.tmp, e)
		vec.Affine(r.tmp, r.tmp, 1, -halfLog2Pi)
		return
	}
	if s.logProb == nil {
		for k := range e {
			r.tmp[k] = s.law.residual(e[k], r.params(s, k))
		}
		return
	}
	for _, in := range s.after {
		r.run(in)
	}
	copy(r.tmp, s.logProb)
	r.addLogScale(r.tmp, s)
}

// addLogScale adds the logarithms of the step's scales to dst.
func (r *Residuals) addLogScale(dst []float64, s *residualStep) {
	if s.constant {
		vec.Affine(dst, dst, 1, math.Log(s.scale[0]))
		return
	}
	vec.Log(r.logs, s.scale)
	vec.Add(dst, dst, r.logs)
}

// Invert computes E from Z, and all else from both.
func (r *Residuals) Invert() {
	r.walk(func(_ int, s *residualStep, z, e []float64) bool {
		for k := range e {
			e[k] = (z[k] - s.center[k]) / s.scale[k]
		}
		return false
	})
}

// walk goes from latent to latent; solve finds z or e, and says whether it has stored the log densities of e in r.tmp.
func (r *Residuals) walk(solve func(i int, s *residualStep, z, e []float64) bool) {
	n, normals := r.N, 0.0
	clear(r.LogPrior)
	r.located = -1
	for i := range r.steps {
		s := &r.steps[i]
		for _, in := range s.before {
			r.run(in)
		}
		r.locate(s)
		z, e := r.Z[i*n:(i+1)*n], r.E[i*n:(i+1)*n]
		if s.law == nil { // a parameter
			copy(z, s.center)
			clear(e)
			continue
		}
		switch done := solve(i, s, z, e); {
		case s.normal:
			normals++
			vec.Mul(r.tmp, e, e)
			vec.AddScaled(r.LogPrior, -0.5, r.tmp)
		default:
			if !done {
				r.logResidual(s, e)
			}
			vec.Add(r.LogPrior, r.LogPrior, r.tmp)
		}
		r.judge(s)
	}
	vec.Affine(r.LogPrior, r.LogPrior, 1, -normals*0.5*math.Log(2*math.Pi))
	r.d.arr.SignBatch(r.Signs, r.Z, n)
}

// locate finds the step's centers and scales where they are not parameters.
func (r *Residuals) locate(s *residualStep) {
	if s.shared && s.like != r.located {
		if r.located = s.like; s.law.starts != nil {
			r.p = slices.Grow(r.p[:0], len(s.rows))[:len(s.rows)]
			s.law.starts(s.center, s.scale, s.rows, r.p)
			return
		}
		for k := range r.N {
			s.center[k], s.scale[k] = s.law.start(r.params(s, k))
		}
	}
}

// judge makes LogPrior NaN where the step's parameters have no meaning.
func (r *Residuals) judge(s *residualStep) {
	for j, row := range s.rows {
		if s.Dist.params[j].m == nil {
			continue
		}
		vec.AddScaled(r.LogPrior, 0, row) // NaN and infinities
		if rule := s.law.params[j].rule; rule != anyReal {
			for k, v := range row {
				if rule.excludes(v) {
					r.LogPrior[k] = math.NaN()
				}
			}
		}
	}
}

// LogScale stores Σ log scale_i = log |dz/de| of each column in dst, so that the
// prior's log density of Z is LogPrior less that. It panics unless dst has N
// numbers.
func (r *Residuals) LogScale(dst []float64) {
	clear(sized(dst, r.N, "columns"))
	for i := range r.steps {
		if s := &r.steps[i]; s.law != nil {
			r.locate(s)
			r.addLogScale(dst, s)
		}
	}
}

// params are the parameters of the prior in column k. The slice is used again at
// the next call.
func (r *Residuals) params(s *residualStep, k int) []float64 {
	if s.numbers != nil {
		return s.numbers
	}
	r.p = r.p[:0]
	for _, row := range s.rows {
		r.p = append(r.p, row[k])
	}
	return r.p
}

// draw draws the residuals e in r.columns from the prior.
func (r *Residuals) draw(s *residualStep, e []float64, rng *rand.Rand) {
	if s.normal {
		for _, k := range r.columns {
			e[k] = rng.NormFloat64()
		}
		return
	}
	r.drawn = s
	x := r.tmp[:len(r.columns)]
	s.draws(x, r.paramsOf, rng)
	for j, k := range r.columns {
		e[k] = (x[j] - s.center[k]) / s.scale[k]
	}
}
