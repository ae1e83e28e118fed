package smc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/mc"
)

// A relocation is of values in ascending order, those of graph.Ordered. They cannot pass each other: a component of a mixture that is the first
// one stays it, though its share is next to nothing. So a move takes one value out, with all that belongs to it, and puts it in elsewhere:
//
//	x        x_0  x_1  x_2  x_3          x_0  x_2  x′   x_3
//	σ        σ_0  σ_1  σ_2  σ_3    ─▶    σ_0  σ_2  σ′   σ_3
//	share    θ_0  θ_1  θ_2  θ_3          θ_0  θ_2  θ_1  θ_3
//
// The place x′ is drawn, and σ′ and the share are the old ones or drawn, too. In the coordinates u in which gaps are differences, and in shares,
// all else changes places only, which keeps volumes. These are Π gap_k and Π θ_k of those of the latents. Any choice of what belongs together is
// valid; a poor one is accepted less often.
type relocation struct {
	values   []int // the least, and the logarithms of gaps
	value    places
	partners []partners
	shares   []int // logits of the parts of a stick; or nil
	share    places
}

// Partners are latents of which one belongs to each value; or one to each interval between values, before the first, and after the last.
type partners struct {
	latents []int
	places
}

// Places are where something may be put: where the posterior has it, as a normal, or where the prior does, as a logistic, which has wider
// tails, each as often; or, half the time where something is there, beside it, as a Cauchy.
type places struct{ center, sd, prior, scale float64 }

const (
	priorPlaces    = 256  // draws from the prior that its places are of
	smallShare     = 0.03 // of the mean share: a value is taken out the more often, the smaller its share is, down to about this
	besideScale    = 0.1  // of the standard deviation of the posterior's places
	besides        = 4    // relocations, or moves of scales, of a particle beside a trajectory,
	alone          = 16   // and in a move of them alone,
	leastRelocated = 0.01 // where at least so many are accepted
)

// relocationsOf are those that the names of latents show, with the places of the prior.
func relocationsOf(d *graph.Density, seed uint64) (all []*relocation) {
	names, at := d.Latents(), map[string]int{}
	for i, name := range names {
		at[name] = i
	}
	vector := func(name string) (latents []int) {
		for i, ok := at[name+"[0]"]; ok; i, ok = at[fmt.Sprintf("%s[%d]", name, len(latents))] {
			latents = append(latents, i)
		}
		return latents
	}
	for i, name := range names {
		base, least := strings.CutSuffix(name, "_least")
		gaps := vector(base + "_gap")
		if !least || !d.Coordinate(i).InVector() || len(gaps) == 0 {
			continue
		}
		g := &relocation{values: append([]int{i}, gaps...)}
		for j, first := range names {
			base, ok := strings.CutSuffix(first, "[0]")
			if !ok {
				continue
			}
			latents := vector(base)
			n, inVector := len(latents)-len(g.values), d.Coordinate(j).InVector()
			values, _ := d.Values(j)
			switch {
			case n == -1 && inVector && strings.HasSuffix(base, "_stick") && g.shares == nil:
				g.shares = latents
			case (n == 0 || n == 1) && !inVector && values == nil:
				g.partners = append(g.partners, partners{latents: latents})
			}
		}
		all = append(all, g)
	}
	if len(all) == 0 {
		return nil
	}
	prior := newStates(d.Dim(), priorPlaces)
	rng := parallel.NewRand(seed)
	z := make([]float64, d.Dim())
	for c := range priorPlaces {
		for i, x := range d.PriorDraw(z, rng) {
			prior.z[i*priorPlaces+c] = x
		}
	}
	for _, g := range all {
		g.each([]states{prior}, func(p *places, of mc.Moments) {
			p.prior, p.scale = of.Mean, math.Sqrt(3*of.Variance())/math.Pi
		})
	}
	return all
}

// intervals stores the shares of the prior, about, between values in their order, before the first, and after the last.
func (p *places) intervals(shares, u []float64) {
	below := 0.0
	for i, x := range u {
		to := 1 / (1 + math.Exp((p.prior-x)/p.scale))
		shares[i], below = to-below, to
	}
	shares[len(u)] = 1 - below
}

// learn finds the places of the posterior in a pool.
func (g *relocation) learn(pool []states) {
	g.each(pool, func(p *places, of mc.Moments) { p.center, p.sd = of.Mean, max(math.Sqrt(of.Variance()), p.scale/1000) })
}

