package sumout

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/derive"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mixture"
)

// A Q is a distribution in which switches (see derive.Density.Switches) have their exact
// posterior given the other latents, the rest, which have a family of their own: no
// draw of a switch costs anything, and nothing is lost by it.
type Q struct {
	family.Q // of the rest; its switches are independent of them, and do not count
	*Given
	own  []ownLaw // of its switches
	law  *summedLaw
	size int // of the sample that laws are made of
}

// An ownLaw is a normal that a switch has in the rest's family.
type ownLaw struct{ Mean, SD, logSD float64 }

// A Family is that of members Q with a rest of one family.
type Family struct {
	Rest    family.Sequence
	Latents string // the switches, in JSON
}

// Name implements family.Family.
func (Family) Name() string { return "switches summed out" }

// StepSize implements family.Family.
func (f Family) StepSize() float64 { return f.Rest.StepSize() }

// New implements family.Family. The program must be a graph.Density.
func (f Family) New(p family.Program) (family.Q, error) {
	d, ok := p.(*graph.Density)
	if !ok {
		return nil, fmt.Errorf("%s: not a density", f.Name())
	}
	rest, err := f.Rest.New(p)
	if err != nil {
		return nil, err
	}
	return f.Over(d, rest)
}

// Over is the member with the given rest, which may be a mixture of members of the family of
// rests.
func (f Family) Over(d *graph.Density, rest family.Q) (family.Q, error) {
	var latents []int
	if err := json.Unmarshal([]byte(f.Latents), &latents); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	var switches []derive.SwitchLatent
	for _, w := range d.Engine().Switches() {
		if slices.Contains(latents, w.Latent) {
			switches = append(switches, w)
		}
	}
	if len(switches) != len(latents) {
		return nil, fmt.Errorf("%s: latents %s are not all switches", f.Name(), f.Latents)
	}
	return NewGiven(d, switches).Over(rest), nil
}

// Compose implements family.Composer.
func (f Family) Compose(p family.Program, theta []float64, parts []family.Q) (family.Q, error) {
	if d, ok := p.(*graph.Density); ok && len(parts) == 1 {
		return f.Over(d, parts[0])
	}
	q, err := f.New(p)
	if err != nil {
		return nil, err
	}
	if len(theta) != len(q.Theta()) {
		return nil, fmt.Errorf("%d parameters for %d", len(theta), len(q.Theta()))
	}
	q.Set(theta)
	return q, nil
}

// Over is the distribution of which rest is the rest.
func (c *Given) Over(rest family.Q) *Q {
	q := &Q{Q: rest, Given: c, size: lawDraws}
	q.moved()
	return q
}

// moved forgets what was known of another rest.
func (q *Q) moved() {
	q.law, q.own = &summedLaw{}, q.own[:0:0]
	for _, w := range q.Switches {
		p := q.Q.Law(regions.Hyperplane{Index: []int{w.Latent}, Coef: []float64{1}})[0]
		q.own = append(q.own, ownLaw{p.Mean, p.SD, math.Log(p.SD)})
	}
}

// Family implements family.Q.
func (q *Q) Family() family.Family {
	latents := make([]int, len(q.Switches))
	for k, w := range q.Switches {
		latents[k] = w.Latent
	}
	text, _ := json.Marshal(latents)
	return Family{family.SequenceOf(q.Q), string(text)}
}

// Decompose implements family.Composite: a rest that is a mixture is a part.
func (q *Q) Decompose() (theta []float64, parts []family.Q) {
	if _, mixed := q.Q.(*mixture.Mixture); mixed {
		return nil, []family.Q{q.Q}
	}
	return q.Theta(), nil
}

// Clone implements family.Q.
func (q *Q) Clone() family.Q {
	c := q.Given.Over(q.Q.Clone())
	c.size = q.size
	return c
}

// Set implements family.Q.
func (q *Q) Set(theta []float64) { q.Q.Set(theta); q.moved() }

// Move implements family.Q.
func (q *Q) Move(step []float64) { q.Q.Move(step); q.moved() }

// MoverTo implements family.Q: it cannot.
func (q *Q) MoverTo(regions.Hyperplane, bool) family.Mover { return nil }

// Mean implements family.Q.
func (q *Q) Mean(i int) float64 { return family.Marginal(q, i).Mean() }

// SD implements family.Q.
func (q *Q) SD(i int) float64 { return family.Marginal(q, i).SD() }

// A summedDrawer draws batches.
type summedDrawer struct {
	q          *Q
	rest       family.Drawer
	logQ, logR []float64
	u          []float64
}

// Drawer implements family.Q.
func (q *Q) Drawer(n int) family.Drawer {
	d := &summedDrawer{q: q, rest: q.Q.Drawer(n), logQ: make([]float64, n), logR: make([]float64, n)}
	d.u = make([]float64, n*2*len(q.Switches))
	return d
}

