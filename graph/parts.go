package graph

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

var errNoParts = errors.New("graph: parts of a density with parameters, a guard that is not affine, or a discrete latent whose prior depends on others")

// Parts divides the observations and factors of a density at random into n parts, about equal in number. Each part is
// a density of the same latents, with their priors and n times its terms. So log r is the mean of the parts' log r, and so are
// its gradient and its jumps: minibatches without bias. A part has no observations
// and only the guards that it needs. Parts returns an error if there are fewer terms than parts, and for a
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
		return nil, errNoParts
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
	d.st.Mu.Lock()
	defer d.st.Mu.Unlock()
	parts := make([]*Density, n)
	for k := range parts {
		var err error
		if parts[k], err = d.part(terms[k*len(terms)/n:(k+1)*len(terms)/n], float64(n)); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// part is a density of some of d's terms, each so many times. The caller has locked d.st.
func (d *Density) part(terms []modelTerm, times float64) (*Density, error) {
	c := newCopier(d)
	for _, t := range terms {
		c.to.terms = append(c.to.terms, modelTerm{t.what, t.place, c.to.st.Scale(times, c.copy(t.id)), false})
	}
	return c.to.Compile()
}

// Some is the density of the latents given about n of the observations and factors alone. They are drawn at random without
// replacement, from each line of the program in proportion, and all of a line that has made few.
// Where the rows of data are alike its posterior is wider than d's, and covers it. It has no observations. It is an error
// for a density that has no Parts.
func (d *Density) Some(n int, seed uint64) (*Density, error) {
	d.made()
	if !d.copies() {
		return nil, errNoParts
	}
	const few = 16
	all, total := map[*place][]modelTerm{}, 0
	var lines []*place
	for _, t := range d.m.terms {
		if t.prior {
			continue
		}
		if all[t.place] == nil {
			lines = append(lines, t.place)
		}
		all[t.place] = append(all[t.place], t)
		total++
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	var terms []modelTerm
	for _, line := range lines {
		list := all[line]
		share := min(len(list), max(few, n*len(list)/total))
		for i := range share { // the first of a shuffled list
			j := i + rng.IntN(len(list)-i)
			list[i], list[j] = list[j], list[i]
		}
		terms = append(terms, list[:share]...)
	}
	d.st.Mu.Lock()
	defer d.st.Mu.Unlock()
	return d.part(terms, 1)
}