// each gives set the moments of all values in pool, those of each vector that belongs to them, and of the logits of shares.
func (g *relocation) each(pool []states, set func(p *places, of mc.Moments)) {
	n := len(pool[0].logR)
	row, numbers := make([]float64, len(g.values)), func(numbers func(z []float64) []float64) (of mc.Moments) {
		for _, s := range pool {
			for c := range n {
				for _, x := range numbers(s.z[c:]) {
					of.Add(x)
				}
			}
		}
		return of
	}
	set(&g.value, numbers(func(z []float64) []float64 { g.valuesOf(row, z, n); return row }))
	for k := range g.partners {
		p := &g.partners[k]
		set(&p.places, numbers(func(z []float64) []float64 {
			for i := range row {
				row[i] = z[p.latents[i]*n]
			}
			return row
		}))
	}
	if g.shares != nil {
		set(&g.share, numbers(func(z []float64) []float64 {
			g.sharesOf(row, z, n)
			for i, x := range row {
				row[i] = logit(x)
			}
			return row
		}))
	}
}

// valuesOf stores the values of the column with which z begins, in the coordinate u, and returns the sum of the logarithms of gaps.
func (g *relocation) valuesOf(u, z []float64, n int) (logGaps float64) {
	u[0] = z[g.values[0]*n]
	for k, i := range g.values[1:] {
		u[k+1] = u[k] + math.Exp(z[i*n])
		logGaps += z[i*n]
	}
	return logGaps
}

// sharesOf stores the shares of the column with which z begins.
func (g *relocation) sharesOf(theta, z []float64, n int) {
	left := 1.0
	for k, i := range g.shares {
		e := math.Exp(-z[i*n])
		theta[k] = left / (1 + e)
		left *= e / (1 + e)
	}
	theta[len(g.shares)] = left
}