// Locate implements family.Drawer.
func (d *summedDrawer) Locate(q family.Q) {
	d.q = q.(*Q)
	d.rest.Locate(d.q.Q)
}

// Draw implements family.Drawer.
func (d *summedDrawer) Draw(z []float64, rng *rand.Rand) {
	n := len(d.logQ)
	d.rest.Draw(z, rng)
	for k := range d.u {
		d.u[k] = rng.Float64()
	}
	rest := make([]float64, n)
	d.rest.SubLogQ(rest)
	for i, w := range d.q.Switches {
		for k, x := range z[w.Latent*n:][:n] {
			rest[k] += d.q.logOwn(i, x)
		}
	}
	complete := d.q.take(n)
	complete.Draw(d.logQ, z, d.u)
	copy(d.logR, complete.logR)
	d.q.put(complete)
	for k, x := range rest {
		d.logQ[k] -= x
	}
}

// LogR implements family.Knower.
func (d *summedDrawer) LogR(p family.Program) []float64 {
	if p != family.Program(d.q.d) {
		return nil
	}
	return d.logR
}

// SubLogQ implements family.Drawer.
func (d *summedDrawer) SubLogQ(dst []float64) {
	for k, x := range d.logQ {
		dst[k] -= x
	}
}

// halfLog2Pi is a number: the compiler would take the logarithm at each call.
var halfLog2Pi = 0.5 * math.Log(2*math.Pi)

// logOwn is the log density of switch i in the rest's family, where it is independent.
func (q *Q) logOwn(i int, x float64) float64 {
	p := &q.own[i]
	t := (x - p.Mean) / p.SD
	return -0.5*t*t - p.logSD - halfLog2Pi
}

// Completion implements mixture.Completed.
func (q *Q) Completion() mixture.Completion { return q.Given }

// RandRest implements mixture.Completed.
func (q *Q) RandRest(z []float64, rng *rand.Rand) { q.Q.Rand(z, rng) }

// LogRest implements mixture.Completed.
func (q *Q) LogRest(z []float64) float64 {
	log := q.Q.LogProb(z)
	for i, w := range q.Switches {
		log -= q.logOwn(i, z[w.Latent])
	}
	return log
}

// LogRests implements mixture.Completed.
func (q *Q) LogRests(logs, z, room []float64) {
	n := len(logs)
	mixture.LogsOf(q.Q, logs, z, room)
	for i, w := range q.Switches {
		for k, x := range z[w.Latent*n:][:n] {
			logs[k] -= q.logOwn(i, x)
		}
	}
}

// Rand implements family.Q.
func (q *Q) Rand(dst []float64, rng *rand.Rand) {
	q.RandRest(dst, rng)
	u, log := make([]float64, 2*len(q.Switches)), make([]float64, 1)
	for k := range u {
		u[k] = rng.Float64()
	}
	one := q.take(1)
	defer q.put(one)
	one.Draw(log, dst, u)
}

// LogProb implements family.Q.
func (q *Q) LogProb(z []float64) float64 {
	log := q.LogRest(z)
	if !math.IsInf(log, -1) {
		log += q.Given.LogProb(z)
	}
	return log
}

// Resize implements family.Sampled.
func (q *Q) Resize(share float64) {
	q.size = max(leastLawDraws, int(lawDraws*share))
	q.law = &summedLaw{}
}

// How laws of switches are put together.
const (
	lawDraws      = 256  // for the whole of a mixture, of which parts have
	leastLawDraws = 16   // at least
	lawParts      = 6    // of an interval, equal in probability
	lawEnd        = 1e-4 // of an interval, that is left out at both ends
	leastLawShare = 1e-12
)

// A summedLaw is what laws have been made of: draws of the rest.
type summedLaw struct {
	mu    sync.Mutex
	axes  []family.Law // of latents, when they have been asked for
	once  sync.Once
	z     []float64
	share [][]float64
}

// PositiveSide is the probability of the positive side of a plane of a switch, from the draws of Law: package check asks for it.
func (q *Q) PositiveSide(plane int) (prob float64, ok bool) {
	for i, w := range q.Switches {
		j := slices.Index(w.Planes, plane)
		if j < 0 {
			continue
		}
		share, n := q.drawn()[i], q.size
		for l := range len(w.Planes) + 1 {
			if l > j != w.Down {
				prob += floats.Sum(share[l*n:][:n])
			}
		}
		return min(prob/float64(n), 1), true
	}
	return 0, false
}

