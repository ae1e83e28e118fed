package residuals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/facetvi/facet/internal/ir"
	"github.com/facetvi/facet/internal/memory"
	"github.com/facetvi/facet/internal/truncnorm"
	"github.com/facetvi/facet/internal/vec"
)

// A Batch is N points in two coordinates, the unconstrained latents z and their residuals e. Matrices have a row for each latent or
// hyperplane and N contiguous columns. A Batch is not safe for concurrent use.
type Batch struct {
	N int
	// Z, E and Signs are the latents, their residuals, and the signs of the
	// Arrangement's hyperplanes at Z, as in an Executor.
	Z, E, Signs []float64
	// LogPrior is the log density of each column of E under the prior: NaN where a
	// prior has no meaning, for instance a negative scale.
	LogPrior []float64

	steps    []step
	rows     rows
	tmp      []float64
	logs     []float64 // of scales
	p        []float64
	columns  []int // where residuals of the step drawn are
	drawn    *step
	paramsOf func(j int) []float64 // of drawn in column columns[j]
	located  int                   // the step that shared centers and scales are of; −1 for none
}

// A step leads to one latent from those before it.
type step struct {
	*Prior
	before        []instruction    // that its prior needs and no earlier one did
	after         []instruction    // that logProb needs then
	places        [2][]instruction // what this and later centers and scales take of before and after
	logProb       []float64        // row of log p(z), of a law that has no density of residuals
	numbers       []float64        // the parameters, if none depends on a latent
	rows          [][]float64      // the parameters otherwise
	center, scale []float64        // rows
	shared        bool             // other steps use center and scale too
	like          int              // the first of successive ones that have the same
	constant      bool             // scale is a number
	judged        []int            // parameters that have a meaning or not
}

// New returns a batch of n points.
func New(of Program, n int) (*Batch, error) {
	if n < 1 {
		return nil, fmt.Errorf("graph: a batch of %d points", n)
	}
	var roots []ir.ID
	for i := range of.Priors {
		p := &of.Priors[i]
		for _, x := range p.Params {
			if !x.IsNumber {
				roots = append(roots, x.ID)
			}
		}
		if p.Start != nil && p.LogProb == nil {
			roots = append(roots, p.Term)
		}
	}
	dim, planes := len(of.Priors), of.Arr.Len()
	count := planes + 4*dim + 6
	for _, needed := range ir.Needed(of.Nodes, roots) {
		if needed {
			count++
		}
	}
	if err := memory.Check(fmt.Sprintf("a batch of %d points", n), 8*float64(count)*float64(n)); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	r := &Batch{
		N: n, Z: make([]float64, dim*n), E: make([]float64, dim*n), Signs: make([]float64, planes*n), LogPrior: make([]float64, n),
		tmp: make([]float64, n), logs: make([]float64, n),
	}
	r.rows = rows{of: of, n: n, z: r.Z, signs: r.Signs, at: make([][]float64, of.Nodes.Len()), constants: map[float64][]float64{}}
	r.columns = make([]int, 0, n)
	r.paramsOf = func(j int) []float64 { return r.params(r.drawn, r.columns[j]) }
	center, scale := make([]float64, n), make([]float64, n)
	for i := range of.Priors {
		s := r.step(&of.Priors[i], center, scale)
		if s.Start != nil && s.LogProb == nil {
			depend := map[*float64]bool{&r.Z[i*n]: true} // the rows that depend on the latent
			for _, in := range r.rows.need(nil, s.Term) {
				depends := in.Kind == ir.Sign
				in.Operands(func(o ir.ID) { depends = depends || depend[&r.rows.at[o][0]] })
				if depend[&in.out[0]] = depends; depends {
					s.after = append(s.after, in)
				} else {
					s.before = append(s.before, in)
				}
			}
			s.logProb = r.rows.at[s.Term]
		}
		r.steps = append(r.steps, s)
	}
	r.findJudged()
	r.findPlaces()
	return r, nil
}

// findJudged finds the parameters that each step judges: what many steps share is judged by the first one.
func (r *Batch) findJudged() {
	type parameter struct {
		row *float64
		law string
		at  int
	}
	seen := map[parameter]bool{}
	for i := range r.steps {
		s := &r.steps[i]
		for j, row := range s.rows {
			if p := (parameter{&row[0], s.Law, j}); !s.Params[j].IsNumber && !seen[p] {
				seen[p] = true
				s.judged = append(s.judged, j)
			}
		}
	}
}

