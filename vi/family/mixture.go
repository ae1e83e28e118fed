package family

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/facetvi/facet/internal/vec"
	"github.com/facetvi/facet/regions"
)

// Cells are the mixtures q = Σ π_k·q_k of members of other families, one for each
// cell: a set of regions between which the density falls off a cliff. Their parts
// are fitted one by one: see [NewMixture].
type Cells struct{}

// Name implements Family.
func (Cells) Name() string { return "cells" }

// StepSize implements Family.
func (Cells) StepSize() float64 { return relative }

// New implements Family: it is an error.
func (Cells) New(Program) (Q, error) {
	return nil, errors.New("cells: their number and their families are not known before they are fitted one by one")
}

// Compose implements Composer.
func (Cells) Compose(_ Program, logWeight []float64, parts []Q) (Q, error) {
	if n := len(parts); n == 0 || len(logWeight) != n {
		return nil, fmt.Errorf("%d cells with %d weights", n, len(logWeight))
	}
	return NewMixture(logWeight, parts), nil
}

// A mixture is q = Σ π_k·q_k. Its θ is the logarithms of the weights π, but for a
// constant, and then the θ of each part.
type mixture struct {
	theta  []float64
	weight []float64 // π
	log    []float64 // log π
	parts  []Q
	boxes  *boxes
	// base is, of a mixture that Defensive made of a base, each part's weight in that divided by π; or nil.
	base []float64
	// completion is what all parts have in common; or nil.
	completion Completion
}

// NewMixture returns the mixture of copies of parts, whose weights are
// proportional to exp(logWeight). It panics unless there is a part, a weight for
// each, and parts have the same number of latents.
func NewMixture(logWeight []float64, parts []Q) Mixed {
	if len(parts) == 0 || len(logWeight) != len(parts) {
		panic("family: a mixture of no parts, or with another number of weights")
	}
	size := len(parts)
	for _, q := range parts {
		size += len(q.Theta())
	}
	m := &mixture{
		theta: append(make([]float64, 0, size), logWeight...), weight: make([]float64, len(parts)), log: make([]float64, len(parts)),
		parts: make([]Q, 0, len(parts)),
	}
	for _, q := range parts {
		if q.Dim() != parts[0].Dim() {
			panic("family: a part of a mixture that has another number of latents")
		}
		m.parts = append(m.parts, q.Clone())
		m.theta = append(m.theta, q.Theta()...)
	}
	m.read()
	m.boxes, m.completion = &boxes{of: m.parts}, completion(m.parts)
	m.resize(1)
	return m
}

// resize gives parts as many of the draws that stand for a mixture in laws as they have
// weight, if that itself has a weight of share.
func (m *mixture) resize(share float64) {
	for k, q := range m.parts {
		switch q := q.(type) {
		case *confined:
			q.size = max(leastSample, int(sampleSize*share*m.weight[k]))
		case *mixture:
			q.resize(share * m.weight[k])
		case Sampled:
			q.Resize(share * m.weight[k])
		}
	}
}

// A Sampled is a Q whose laws are made of a sample. Resize says that it stands for a share of a mixture's.
type Sampled interface {
	Q
	Resize(share float64)
}

// leastSample is the least number of draws that stand for a part in laws.
const leastSample = 20

// read takes the weights from θ.
func (m *mixture) read() {
	logs := m.theta[:len(m.parts)]
	sum := floats.LogSumExp(logs)
	for k, x := range logs {
		m.weight[k] = math.Exp(x - sum)
		m.log[k] = math.Log(m.weight[k])
	}
}

// eachPart calls f with the parts and, for each, where its parameters are in θ.
func (m *mixture) eachPart(f func(q Q, from, to int)) {
	from := len(m.parts)
	for _, q := range m.parts {
		to := from + len(q.Theta())
		f(q, from, to)
		from = to
	}
}

// Len is the number of parts.
func (m *mixture) Len() int { return len(m.parts) }

// Weight is π_k.
func (m *mixture) Weight(k int) float64 { return m.weight[k] }

// Part is part k, which must not be changed.
func (m *mixture) Part(k int) Q { return m.parts[k] }

// Decompose implements Composite.
func (m *mixture) Decompose() (logWeight []float64, parts []Q) {
	return m.theta[:len(m.parts)], m.parts
}

// WideShare says that one in so many defensive draws is of a distribution with wider conditionals: see WideScale.
const WideShare = 5

// WideScale is how many times as wide these are. Of few latents it sees far tails, and of many it stays where the posterior has mass.
func WideScale(latents int) float64 { return 1 + 2/math.Sqrt(float64(latents)) }

// Exact reports whether Law is exact.
func (m *mixture) Exact(h regions.Hyperplane) bool {
	return !slices.ContainsFunc(m.parts, func(q Q) bool { return !Exact(q, h) })
}

