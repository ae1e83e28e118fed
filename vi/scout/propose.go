package scout

import (
	"math"
	"math/rand/v2"

	"github.com/facetvi/facet/internal/residuals"
)

// The kinds of moves, made in turn.
const (
	together = iota // all residuals by a multiple of the difference of two states
	few             // one residual or two, likewise
	anew            // one residual from the prior
	kinds
)

const (
	acceptance = 0.4 // that the multiples aim at; less if the posterior had one mode only
	everyone   = 0.1 // share of the moves few and anew that is spread over all residuals evenly
	places     = 1 << 10
)

// A proposer makes proposals. Differences of states have the sample's own
// covariance, and where it has several modes those within a mode are its own, too
// (ter Braak, Statistics and Computing 2006). The states are those with which the
// temperature begins.
type proposer struct {
	pcg   *rand.PCG
	rng   *rand.Rand
	log   [kinds]float64 // logarithm of the multiple
	from  states
	moves []bool               // by residual; the others stay
	table [kinds][places]int32 // residuals, as often as they are to move
	gain  [kinds][]float64     // by residual: sum of what moves changed
	made  [kinds][]float64     // by residual: number of moves
	which []int                // by chain, the residual that moved
	ratio []float64            // by chain, how the move favours the new state
}

func newProposer(like states, moves func(i int) bool, pcg *rand.PCG, rng *rand.Rand) *proposer {
	p := &proposer{
		pcg: pcg, rng: rng, from: newStates(len(like.e), like.dim, like.size),
		which: make([]int, like.size), ratio: make([]float64, like.size),
	}
	p.log[together], p.log[few] = math.Log(1.68/math.Sqrt(float64(like.dim))), math.Log(1.2)
	for i := range like.dim {
		p.moves = append(p.moves, moves(i))
	}
	for kind := range kinds {
		p.gain[kind], p.made[kind] = make([]float64, like.dim), make([]float64, like.dim)
	}
	return p
}

// begin starts a temperature.
func (p *proposer) begin(s *states) {
	for b, e := range s.e {
		copy(p.from.e[b], e)
	}
	for kind := range kinds {
		p.share(kind)
	}
}

// share gives residuals shares of the moves of a kind by what their moves have
// changed so far, the last temperatures most.
func (p *proposer) share(kind int) {
	n := len(p.made[kind])
	share, sum, moving := make([]float64, n), 0.0, 0.0
	for i := range share {
		if !p.moves[i] {
			continue
		}
		moving++
		share[i] = (1 + p.gain[kind][i]) / (1 + p.made[kind][i])
		sum += share[i]
		p.gain[kind][i] /= 2
		p.made[kind][i] /= 2
	}
	i, end := -1, 0.0
	for k := range p.table[kind] {
		for i < n-1 && end <= float64(k) {
			if i++; p.moves[i] {
				end += places * (everyone/moving + (1-everyone)*share[i]/sum)
			}
		}
		p.table[kind][k] = int32(i)
	}
}

// learn counts a move of chain c that changed the log density by change, 0 if it
// was not accepted.
func (p *proposer) learn(kind, c int, change float64) {
	i := p.which[c]
	p.gain[kind][i] += min(1, math.Abs(change))
	p.made[kind][i]++
}

// pick is a random residual.
func (p *proposer) pick(kind int) int { return int(p.table[kind][p.below(places)]) }

// below is a random number 0, …, n−1.
func (p *proposer) below(n int) int { return int((p.pcg.Uint64() >> 32) * uint64(n) >> 32) }

// propose moves the chains of a block, whose residuals are e, in r, and follows
// the program. It returns, for each, the log density of a step to the new state
// less that of the step back.
func (p *proposer) propose(kind int, r *residuals.Batch, e []float64) []float64 {
	copy(r.E, e)
	if kind == anew {
		for c := range p.which {
			p.which[c] = p.pick(kind)
		}
		r.Renew(p.which, p.ratio, p.rng)
		return p.ratio
	}
	multiple := math.Exp(p.log[kind])
	for c := range p.which {
		x, a, b := r.E[c:], p.any(), p.any()
		if kind == together {
			for i := 0; i < len(x); i += r.N {
				if p.moves[i/r.N] {
					x[i] += multiple * (b[i] - a[i])
				}
			}
			continue
		}
		p.which[c] = p.pick(kind)
		i, j := p.which[c]*r.N, p.pick(kind)*r.N
		x[i] += multiple * (b[i] - a[i])
		if i != j && p.pcg.Uint64()&1 == 0 {
			x[j] += multiple * (b[j] - a[j])
		}
	}
	r.Follow()
	clear(p.ratio)
	return p.ratio
}

// any is a random state: every size-th number.
func (p *proposer) any() []float64 {
	i := p.below(len(p.from.lik))
	return p.from.e[i/p.from.size][i%p.from.size:]
}

// tune brings the share of accepted moves nearer to what it should be.
func (p *proposer) tune(kind int, accepted float64) {
	p.log[kind] = min(p.log[kind]+2*(accepted-acceptance), math.Log(10))
}
