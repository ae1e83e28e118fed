package parallel

import "math/rand/v2"

// A Pool works on samples round after round, block by block: each block has a random
// stream of its own, and each goroutine a worker for full blocks and one for the last, which may
// be shorter. A round allocates nothing.
type Pool[W any] struct {
	Blocks
	streams []*rand.PCG
	rngs    []*rand.Rand
	workers [][2]turn[W] // by goroutine: for full blocks, and for the last one
	team    *Team
	Rounds  int // that have been done or begun
}

// A turn is a worker, and the last round in which it was readied.
type turn[W any] struct {
	worker W
	round  int
}

// NewPool returns a pool of p goroutines, whose streams start where seed says. bind makes a worker
// for blocks of n samples. In a round ready is called once for each worker that has a block to
// do, and work for each block b.
func NewPool[W any](cut Blocks, p int, seed uint64, bind func(n int) (W, error), ready func(W), work func(w W, b int, rng *rand.Rand) error) (*Pool[W], error) {
	c := &Pool[W]{Blocks: cut, workers: make([][2]turn[W], p)}
	for w := range c.workers {
		for kind, n := range [2]int{cut.Size, cut.N % cut.Size} {
			if n == 0 || n > cut.N { // there is no such block
				continue
			}
			var err error
			if c.workers[w][kind].worker, err = bind(n); err != nil {
				return nil, err
			}
		}
	}
	for b := range cut.Len() {
		s := Stream(seed, b)
		c.streams, c.rngs = append(c.streams, s), append(c.rngs, rand.New(s))
	}
	c.team = NewTeam(p, cut.Len(), func(w, b int) error {
		t := &c.workers[w][0]
		if cut.Width(b) < cut.Size {
			t = &c.workers[w][1]
		}
		if t.round != c.Rounds {
			ready(t.worker)
			t.round = c.Rounds
		}
		return work(t.worker, b, c.rngs[b])
	})
	return c, nil
}

// Round does all blocks once; see Team.Round.
func (c *Pool[W]) Round() error {
	c.Rounds++
	return c.team.Round()
}

// Restart puts the random streams where seed says.
func (c *Pool[W]) Restart(seed uint64) {
	for b, s := range c.streams {
		Reseed(s, seed, b)
	}
}

// Streams are the states of the random streams.
func (c *Pool[W]) Streams() [][]byte {
	var all [][]byte
	for _, s := range c.streams {
		state, _ := s.MarshalBinary() // never fails
		all = append(all, state)
	}
	return all
}

// SetStreams goes on from the states that Streams of a pool of as many blocks returned.
func (c *Pool[W]) SetStreams(all [][]byte) {
	for b, state := range all {
		_ = c.streams[b].UnmarshalBinary(state) // it was one's state
	}
}