// A rare part of a part has so little weight, and yet so much of the variance of a latent.
const (
	rareWeight = 0.01
	rareShare  = 0.2
)

// Defensive is what importance draws of m are from, and which part of m each of its parts is of. A part of the draws is of
// the same with wider conditionals: weights are bounded where m's tails are too thin. And parts get draws by what they bring to
// the latents' variances: half of the draws are in proportion to the largest share that a part has in one of them, which brings
// the errors of all standard deviations down (Neyman's allocation). If one of a part that is a mixture itself, as of a cell
// with several modes, is rare, they are parts, too.
func (m *mixture) Defensive(moments func(part Q, i int) (mean, sd float64)) (draws Q, of []int) {
	var weight []float64
	var fine []Q
	var from []int
	for k, q := range m.parts {
		modes, ok := q.(*mixture)
		if !ok || m.completion != nil || modes.completion != nil || !modes.hasRare(moments) {
			weight, fine, from = append(weight, m.weight[k]), append(fine, q), append(from, k)
			continue
		}
		for j, q := range modes.parts {
			weight, fine, from = append(weight, m.weight[k]*modes.weight[j]), append(fine, q), append(from, k)
		}
	}
	share := shares(weight, fine, moments)
	total := max(floats.Sum(share), math.SmallestNonzeroFloat64)
	var logs, base []float64
	var parts []Q
	for k, q := range fine {
		w := 0.5*weight[k] + 0.5*share[k]/total
		logs = append(logs, math.Log(w*(1-1./WideShare)), math.Log(w/WideShare))
		base = append(base, weight[k], 0)
		parts = append(parts, q, Widened(q, WideScale(m.Dim())))
		of = append(of, from[k], from[k])
	}
	d := NewMixture(logs, parts).(*mixture)
	d.base = base
	for k, w := range d.weight {
		if w > 0 {
			d.base[k] /= w
		}
	}
	return d, of
}

// BaseWeight is the weight of part k in the base of a mixture that Defensive made: NaN of other mixtures.
func (m *mixture) BaseWeight(k int) float64 {
	if m.base == nil {
		return math.NaN()
	}
	return m.base[k] * m.weight[k]
}

// hasRare reports whether a rare part rules the variance of a latent.
func (m *mixture) hasRare(moments func(part Q, i int) (mean, sd float64)) bool {
	for k, share := range shares(m.weight, m.parts, moments) {
		if m.weight[k] < rareWeight && share > rareShare {
			return true
		}
	}
	return false
}

// shares are, of each part, the largest that it has in the variance of a latent.
func shares(weight []float64, parts []Q, moments func(part Q, i int) (mean, sd float64)) []float64 {
	share, off, square := make([]float64, len(parts)), make([]float64, len(parts)), make([]float64, len(parts))
	for i := range parts[0].Dim() {
		mean, variance := 0.0, 0.0
		for k, q := range parts {
			off[k], square[k] = moments(q, i)
			mean += weight[k] * off[k]
		}
		for k := range parts {
			off[k] -= mean
			square[k] = weight[k] * (off[k]*off[k] + square[k]*square[k])
			variance += square[k]
		}
		if !(variance > 0) || math.IsInf(variance, 0) {
			continue
		}
		for k, x := range square {
			share[k] = max(share[k], x/variance)
		}
	}
	return share
}

// Widened is q with conditional scales times factor.
func Widened(q Q, factor float64) Q {
	q = q.Clone()
	step := make([]float64, len(q.Theta()))
	for k := range step {
		if q.Param(k).Is("s") {
			step[k] = math.Log(factor)
		}
	}
	q.Move(step)
	return q
}

// Family implements Q.
func (m *mixture) Family() Family { return Cells{} }

// Dim implements Q.
func (m *mixture) Dim() int { return m.parts[0].Dim() }

// Theta implements Q.
func (m *mixture) Theta() []float64 { return m.theta }

// Set implements Q.
func (m *mixture) Set(theta []float64) {
	if len(theta) != len(m.theta) {
		panic("family: parameters of another length")
	}
	copy(m.theta, theta)
	m.eachPart(func(q Q, from, to int) { q.Set(theta[from:to]) })
	m.read()
}

// collect takes θ from the parts.
func (m *mixture) collect() {
	m.eachPart(func(q Q, from, to int) { copy(m.theta[from:to], q.Theta()) })
}

// Place implements Q: all parts are placed there.
func (m *mixture) Place(mean, sd []float64) {
	for _, q := range m.parts {
		q.Place(mean, sd)
	}
	m.collect()
}

// Correlate implements Q, for each part.
func (m *mixture) Correlate(precision mat.Symmetric) {
	for _, q := range m.parts {
		q.Correlate(precision)
	}
	m.collect()
}

