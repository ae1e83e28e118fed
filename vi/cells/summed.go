package cells

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/mc"
)

// A Summed is a distribution in which switches (see graph.Switches) have their exact
// posterior given the other latents, the rest, which have a family of their own: no
// draw of a switch costs anything, and nothing is lost by it.
type Summed struct {
	family.Q // of the rest; its switches are independent of them, and do not count
	d        *graph.Density
	switches []graph.Switch
	pool     *sync.Pool // *summedDrawer, of one sample
	law      *summedLaw
}

// A SummedFamily is that of Summed members with a rest of one family.
type SummedFamily struct {
	Rest    family.Sequence
	Latents string // the switches, in JSON
}

// Name implements family.Family.
func (SummedFamily) Name() string { return "switches summed out" }

// StepSize implements family.Family.
func (f SummedFamily) StepSize() float64 { return f.Rest.StepSize() }

// New implements family.Family. The program must be a graph.Density.
func (f SummedFamily) New(p family.Program) (family.Q, error) {
	d, ok := p.(*graph.Density)
	if !ok {
		return nil, fmt.Errorf("%s: not a density", f.Name())
	}
	rest, err := f.Rest.New(p)
	if err != nil {
		return nil, err
	}
	var latents []int
	if err := json.Unmarshal([]byte(f.Latents), &latents); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	var switches []graph.Switch
	for _, w := range d.Switches() {
		if slices.Contains(latents, w.Latent) {
			switches = append(switches, w)
		}
	}
	if len(switches) != len(latents) {
		return nil, fmt.Errorf("%s: latents %s are not all switches", f.Name(), f.Latents)
	}
	return newSummed(d, rest, switches), nil
}

func newSummed(d *graph.Density, rest family.Q, switches []graph.Switch) *Summed {
	q := &Summed{Q: rest, d: d, switches: switches, law: &summedLaw{}}
	q.pool = &sync.Pool{New: func() any {
		one, err := q.bind(1)
		if err != nil {
			panic("cells: " + err.Error()) // newSummer has worked before
		}
		return one
	}}
	return q
}

// Family implements family.Q.
func (q *Summed) Family() family.Family {
	latents := make([]int, len(q.switches))
	for k, w := range q.switches {
		latents[k] = w.Latent
	}
	text, _ := json.Marshal(latents)
	rest, _ := q.Q.Family().(family.Sequence)
	return SummedFamily{rest, string(text)}
}

// Clone implements family.Q.
func (q *Summed) Clone() family.Q { return newSummed(q.d, q.Q.Clone(), q.switches) }

// Set implements family.Q.
func (q *Summed) Set(theta []float64) { q.Q.Set(theta); q.law = &summedLaw{} }

// Move implements family.Q.
func (q *Summed) Move(step []float64) { q.Q.Move(step); q.law = &summedLaw{} }

// Groups implements family.Q: switches depend on the rest, but not on each other.
func (q *Summed) Groups() []int {
	group := make([]int, q.Dim())
	if len(q.switches) == len(group) {
		for i := range group {
			group[i] = i
		}
	}
	return group
}

// Beyond implements family.Q: it cannot.
func (q *Summed) Beyond(regions.Hyperplane, bool) family.Mover { return nil }

// Mean implements family.Q.
func (q *Summed) Mean(i int) float64 { return family.Marginal(q, i).Mean() }

// SD implements family.Q.
func (q *Summed) SD(i int) float64 { return family.Marginal(q, i).SD() }

// A summedDrawer draws batches.
type summedDrawer struct {
	q    *Summed
	rest family.Drawer
	sum  *summer
	logQ []float64
}

func (q *Summed) bind(n int) (*summedDrawer, error) {
	sum, err := newSummer(q.d, q.switches, n)
	return &summedDrawer{q: q, rest: q.Q.Drawer(n), sum: sum, logQ: make([]float64, n)}, err
}

// Drawer implements family.Q.
func (q *Summed) Drawer(n int) family.Drawer {
	d, err := q.bind(n)
	if err != nil {
		panic("cells: " + err.Error())
	}
	return d
}

// Locate implements family.Drawer.
func (d *summedDrawer) Locate(q family.Q) {
	d.q = q.(*Summed)
	d.rest.Locate(d.q.Q)
}

// Draw implements family.Drawer.
func (d *summedDrawer) Draw(z []float64, rng *rand.Rand) {
	n := d.sum.n
	d.rest.Draw(z, rng)
	clear(d.logQ)
	d.rest.SubLogQ(d.logQ)
	for i := range d.logQ {
		d.logQ[i] = -d.logQ[i]
	}
	for _, w := range d.q.switches {
		for k, x := range z[w.Latent*n:][:n] {
			d.logQ[k] -= d.q.own(w.Latent, x)
		}
	}
	copy(d.sum.x.Z, z)
	if err := d.sum.run(nil); err != nil {
		panic("cells: " + err.Error())
	}
	one := make([]float64, d.q.Dim())
	for k := range n {
		d.sum.draw(k, one, rng.Float64)
		for i, w := range d.q.switches {
			z[w.Latent*n+k] = one[w.Latent]
			d.logQ[k] += d.sum.logProb(i, k, one[w.Latent])
		}
	}
}

