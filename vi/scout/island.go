package scout

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/vi/mc"
)

// effective is the share of draws that stay effective from one temperature to
// the next.
const effective = 0.5

// maxNumbers is how many numbers the draws of an island may be.
const maxNumbers = 1 << 23

// thinning says after how many moves each a state is kept.
func thinning(s Settings, dim int) int {
	numbers := float64(dim) * float64(s.Particles) * float64(s.Moves)
	return min(s.Moves, int(math.Ceil(numbers/maxNumbers)))
}

// An island is one run. Its chains are cut into blocks, matrices with a row for
// each residual and a column for each chain.
type island struct {
	*engine
	s        Settings
	thin     int
	cut      mc.Blocks
	pcg      *rand.PCG
	rng      *rand.Rand
	beta     float64
	chains   states // now
	pool     states // of the last temperature, after each kept move
	next     states // of this temperature
	proposer proposer

	z           [][]float64
	logProb     []float64
	evidence    float64
	evaluations int
}

// states are points in blocks, with their log likelihoods and log priors, block
// after block.
type states struct {
	e         [][]float64 // by block
	lik, pri  []float64
	dim, size int
}

func newStates(blocks, dim, size int) states {
	s := states{lik: make([]float64, blocks*size), pri: make([]float64, blocks*size), dim: dim, size: size}
	for range blocks {
		s.e = append(s.e, make([]float64, dim*size))
	}
	return s
}

// set stores columns of a block.
func (s *states) set(block int, e, lik, pri []float64) {
	copy(s.e[block], e)
	copy(s.lik[block*s.size:], lik)
	copy(s.pri[block*s.size:], pri)
}

// take copies state j of other to state i.
func (s *states) take(i int, other *states, j int) {
	to, from := s.e[i/s.size][i%s.size:], other.e[j/s.size][j%s.size:]
	for r := 0; r < s.dim*s.size; r += s.size {
		to[r] = from[r]
	}
	s.lik[i], s.pri[i] = other.lik[j], other.pri[j]
}

func newIsland(e *engine, s Settings, thin, k int) *island {
	dim, size := len(e.Z)/e.N, e.N
	blocks := mc.Blocks{N: s.Particles, Size: size}.Len()
	kept := s.Moves / thin
	pcg := mc.Stream(s.Seed, k)
	return &island{
		engine: e, s: s, thin: thin, cut: mc.Blocks{N: s.Particles, Size: size}, pcg: pcg, rng: rand.New(pcg),
		chains: newStates(blocks, dim, size), pool: newStates(kept*blocks, dim, size), next: newStates(kept*blocks, dim, size),
		proposer: newProposer(dim, size, pcg),
	}
}

// run goes from β = 0 to 1. Blocks are full: those chains beyond Particles that
// fill the last one are chains, too.
func (l *island) run(ctx context.Context, report func(beta float64)) error {
	for b := range l.pool.e {
		l.Draw(l.rng)
		lik, err := l.evaluate()
		if err != nil {
			return err
		}
		l.pool.set(b, l.E, lik, l.LogPrior)
		l.evaluations += l.N
	}
	for l.beta < 1 {
		if err := l.resample(); err != nil {
			return err
		}
		for k := range l.s.Moves {
			if ctx.Err() != nil {
				return fmt.Errorf("stopped at β = %.3g: %w", l.beta, context.Cause(ctx))
			}
			if err := l.move(k); err != nil {
				return err
			}
		}
		l.pool, l.next = l.next, l.pool
		report(l.beta)
	}
	return l.finish()
}

// resample raises β and draws the chains' states from the pool.
func (l *island) resample() error {
	next, err := l.nextBeta()
	if err != nil {
		return err
	}
	rise := next - l.beta
	weights := make([]float64, len(l.pool.lik))
	top := floats.Max(l.pool.lik)
	for j, v := range l.pool.lik {
		weights[j] = math.Exp(rise * (v - top))
	}
	sum := floats.Sum(weights)
	l.evidence += rise*top + math.Log(sum/float64(len(weights)))
	l.beta = next
	last := len(weights) - 1
	for weights[last] == 0 {
		last--
	}
	n := len(l.chains.lik) // systematic resampling
	step := sum / float64(n)
	at, j := -step*l.rng.Float64(), -1
	for i := range n {
		for at += step; at > 0 && j < last; {
			j++
			at -= weights[j]
		}
		l.chains.take(i, &l.pool, j)
	}
	l.proposer.adapt(&l.chains)
	return nil
}

// nextBeta is the largest β for which enough draws stay effective.
func (l *island) nextBeta() (float64, error) {
	const enough = 2000 // draws to find it from
	var finite []float64
	for _, v := range l.pool.lik {
		if !math.IsInf(v, -1) {
			finite = append(finite, v)
		}
	}
	if len(finite) == 0 {
		return 0, fmt.Errorf("%d draws: %w", len(l.pool.lik), ErrNowhere)
	}
	if stride := len(finite) / enough; stride > 1 {
		for i := range len(finite) / stride {
			finite[i] = finite[i*stride]
		}
		finite = finite[:len(finite)/stride]
	}
	top := floats.Max(finite)
	good := func(rise float64) bool {
		sum, squares := 0.0, 0.0
		for _, v := range finite {
			w := math.Exp(rise * (v - top))
			sum += w
			squares += w * w
		}
		return sum*sum >= effective*squares*float64(len(finite))
	}
	high := 1 - l.beta
	if good(high) {
		return 1, nil
	}
	low := high / 4
	for l.beta+low > l.beta && !good(low) {
		low, high = low/4, low
	}
	for high > 1.02*low {
		if middle := math.Sqrt(low * high); good(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return max(l.beta+low, math.Nextafter(l.beta, 1)), nil
}

// move makes move number k of all chains.
func (l *island) move(k int) error {
	accepted := 0
	for b, e := range l.chains.e {
		lik, pri := l.chains.lik[b*l.N:(b+1)*l.N], l.chains.pri[b*l.N:(b+1)*l.N]
		ratio := l.proposer.propose(k%kinds, l.engine, e, l.rng)
		next, err := l.evaluate()
		if err != nil {
			return err
		}
		for c, v := range next {
			if gain := l.beta*(v-lik[c]) + l.LogPrior[c] - pri[c] - ratio[c]; gain >= 0 || l.rng.Float64() < math.Exp(gain) {
				accepted++
				lik[c], pri[c] = v, l.LogPrior[c]
				for i := c; i < len(e); i += l.N {
					e[i] = l.E[i]
				}
			}
		}
		if (k+1)%l.thin == 0 {
			if at := (k+1)/l.thin - 1; at < len(l.next.e)/len(l.chains.e) {
				l.next.set(at*len(l.chains.e)+b, e, lik, pri)
			}
		}
		l.evaluations += l.N
	}
	l.proposer.tune(k%kinds, float64(accepted)/float64(len(l.chains.lik)))
	return nil
}

// finish computes the draws' latents.
func (l *island) finish() error {
	scale := make([]float64, l.N)
	for b, e := range l.pool.e {
		copy(l.E, e)
		l.Follow()
		l.LogScale(scale)
		for c := range l.N {
			z := make([]float64, l.pool.dim)
			for i := range z {
				z[i] = l.Z[i*l.N+c]
			}
			l.z = append(l.z, z)
			l.logProb = append(l.logProb, l.pool.lik[b*l.N+c]+l.LogPrior[c]-scale[c])
		}
	}
	l.pool, l.next, l.chains = states{}, states{}, states{}
	return nil
}