// Clone implements Q.
func (m *mixture) Clone() Q {
	c := &mixture{theta: slices.Clone(m.theta), weight: slices.Clone(m.weight), log: slices.Clone(m.log), boxes: m.boxes, completion: m.completion, base: m.base}
	for _, q := range m.parts {
		c.parts = append(c.parts, q.Clone())
	}
	return c
}

// Param implements Q: "π of cell 2", and "cell 2 μ" of its latents.
func (m *mixture) Param(k int) (p Param) {
	if k < len(m.parts) {
		return Param{-1, fmt.Sprintf("π of cell %d", k), -1}
	}
	cell := 0
	m.eachPart(func(q Q, from, to int) {
		if from <= k && k < to {
			p = q.Param(k - from)
			p.Symbol = fmt.Sprintf("cell %d %s", cell, p.Symbol)
		}
		cell++
	})
	return p
}

// Fault implements Q.
func (m *mixture) Fault() int {
	for k := range m.parts {
		if !finite(m.theta[k]) {
			return k
		}
	}
	fault := -1
	m.eachPart(func(q Q, from, _ int) {
		if k := q.Fault(); k >= 0 && fault < 0 {
			fault = from + k
		}
	})
	return fault
}

// Units implements Q: 1 for the logarithms of weights.
func (m *mixture) Units(dst []float64) {
	for k := range m.parts {
		dst[k] = 1
	}
	m.eachPart(func(q Q, from, to int) { q.Units(dst[from:to]) })
}

// Move implements Q.
func (m *mixture) Move(step []float64) {
	floats.Add(m.theta[:len(m.parts)], step[:len(m.parts)])
	m.eachPart(func(q Q, from, to int) { q.Move(step[from:to]) })
	m.collect()
	m.read()
}

// Mean implements Q.
func (m *mixture) Mean(i int) (mean float64) {
	for k, q := range m.parts {
		mean += m.weight[k] * q.Mean(i)
	}
	return mean
}

// SD implements Q.
func (m *mixture) SD(i int) float64 {
	mean, variance := m.Mean(i), 0.0
	for k, q := range m.parts {
		off, sd := q.Mean(i)-mean, q.SD(i)
		variance += m.weight[k] * (sd*sd + off*off)
	}
	return math.Sqrt(variance)
}

// Law implements Q: that of all parts.
func (m *mixture) Law(h regions.Hyperplane) (l Law) {
	for k, q := range m.parts {
		for _, p := range q.Law(h) {
			p.Weight *= m.weight[k]
			l = append(l, p)
		}
	}
	return l
}

// LogProb implements Q.
func (m *mixture) LogProb(z []float64) float64 {
	log, _ := m.logRest(z, 0, math.NaN())
	if m.completion != nil && !math.IsInf(log, -1) {
		log += m.completion.LogProb(z)
	}
	return log
}

// logRest is LogProb without the completion, if there is one; and the density of the base, if there is one, divided by m's. given is the log density
// of one part there, or NaN if that is not known.
func (m *mixture) logRest(z []float64, part int, given float64) (log, ratio float64) {
	top, sum := math.Inf(-1), 0.0
	m.boxes.each(z, func(k int) {
		x := m.log[k]
		switch {
		case k == part && !math.IsNaN(given):
			x += given
		case m.completion != nil:
			x += m.parts[k].(Completed).LogRest(z)
		default:
			x += m.parts[k].LogProb(z)
		}
		by := 1.0
		switch {
		case x > top:
			less := vec.ExpOf(top - x)
			top, sum, ratio = x, sum*less, ratio*less
		case math.IsInf(x, -1):
			return
		default:
			by = vec.ExpOf(x - top)
		}
		if sum += by; m.base != nil {
			ratio += by * m.base[k]
		}
	})
	return top + vec.LogOf(sum), ratio / sum
}

// pick is the part at u of the cumulative weights, 0 ≤ u < 1.
func pick(weight []float64, u float64) int {
	for k, w := range weight {
		if u < w {
			return k
		}
		u -= w
	}
	return floats.MaxIdx(weight) // rounding left it above them all
}

// Rand implements Q.
func (m *mixture) Rand(dst []float64, rng *rand.Rand) {
	checkRand(m, dst, rng)
	m.parts[pick(m.weight, rng.Float64())].Rand(dst, rng)
}

// Groups implements Q: parts link all latents.
func (m *mixture) Groups() []int {
	if len(m.parts) == 1 {
		return m.parts[0].Groups()
	}
	return make([]int, m.Dim())
}