// drawn is what laws are made of: draws of the rest, and by switch the probabilities of its
// intervals there, intervals × draws.
func (q *Q) drawn() (share [][]float64) {
	q.law.once.Do(func() {
		n := q.size
		q.law.z = make([]float64, n*q.Dim())
		rng, u := parallel.NewRand(lawDraws), make([]float64, 2*len(q.Switches)*n)
		q.Q.Drawer(n).Draw(q.law.z, rng)
		for k := range u {
			u[k] = rng.Float64()
		}
		for _, w := range q.Switches {
			q.law.share = append(q.law.share, make([]float64, (len(w.Planes)+1)*n))
		}
		batch := q.take(leastLawDraws)
		defer q.put(batch)
		sum := batch.sum
		batch.batches(q.law.z, n, func(first, some int) {
			if err := sum.Run(nil); err != nil {
				panic("sumout: " + err.Error())
			}
			for i, share := range sum.Marginals() {
				for j := range len(q.Switches[i].Planes) + 1 {
					copy(q.law.share[i][j*n+first:][:some], share[j*sum.N:])
				}
			}
			for k := range some {
				sum.draw(k, u[2*len(q.Switches)*(first+k):], q.law.z, first+k, n)
			}
		})
	})
	return q.law.share
}

// Exact reports whether Law is exact, which it is not of switches, unless there are no other latents and the switch is discrete: then
// its law is a sum. In an interval of a continuous one the law is flat.
func (q *Q) Exact(h regions.Hyperplane) bool {
	if len(q.Switches) == q.Dim() && len(h.Index) == 1 {
		values, _ := q.d.Values(h.Index[0])
		return values != nil
	}
	return !slices.ContainsFunc(h.Index, func(i int) bool { return Among(q.Switches, i) }) && family.Exact(q.Q, h)
}

// Law implements family.Q. That of a switch is an average over draws of the rest, of flat
// pieces with the mass that the posterior has there. Laws of latents are kept, and must not be changed.
func (q *Q) Law(h regions.Hyperplane) family.Law {
	if len(h.Index) != 1 || h.Coef[0] != 1 || h.Const != 0 {
		return q.newLaw(h)
	}
	q.law.mu.Lock()
	defer q.law.mu.Unlock()
	if q.law.axes == nil {
		q.law.axes = make([]family.Law, q.Dim())
	}
	l := &q.law.axes[h.Index[0]]
	if *l == nil {
		*l = q.newLaw(h)
	}
	return *l
}

func (q *Q) newLaw(h regions.Hyperplane) (law family.Law) {
	at := -1
	for k, w := range q.Switches {
		if slices.Contains(h.Index, w.Latent) {
			at = k
		}
	}
	if at < 0 {
		return q.Q.Law(h)
	}
	w, share, l := q.Switches[at], q.drawn()[at], slices.Index(h.Index, q.Switches[at].Latent)
	batch := q.take(leastLawDraws)
	defer q.put(batch)
	n, sum, laws := q.size, batch.sum, make([]family.Law, len(w.Planes)+1) // by interval
	add := func(j, k int, share, rest float64) {
		laws[j] = sum.appendPieces(laws[j], at, j, k, share, h.Coef[l], rest)
	}
	if len(h.Index) == 1 && len(w.Index) == 0 && sum.prior.Fixed(w.Latent) { // all draws have the same pieces
		for j := range laws {
			total := 0.0
			for _, x := range share[j*n:][:n] {
				total += x / float64(n)
			}
			if total >= leastLawShare {
				add(j, 0, total, h.Const)
			}
		}
	} else {
		batch.batches(q.law.z, n, func(first, some int) {
			sum.Place()
			sum.follow(sum.X.Z)
			for k := range some {
				rest := h.Const
				for m, i := range h.Index {
					if m != l {
						rest += h.Coef[m] * q.law.z[i*n+first+k]
					}
				}
				for j := range laws {
					if share := share[j*n+first+k] / float64(n); share >= leastLawShare {
						add(j, k, share, rest)
					}
				}
			}
		})
	}
	law = slices.Concat(laws...)
	total := 0.0
	for _, p := range law {
		total += p.Weight
	}
	for k := range law {
		law[k].Weight /= total
	}
	return law
}

// appendPieces appends the law of a·z + rest to law, for switch i of sample k in its interval j, which has a share.
func (s *Sum) appendPieces(law family.Law, i, j, k int, share, a, rest float64) family.Law {
	lo, hi := s.between(i, j, k)
	end := func(u float64) float64 {
		return a*s.prior.Within(s.Switches[i].Latent, k, min(max(u, lawEnd), 1-lawEnd), lo, hi) + rest
	}
	for part := range lawParts {
		from, to := end(float64(part)/lawParts), end(float64(part+1)/lawParts)
		if from > to {
			from, to = to, from
		}
		if to > from {
			law = append(law, family.Piece{Weight: share / lawParts, Mean: (from + to) / 2, SD: 10 * (to - from), Lo: from, Hi: to})
		}
	}
	return law
}