// findPlaces finds the instructions that centers and scales take.
func (r *Batch) findPlaces() {
	taken := map[*float64]bool{}
	of := func(list []instruction) (some []instruction) {
		for _, in := range slices.Backward(list) {
			if taken[&in.out[0]] {
				some = append(some, in)
				in.Operands(func(o ir.ID) { taken[&r.rows.at[o][0]] = true })
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
func (r *Batch) step(prior *Prior, center, scale []float64) step {
	s := step{Prior: prior}
	if prior.Start == nil {
		s.center, s.scale, s.constant = r.rows.number(prior.Params[0].Number), r.rows.number(0), true
		return s
	}
	if !slices.ContainsFunc(prior.Params, func(x Param) bool { return !x.IsNumber }) {
		for _, x := range prior.Params {
			s.numbers = append(s.numbers, x.Number)
		}
		c, sd := prior.Start(s.numbers)
		s.center, s.scale, s.constant = r.rows.number(c), r.rows.number(sd), true
		return s
	}
	for _, x := range prior.Params {
		if x.IsNumber {
			s.rows = append(s.rows, r.rows.number(x.Number))
			continue
		}
		s.before = r.rows.need(s.before, x.ID)
		s.rows = append(s.rows, r.rows.at[x.ID])
	}
	if s.Normal {
		s.center, s.scale, s.constant = s.rows[0], s.rows[1], prior.Params[1].IsNumber
	} else {
		s.center, s.scale, s.shared = center, scale, true
		s.like = len(r.steps)
		if at := s.like - 1; at >= 0 && r.steps[at].sameStart(prior) {
			s.like = r.steps[at].like
		}
	}
	return s
}

// sameStart reports whether center and scale are shared, and those of a prior too.
func (s *step) sameStart(prior *Prior) bool {
	return s.shared && s.Law == prior.Law && slices.Equal(s.Params, prior.Params)
}

// check panics if a slice has not a number for each column.
func (r *Batch) check(n int) {
	if n != r.N {
		panic(fmt.Sprintf("graph: a slice of %d for %d columns", n, r.N))
	}
}

// Follow computes Z from E, and all else from both.
func (r *Batch) Follow() { r.follow(func(int, *step, []float64) bool { return false }) }

// Place computes Z from E, as Follow does, and stores the LogScale of each column in dst. It computes nothing else, and takes less time.
func (r *Batch) Place(dst []float64) {
	r.check(len(dst))
	clear(dst)
	r.located = -1
	for i := range r.steps {
		s, z := &r.steps[i], r.Z[i*r.N:][:r.N]
		for _, in := range s.places[0] {
			r.rows.run(in)
		}
		if s.Start == nil { // a parameter
			copy(z, s.center)
			continue
		}
		r.locate(s)
		s.place(z, r.E[i*r.N:][:r.N])
		r.addLogScale(dst, s)
		for _, in := range s.places[1] {
			r.rows.run(in)
		}
	}
}

// Draw draws E from the prior, with all that follows.
func (r *Batch) Draw(rng *rand.Rand) {
	r.columns = r.columns[:0]
	for k := range r.N {
		r.columns = append(r.columns, k)
	}
	r.follow(func(_ int, s *step, e []float64) bool {
		r.draw(s, e, rng)
		return false
	})
}

// Renew draws the residual of latent which[k] in column k from its prior, given
// the latents before it there, with all that follows. It stores in logRatio how
// the log density of that residual has changed. It panics unless both slices
// have N numbers.
func (r *Batch) Renew(which []int, logRatio []float64, rng *rand.Rand) {
	r.check(len(which))
	r.check(len(logRatio))
	clear(logRatio) // of parameters
	r.follow(func(i int, s *step, e []float64) bool {
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
func (r *Batch) follow(residual func(i int, s *step, e []float64) bool) {
	r.walk(func(i int, s *step, z, e []float64) bool {
		if residual(i, s, e) {
			return true
		}
		s.place(z, e)
		return false
	})
}

// place stores center + scale·e in z.
func (s *step) place(z, e []float64) {
	vec.Mul(z, e, s.scale)
	vec.Add(z, z, s.center)
}

// logResidual stores the log densities of the residuals e, whose latents are in Z, in r.tmp.
func (r *Batch) logResidual(s *step, e []float64) {
	if s.Normal { // normalResidual of each
		vec.Affine(r.tmp, e, -0.5, 0)
		vec.Mul(r.tmp, r.tmp, e)
		vec.Affine(r.tmp, r.tmp, 1, -0.5*math.Log(2*math.Pi))
		return
	}
	if s.logProb == nil {
		for k := range e {
			r.tmp[k] = s.LogProb(e[k], s.center[k], s.scale[k], r.params(s, k))
		}
		return
	}
	for _, in := range s.after {
		r.rows.run(in)
	}
	copy(r.tmp, s.logProb)
	r.addLogScale(r.tmp, s)
}

// addLogScale adds the logarithms of the step's scales to dst.
func (r *Batch) addLogScale(dst []float64, s *step) {
	if s.constant {
		vec.Affine(dst, dst, 1, math.Log(s.scale[0]))
		return
	}
	vec.Log(r.logs, s.scale)
	vec.Add(dst, dst, r.logs)
}

// Invert computes E from Z, and all else from both.
func (r *Batch) Invert() {
	r.walk(func(_ int, s *step, z, e []float64) bool {
		vec.Affine2(e, z, s.center, 1, -1, 0)
		vec.Div(e, e, s.scale)
		return false
	})
}

// walk goes from latent to latent; solve finds z or e, and says whether it has stored the log densities of e in r.tmp.
func (r *Batch) walk(solve func(i int, s *step, z, e []float64) bool) {
	n, normals := r.N, 0.0
	clear(r.LogPrior)
	r.located = -1
	for i := range r.steps {
		s := &r.steps[i]
		for _, in := range s.before {
			r.rows.run(in)
		}
		r.locate(s)
		z, e := r.Z[i*n:(i+1)*n], r.E[i*n:(i+1)*n]
		if s.Start == nil { // a parameter
			copy(z, s.center)
			clear(e)
			continue
		}
		switch done := solve(i, s, z, e); {
		case s.Normal:
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
	r.rows.of.Arr.SignBatch(r.Signs, r.Z, n)
}

// locate finds the step's centers and scales where they are not parameters.
func (r *Batch) locate(s *step) {
	if s.shared && s.like != r.located {
		r.located = s.like
		for k := range r.N {
			s.center[k], s.scale[k] = s.Start(r.params(s, k))
		}
	}
}

// judge makes LogPrior NaN where the step's parameters have no meaning.
func (r *Batch) judge(s *step) {
	for _, j := range s.judged {
		row := s.rows[j]
		vec.AddScaled(r.LogPrior, 0, row) // NaN and infinities
		if excludes := s.Excludes[j]; excludes != nil {
			for k, v := range row {
				if excludes(v) {
					r.LogPrior[k] = math.NaN()
				}
			}
		}
	}
}

// LogScale stores Σ log scale_i = log |dz/de| of each column in dst, so that the
// prior's log density of Z is LogPrior less that. It panics unless dst has N
// numbers.
func (r *Batch) LogScale(dst []float64) {
	r.check(len(dst))
	clear(dst)
	for i := range r.steps {
		if s := &r.steps[i]; s.Start != nil {
			r.locate(s)
			r.addLogScale(dst, s)
		}
	}
}

// params are the parameters of the prior in column k. The slice is used again at
// the next call.
func (r *Batch) params(s *step, k int) []float64 {
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
func (r *Batch) draw(s *step, e []float64, rng *rand.Rand) {
	if s.Normal {
		for _, k := range r.columns {
			e[k] = rng.NormFloat64()
		}
		return
	}
	r.drawn = s
	x := r.tmp[:len(r.columns)]
	s.Draw(x, r.paramsOf, rng)
	for j, k := range r.columns {
		e[k] = (x[j] - s.center[k]) / s.scale[k]
	}
}

// at are the prior of latent i in column k, with its center and scale there.
func (r *Batch) at(i, k int) (s *step, center, scale float64) {
	s = &r.steps[i]
	if s.shared {
		center, scale = s.Start(r.params(s, k))
		return s, center, scale
	}
	return s, s.center[k], s.scale[k]
}

// LogMass is the log prior probability that latent i, one of a SwitchLatent, is in (lo, hi)
// in column k, given the latents before it there. The probability is good to 1e-12, or to
// what the rounding of its ends leaves of an interval below a hundredth of the scale.
func (r *Batch) LogMass(i, k int, lo, hi float64) float64 {
	s, center, scale := r.at(i, k)
	return s.Shares.LogMass((lo-center)/scale, (hi-center)/scale)
}

// Within is the coordinate in (lo, hi) below which there is the part u of the probability that the prior of latent i has in
// (lo, hi); see LogMass.
func (r *Batch) Within(i, k int, u, lo, hi float64) float64 {
	s, center, scale := r.at(i, k)
	return truncnorm.Inside(center+scale*s.Shares.Quantile(u, (lo-center)/scale, (hi-center)/scale), lo, hi)
}

// LogPriorOf is the log prior density of latent i in column k, given the latents
// before it there. Of a law without shares it is that of the last Follow, Draw, Renew or Invert.
func (r *Batch) LogPriorOf(i, k int) float64 {
	s, center, scale := r.at(i, k)
	if s.logProb != nil {
		return s.logProb[k]
	}
	return s.LogProb((r.Z[i*r.N+k]-center)/scale, center, scale, r.params(s, k)) - math.Log(scale)
}

// Fixed reports whether the prior of latent i has only numbers as parameters.
func (r *Batch) Fixed(i int) bool { return r.steps[i].numbers != nil }