// MoverTo implements Q: the draw is of another part, by the parts' probabilities of
// the side, and moved there by that.
func (m *mixture) MoverTo(h regions.Hyperplane, positive bool) Mover {
	move, share, total := make([]Mover, len(m.parts)), make([]float64, len(m.parts)), 0.0
	for k, q := range m.parts {
		share[k] = m.weight[k] * sideProb(q.Law(h), positive)
		if total += share[k]; share[k] == 0 {
			continue
		}
		if move[k] = q.MoverTo(h, positive); move[k] == nil {
			return nil
		}
	}
	if total == 0 {
		return nil
	}
	floats.Scale(1/total, share)
	return func(z []float64, rng *rand.Rand) (logQ, weight float64) {
		was, k := m.LogProb(z), pick(share, rng.Float64())
		m.parts[k].Rand(z, rng)
		_, weight = move[k](z, rng)
		return m.LogProb(z) - was, m.weight[k] * weight / share[k]
	}
}

// A mixtureDrawer draws a batch from the parts in proportion to their weights, which
// has less noise than draws that are independent: of n draws part k has n·π_k, rounded up or
// down.
type mixtureDrawer struct {
	q        *mixture  // a copy
	part     []int     // of each draw
	own      []float64 // the log density of its part there, or NaN
	z        []float64
	one      []float64
	complete Completer    // or nil
	u        []float64    // uniform numbers for it
	given    []float64    // the log density by it
	ratios   []float64    // see BaseRatios
	cube     hypercube    // of draws of the same part that follow each other
	rows     *mixtureRows // or nil
}

// A PartDrawer is a Drawer of a mixture that can be told the part of each draw.
type PartDrawer interface {
	Drawer
	DrawParts(z []float64, parts []int, rng *rand.Rand)
	// BaseRatios are, after SubLogQ, the densities of a defensive mixture's base at the draws, divided by its own.
	BaseRatios() []float64
}

// Drawer implements Q.
func (m *mixture) Drawer(n int) Drawer { return m.PartDrawer(n) }

// PartDrawer is Drawer.
func (m *mixture) PartDrawer(n int) PartDrawer {
	d := &mixtureDrawer{q: m.Clone().(*mixture), part: make([]int, n), own: make([]float64, n), z: make([]float64, n*m.Dim()), one: make([]float64, m.Dim()), given: make([]float64, n), ratios: make([]float64, n)}
	if m.completion != nil {
		d.complete = m.completion.Completer(n)
		d.u = make([]float64, n*d.complete.Uniforms())
	} else if d.rows = newMixtureRows(d.q, n); d.rows != nil {
		d.ratios = d.rows.ratio
	}
	return d
}

// Locate implements Drawer.
func (d *mixtureDrawer) Locate(q Q) { d.q.Set(q.Theta()) }

// Draw implements Drawer.
func (d *mixtureDrawer) Draw(z []float64, rng *rand.Rand) {
	n, u := len(d.part), rng.Float64()
	for k := range d.part {
		d.part[k] = pick(d.q.weight, (float64(k)+u)/float64(n))
	}
	rng.Shuffle(n, func(i, j int) { d.part[i], d.part[j] = d.part[j], d.part[i] })
	d.DrawParts(z, d.part, rng)
}

// DrawParts implements PartDrawer.
func (d *mixtureDrawer) DrawParts(z []float64, parts []int, rng *rand.Rand) {
	n := len(parts)
	sizes, left := Hypercubes(parts), 0 // draws of this hypercube
	numbers := len(d.one)
	if d.complete != nil {
		numbers = d.complete.Uniforms()
	}
	for k, part := range parts {
		if left == 0 {
			left, sizes = sizes[0], sizes[1:]
			d.cube.fill(left, numbers, rng)
		}
		left--
		if d.complete == nil {
			d.own[k] = d.cube.draw(d.q.parts[part], d.one, left, rng)
		} else {
			d.own[k] = math.NaN()
			d.q.parts[part].(Completed).RandRest(d.one, rng)
			for i := range numbers {
				d.u[k*numbers+i] = d.cube.u[i*d.cube.m+left]
			}
		}
		for i, x := range d.one {
			z[i*n+k] = x
		}
	}
	if d.complete != nil {
		d.complete.Draw(d.given, z, d.u)
	}
	copy(d.z, z)
	copy(d.part, parts)
}

// SubLogQ implements Drawer.
func (d *mixtureDrawer) SubLogQ(dst []float64) {
	if d.rows != nil {
		d.rows.evaluate(d.q, d.z)
		vec.AddScaled(dst, -1, d.rows.log)
		return
	}
	for k := range dst {
		for i := range d.one {
			d.one[i] = d.z[i*len(d.part)+k]
		}
		log, ratio := d.q.logRest(d.one, d.part[k], d.own[k])
		dst[k] -= log + d.given[k]
		d.ratios[k] = ratio
	}
}

// BaseRatios implements PartDrawer.
func (d *mixtureDrawer) BaseRatios() []float64 { return d.ratios }
