package graph

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// Parts divides the observations and factors of a density at random into n parts, about equal in number. Each is
// a density of the same latents with their priors and n times the terms of its part, so that log r, its gradient and its
// jumps at each guard are the means of theirs: minibatches, without bias. A part has no observations,
// and only the guards that it needs. It is an error if there are fewer terms than parts, and for a
// density with parameters, a guard that is not affine, or a discrete latent whose prior depends on others.
func (d *Density) Parts(n int, seed uint64) ([]*Density, error) {
	d.made()
	var terms []modelTerm
	for _, t := range d.m.terms {
		if !t.prior {
			terms = append(terms, t)
		}
	}
	switch {
	case n < 1 || n > len(terms):
		return nil, fmt.Errorf("graph: %d parts of %d terms", n, len(terms))
	case !d.copies():
		return nil, errors.New("graph: parts of a density with parameters, a guard that is not affine, or a discrete latent whose prior depends on others")
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
	d.st.mu.Lock()
	defer d.st.mu.Unlock()
	parts := make([]*Density, n)
	for k := range parts {
		c := newCopier(d)
		for _, t := range terms[k*len(terms)/n : (k+1)*len(terms)/n] {
			c.to.terms = append(c.to.terms, modelTerm{t.what, c.to.st.scale(float64(n), c.copy(t.id)), t.place, false})
		}
		var err error
		if parts[k], err = c.to.Compile(); err != nil {
			return nil, err
		}
	}
	return parts, nil
}