// SubLogQ implements family.Drawer.
func (d *summedDrawer) SubLogQ(dst []float64) {
	for k, x := range d.logQ {
		dst[k] -= x
	}
}

// own is the log density of a switch in the rest's family, where it is independent.
func (q *Summed) own(i int, x float64) float64 {
	p := q.Q.Law(regions.Hyperplane{Index: []int{i}, Coef: []float64{1}})[0]
	t := (x - p.Mean) / p.SD
	return -0.5*t*t - math.Log(p.SD) - 0.5*math.Log(2*math.Pi)
}

// Rand implements family.Q.
func (q *Summed) Rand(dst []float64, rng *rand.Rand) {
	d := q.pool.Get().(*summedDrawer)
	defer q.pool.Put(d)
	d.Locate(q)
	d.Draw(dst, rng)
}

// LogProb implements family.Q.
func (q *Summed) LogProb(z []float64) float64 {
	log := q.Q.LogProb(z)
	if math.IsInf(log, -1) {
		return log
	}
	d := q.pool.Get().(*summedDrawer)
	defer q.pool.Put(d)
	copy(d.sum.x.Z, z)
	if err := d.sum.run(nil); err != nil {
		panic("cells: " + err.Error())
	}
	for i, w := range q.switches {
		log += d.sum.logProb(i, 0, z[w.Latent]) - q.own(w.Latent, z[w.Latent])
	}
	return log
}

// How laws of switches are put together.
const (
	lawDraws = 256
	lawParts = 6    // of an interval, equal in probability
	lawEnd   = 1e-4 // of an interval, that is left out at both ends
)

// A summedLaw is what laws have been made of: draws of the rest.
type summedLaw struct {
	once sync.Once
	d    *summedDrawer
	z    []float64
}

// Law implements family.Q. That of a switch is an average over draws of the rest, of flat
// pieces with the mass that the posterior has there.
func (q *Summed) Law(h regions.Hyperplane) (law family.Law) {
	at := -1
	for k, w := range q.switches {
		if slices.Contains(h.Index, w.Latent) {
			at = k
		}
	}
	if at < 0 {
		return q.Q.Law(h)
	}
	q.law.once.Do(func() {
		var err error
		if q.law.d, err = q.bind(lawDraws); err != nil {
			panic("cells: " + err.Error())
		}
		q.law.z = make([]float64, lawDraws*q.Dim())
		q.law.d.Draw(q.law.z, mc.NewRand(lawDraws))
	})
	w := q.switches[at]
	n, sum := q.law.d.sum.n, q.law.d.sum
	l := slices.Index(h.Index, w.Latent)
	a := h.Coef[l]
	same := len(h.Index) == 1 && len(w.Index) == 0 && sum.prior.Fixed(w.Latent) // all draws have the same pieces
	for j := range len(w.Planes) + 1 {
		shares := 0.0
		for k := range n {
			share := sum.share(at, j, k) / float64(n)
			if same {
				if shares += share; k < n-1 {
					continue
				}
				share = shares
			}
			if share < 1e-12 {
				continue
			}
			rest := h.Const
			for m, i := range h.Index {
				if m != l {
					rest += h.Coef[m] * q.law.z[i*n+k]
				}
			}
			lo, hi := between(w, j, w.Shift(q.law.z, n, k))
			for part := range lawParts {
				from := a*sum.prior.Within(w.Latent, k, max(lawEnd, float64(part)/lawParts), lo, hi) + rest
				to := a*sum.prior.Within(w.Latent, k, min(1-lawEnd, float64(part+1)/lawParts), lo, hi) + rest
				if from > to {
					from, to = to, from
				}
				if to > from {
					law = append(law, family.Piece{Weight: share / lawParts, Mean: (from + to) / 2, SD: 10 * (to - from), Lo: from, Hi: to})
				}
			}
		}
	}
	total := 0.0
	for _, p := range law {
		total += p.Weight
	}
	for k := range law {
		law[k].Weight /= total
	}
	return law
}

// between is interval j between the thresholds of a switch, which are moved by shift.
func between(w graph.Switch, j int, shift float64) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if j > 0 {
		lo = w.Cuts[j-1] + shift
	}
	if j < len(w.Cuts) {
		hi = w.Cuts[j] + shift
	}
	return lo, hi
}

// share is the posterior probability of interval j of switch i at sample k.
func (s *summer) share(i, j, k int) float64 {
	return math.Exp(s.part[i][j*s.n+k] - s.total[i*s.n+k])
}

// logProb is the log posterior density of switch i at sample k.
func (s *summer) logProb(i, k int, x float64) float64 {
	w := s.switches[i]
	shift := w.Shift(s.x.Z, s.n, k)
	j, _ := slices.BinarySearchFunc(w.Cuts, x-shift, func(cut, x float64) int {
		if cut < x {
			return -1
		}
		return 1
	})
	lo, hi := between(w, j, shift)
	was := s.prior.Z[w.Latent*s.n+k]
	s.prior.Z[w.Latent*s.n+k] = x
	log := s.prior.LogPriorOf(w.Latent, k)
	s.prior.Z[w.Latent*s.n+k] = was
	return log - s.prior.LogMass(w.Latent, k, lo, hi) + s.part[i][j*s.n+k] - s.total[i*s.n+k]
}
