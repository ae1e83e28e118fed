package scout

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/internal/vec"
)

const (
	effective  = 0.5     // share of draws that stay effective from one temperature to the next
	maxNumbers = 1 << 21 // that the draws of an island may be
)

// thinning says after how many moves each a state is kept.
func thinning(s Settings, dim int) int {
	numbers := float64(dim) * float64(s.Particles) * float64(s.Moves)
	return min(s.Moves, int(math.Ceil(numbers/maxNumbers)))
}

// An island is one run.
type island struct {
	*engine
	moves, thin int
	timeOver    func() bool
	rng         *rand.Rand
	proposer    *proposer
	beta        float64
	chains      states // now
	pool, next  states // after the kept moves at the last temperature, and at this one

	z        [][]float64
	logProb  []float64
	evidence float64 // its logarithm
	cut      bool    // its time was over before β = 1
}

// newIsland makes island k.
func newIsland(e *engine, s Settings, k int) *island {
	dim, size := len(e.Z)/e.N, e.N
	blocks := parallel.Blocks{N: s.Particles, Size: size}.Len()
	thin := thinning(s, dim)
	kept := blocks * (s.Moves / thin)
	pcg := parallel.Stream(s.Seed, k)
	l := &island{
		engine: e, moves: s.Moves, thin: thin, timeOver: s.Over, rng: rand.New(pcg),
		chains: newStates(blocks, dim, size), pool: newStates(kept, dim, size), next: newStates(kept, dim, size),
	}
	l.proposer = newProposer(l.chains, e.moves, pcg, l.rng)
	return l
}

// over reports whether the island's time is.
func (l *island) over() bool { return l.timeOver != nil && l.timeOver() }

// run goes from β = 0 to 1, or to the last temperature that it has time for.
func (l *island) run(ctx context.Context, report func(beta float64)) error {
	for b := range l.pool.e {
		if b > 0 && l.over() {
			_, lik, _ := l.pool.block(b)
			floats.AddConst(math.Inf(-1), lik)
			continue
		}
		l.Draw(l.rng)
		lik, err := l.evaluate(ctx)
		if err != nil {
			return err
		}
		l.pool.set(b, l.E, lik, l.LogPrior)
	}
	if math.IsInf(floats.Max(l.pool.lik), -1) {
		l.evidence = math.Inf(-1)
		report(1)
		return nil
	}
	for l.beta < 1 {
		beta, evidence := l.beta, l.evidence
		l.resample()
		for k := range l.moves {
			if l.cut = l.over(); l.cut {
				l.beta, l.evidence = beta, evidence // of the pool
				return l.finish()
			}
			if err := l.move(ctx, k); err != nil {
				return err
			}
		}
		l.pool, l.next = l.next, l.pool
		report(l.beta)
	}
	return l.finish()
}

// resample raises β and draws the chains' states from the pool, by systematic
// resampling.
func (l *island) resample() {
	beta := l.nextBeta()
	weights := make([]float64, len(l.pool.lik))
	top, last := floats.Max(l.pool.lik), 0
	for j, v := range l.pool.lik {
		weights[j] = (beta - l.beta) * (v - top)
	}
	vec.Exp(weights, weights)
	for j, w := range weights {
		if w > 0 {
			last = j
		}
	}
	sum := floats.Sum(weights)
	l.evidence += (beta-l.beta)*top + math.Log(sum/float64(len(weights)))
	l.beta = beta

	step := sum / float64(len(l.chains.lik))
	above, j := -step*l.rng.Float64(), -1 // above: from the end of state j's weight to the draw
	for i := range l.chains.lik {
		for above += step; above > 0 && j < last; {
			j++
			above -= weights[j]
		}
		l.chains.take(i, &l.pool, j)
	}
	l.proposer.begin(&l.chains)
}

// nextBeta is the largest β for which enough draws stay effective.
func (l *island) nextBeta() float64 {
	const enough = 2000 // draws to find it from
	var finite []float64
	for _, v := range l.pool.lik {
		if !math.IsInf(v, -1) {
			finite = append(finite, v)
		}
	}
	stride, n := max(1, len(finite)/enough), 0
	for i := 0; i < len(finite); i += stride {
		finite[n] = finite[i]
		n++
	}
	finite = finite[:n]
	top, w := floats.Max(finite), make([]float64, n)
	good := func(rise float64) bool {
		for i, v := range finite {
			w[i] = rise * (v - top)
		}
		vec.Exp(w, w)
		sum := floats.Sum(w)
		return sum*sum >= effective*floats.Dot(w, w)*float64(n)
	}
	high := 1 - l.beta
	if good(high) {
		return 1
	}
	low := high / 4
	for l.beta+low > l.beta && !good(low) {
		low, high = low/4, low
	}
	const far = 0x1p500 // from where products of tiny rises are 0
	for high > 1.05*low {
		if middle := math.Sqrt(low*far*(high*far)) / far; good(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return max(l.beta+low, math.Nextafter(l.beta, 1))
}

// move makes move number k of all chains.
func (l *island) move(ctx context.Context, k int) error {
	kind, accepted := k%kinds, 0
	for b := range l.chains.e {
		e, lik, prior := l.chains.block(b)
		ratio := l.proposer.propose(kind, l.Batch, e)
		next, err := l.evaluate(ctx)
		if err != nil {
			return err
		}
		for c, v := range next {
			change := l.beta * (v - lik[c])
			if gain := change + l.LogPrior[c] - prior[c] - ratio[c]; !(gain >= 0 || l.rng.Float64() < math.Exp(gain)) {
				l.proposer.learn(kind, c, 0)
				continue
			}
			accepted++
			l.proposer.learn(kind, c, change)
			lik[c], prior[c] = v, l.LogPrior[c]
			for i := c; i < len(e); i += l.N {
				e[i] = l.E[i]
			}
		}
		if at := ((k+1)/l.thin-1)*len(l.chains.e) + b; (k+1)%l.thin == 0 && at < len(l.next.e) {
			l.next.set(at, e, lik, prior)
		}
	}
	l.proposer.tune(kind, float64(accepted)/float64(len(l.chains.lik)))
	return nil
}

// finish computes the draws, and lets go of all else.
func (l *island) finish() error {
	log := make([]float64, l.N)
	for b := range l.pool.e {
		e, lik, prior := l.pool.block(b)
		copy(l.E, e)
		l.Place(log)
		if l.sum == nil {
			for c := range log {
				log[c] = lik[c] + prior[c] - log[c]
			}
		} else {
			if err := l.sum.LogProb(log, l.Z); err != nil {
				return err
			}
			l.sum.Draw(log, l.Z, l.rng)
		}
		for c := range l.N {
			if math.IsInf(lik[c], -1) {
				continue
			}
			z := make([]float64, l.pool.dim)
			for i := range z {
				z[i] = l.Z[i*l.N+c]
			}
			l.z, l.logProb = append(l.z, z), append(l.logProb, log[c])
		}
	}
	l.pool, l.next, l.chains, l.proposer = states{}, states{}, states{}, nil
	return nil
}
