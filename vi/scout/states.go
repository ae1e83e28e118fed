package scout

// states are points in blocks, matrices with a row for each residual, with their
// log likelihoods and log priors, block after block.
type states struct {
	e          [][]float64
	lik, prior []float64
	dim, size  int // of a block
}

func newStates(blocks, dim, size int) states {
	s := states{lik: make([]float64, blocks*size), prior: make([]float64, blocks*size), dim: dim, size: size}
	for range blocks {
		s.e = append(s.e, make([]float64, dim*size))
	}
	return s
}

// block is block b.
func (s *states) block(b int) (e, lik, prior []float64) {
	return s.e[b], s.lik[b*s.size : (b+1)*s.size], s.prior[b*s.size : (b+1)*s.size]
}

// set makes block b a copy of the one given.
func (s *states) set(b int, e, lik, prior []float64) {
	toE, toLik, toPrior := s.block(b)
	copy(toE, e)
	copy(toLik, lik)
	copy(toPrior, prior)
}

// take makes state i a copy of state j of others.
func (s *states) take(i int, others *states, j int) {
	to, from := s.e[i/s.size][i%s.size:], others.e[j/s.size][j%s.size:]
	for r := 0; r < s.dim*s.size; r += s.size {
		to[r] = from[r]
	}
	s.lik[i], s.prior[i] = others.lik[j], others.prior[j]
}