// putShares makes the shares theta, in the given order, those of the column with which z begins.
func (g *relocation) putShares(z []float64, n int, theta []float64, order []int) {
	left := 0.0
	for i := len(order) - 1; i >= 0; i-- {
		share := theta[order[i]]
		if i < len(g.shares) {
			z[g.shares[i]*n] = math.Log(share / left)
		}
		left += share
	}
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// rand draws a place; there is none beside NaN.
func (p *places) rand(beside float64, rng *rand.Rand) float64 {
	switch {
	case !math.IsNaN(beside) && rng.IntN(2) == 0:
		return beside + besideScale*p.sd*math.Tan(math.Pi*(rng.Float64()-0.5))
	case rng.IntN(2) == 0:
		return p.center + p.sd*rng.NormFloat64()
	default:
		return p.prior + p.scale*logit(rng.Float64())
	}
}

// density is that of rand, but for a constant.
func (p *places) density(x, beside float64) float64 {
	t := (x - p.center) / p.sd
	e := math.Exp(-math.Abs(x-p.prior) / p.scale)
	f := math.Exp(-0.5*t*t)/(p.sd*math.Sqrt(2*math.Pi)) + e/(p.scale*(1+e)*(1+e))
	if !math.IsNaN(beside) {
		t = (x - beside) / (besideScale * p.sd)
		f += 2 / (math.Pi * besideScale * p.sd * (1 + t*t))
	}
	return f
}

// again draws x anew, beside something where it is put, and returns how many times as dense the old one was, beside what it was.
func (p *places) again(x *float64, beside, was float64, rng *rand.Rand) float64 {
	old := p.density(*x, was)
	*x = p.rand(beside, rng)
	return old / p.density(*x, beside)
}

var nan = math.NaN()

// A relocated is what a relocation works with: of a column, the values, which one is taken out and where it is put in.
type relocated struct {
	u, row, theta []float64 // values as they were but for the one; numbers of each; shares, of values or of the intervals between them
	order         []int     // the values in their new order
	taken, put    int       // places of the one in both orders
	after         int       // 1 if the interval after it goes with it, 0 if that before
}

func newRelocated(all []*relocation) (r relocated) {
	for _, g := range all {
		if n := len(g.values); n > len(r.u) {
			r = relocated{u: make([]float64, n), row: make([]float64, n), theta: make([]float64, n+1), order: make([]int, 0, n)}
		}
	}
	return r
}

// move moves the column with which z begins, and returns the log density of the way back less that of the way there.
func (r *relocated) move(g *relocation, z []float64, n int, rng *rand.Rand) float64 {
	k := len(g.values)
	r.u, r.row, r.theta = r.u[:k], r.row[:k], r.theta[:k+1]
	volume := g.valuesOf(r.u, z, n)
	if g.shares != nil {
		r.theta = r.theta[:k]
		g.sharesOf(r.theta, z, n)
	} else {
		g.value.intervals(r.theta, r.u)
	}
	there := r.take(rng)
	back := g.value.again(&r.u[r.taken], nan, nan, rng)
	if !r.sort() {
		return math.Inf(-1)
	}
	for i, from := range r.order {
		x := r.u[from]
		if i > 0 {
			x = math.Log(x - r.u[r.order[i-1]])
			volume -= x
		}
		z[g.values[i]*n] = x
	}
	for q := range g.partners {
		back *= r.partners(&g.partners[q], z, n, rng)
	}
	if g.shares != nil {
		back *= r.shares(g, z, n, rng) * r.chance(r.taken)
	} else {
		for i, from := range r.order {
			r.row[i] = r.u[from]
		}
		g.value.intervals(r.theta, r.row)
		back *= r.chance(r.put + r.after)
	}
	return volume + math.Log(back/there)
}

// take chooses the value that is taken out, rather one of a small share, or before or after an interval of one, and returns its probability.
func (r *relocated) take(rng *rand.Rand) float64 {
	sum := 0.0
	for i := range r.theta {
		sum += r.preference(i)
	}
	i, left := 0, sum*rng.Float64()
	for left -= r.preference(0); left >= 0 && i < len(r.theta)-1; left -= r.preference(i) {
		i++
	}
	r.taken, r.after = i, 0
	if k := len(r.u); i == k || i > 0 && len(r.theta) > k && rng.IntN(2) == 0 {
		r.taken, r.after = i-1, 1
	}
	return r.chance(i)
}

// chance is the probability that take chooses number i of the shares, and the one of its two values.
func (r *relocated) chance(i int) float64 {
	sum := 0.0
	for l := range r.theta {
		sum += r.preference(l)
	}
	if k := len(r.u); i > 0 && i < k && len(r.theta) > k {
		sum *= 2
	}
	return r.preference(i) / sum
}

func (r *relocated) preference(i int) float64 {
	return 1 / (r.theta[i] + smallShare/float64(len(r.theta)))
}

// sort finds the new order, and reports whether no two values are equal.
func (r *relocated) sort() bool {
	r.order, r.put = r.order[:0], 0
	for i, x := range r.u {
		if i == r.taken {
			continue
		}
		r.order = append(r.order, i)
		if x == r.u[r.taken] {
			return false
		}
		if x < r.u[r.taken] {
			r.put++
		}
	}
	r.order = slices.Insert(r.order, r.put, r.taken)
	return true
}

// partners moves what belongs to values or intervals, and returns how much denser the way back is. The one of an interval is drawn beside that of the interval which
// it becomes a part of; any other is drawn half the time.
func (r *relocated) partners(p *partners, z []float64, n int, rng *rand.Rand) float64 {
	latents, beside, was, back := p.latents, nan, nan, 1.0
	ofIntervals := len(latents) > len(r.u)
	if ofIntervals {
		rest := func(i int) float64 {
			if i >= r.taken+r.after {
				i++
			}
			return z[latents[i]*n]
		}
		beside, was = rest(r.put), rest(r.taken)
		latents = latents[r.after:]
	}
	for i := range r.row {
		r.row[i] = z[latents[i]*n]
	}
	if ofIntervals || rng.IntN(2) == 0 {
		back = p.again(&r.row[r.taken], beside, was, rng)
	}
	for i, from := range r.order {
		z[latents[i]*n] = r.row[from]
	}
	return back
}

// shares moves shares, and returns how much denser the way back is. Half the time that of the value is drawn, and those of the others stay as they are to each other,
// which in the logit of the one and the shares of the others in their sum has the volume Π θ_k, too.
func (r *relocated) shares(g *relocation, z []float64, n int, rng *rand.Rand) float64 {
	back := 1.0
	if j := r.taken; rng.IntN(2) == 0 {
		rest, y := 1-r.theta[j], logit(r.theta[j])
		back = g.share.again(&y, nan, nan, rng)
		for i := range r.theta {
			r.theta[i] /= rest * (1 + math.Exp(y))
		}
		r.theta[j] = 1 / (1 + math.Exp(-y))
	}
	g.putShares(z, n, r.theta, r.order)
	return back
}
