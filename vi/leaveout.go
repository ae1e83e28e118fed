package vi

import (
	"errors"
	"fmt"
	"math"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/loo"
)

// mostLikelihoods is how many log likelihoods are kept: 256 MiB of them. They are of so many draws at most.
const (
	mostLikelihoods = 1 << 25
	mostLeftOut     = 20_000
)

// LOO is leave-one-out cross-validation: how well the program predicts each observation from all others, without another fit; see
// package loo. A row of a plate is an observation, and so is a step of a chain, given those before it. Where a program observes
// the same number on either side of a branch, that is one observation. Its Unreliable lists those that the program did not expect.
// It is an error if the program observes other numbers in one branch than in another, or none.
func (p *Posterior) LOO() (LOO, error) {
	points, weights, chains, err := p.pointsForLOO()
	if err != nil {
		return LOO{}, err
	}
	d := p.Density
	made := madeBy(d, points[0])
	if len(made) == 0 {
		return LOO{}, errors.New("vi: leaving out one: the program has no observations, or all are missing")
	}
	data, all := d.Data(), parallel.Blocks{N: len(points), Size: 256}
	logs := make([][]float64, len(made))
	for j := range logs {
		logs[j] = make([]float64, len(points))
	}
	err = parallel.Do(parallel.Processors(all.Len()), all.Len(), func(_, b int) error {
		var likelihoods []float64
		for s := b * all.Size; s < b*all.Size+all.Width(b); s++ {
			likelihoods = d.LogLikelihoods(likelihoods, points[s])
			j := 0
			for i, l := range likelihoods {
				if math.IsNaN(l) {
					continue
				}
				if j == len(made) || data[i] != data[made[j]] {
					return fmt.Errorf("vi: leaving out one: the program observes other numbers, or in another order, in one branch than in another: %s %v",
						d.Observations()[i], data[i])
				}
				logs[j][s] = l
				j++
			}
			if j < len(made) {
				return fmt.Errorf("vi: leaving out one: the program has %d observations in one branch, and %d in another", len(made), j)
			}
		}
		return nil
	})
	if err != nil {
		return LOO{}, err
	}
	r, err := loo.Of(elements(d, made, points[0]), logs, weights, chains)
	return r, wrapped(err)
}

// pointsForLOO are draws of the posterior that have a weight, of many every so many, with their chains if they are of chains.
func (p *Posterior) pointsForLOO() (points [][]float64, weights []float64, chains []int, err error) {
	s, err := p.Sample()
	if err != nil {
		return nil, nil, nil, err
	}
	most := max(1000, min(mostLeftOut, mostLikelihoods/max(1, len(p.Density.Data()))))
	every := 1 + (s.Len()-1)/most
	if s.Chains() > 0 {
		every |= 1 // draws of all chains, which are an even number
	}
	for k := 0; k < s.Len(); k += every {
		if w := s.Weights[k]; w > 0 {
			points, weights = append(points, s.Point(k)), append(weights, w)
			if s.Chains() > 0 {
				chains = append(chains, k%s.Chains())
			}
		}
	}
	return points, weights, chains, nil
}

// madeBy lists the observations that the program makes at z and that are not missing.
func madeBy(d *graph.Density, z []float64) (list []int) {
	for i, l := range d.LogLikelihoods(nil, z) {
		if !math.IsNaN(l) {
			list = append(list, i)
		}
	}
	return list
}

// elements are the names of some observations, with their numbers among those that the program makes at z, missing or not.
func elements(d *graph.Density, of []int, z []float64) []string {
	all, at := d.Observations(), map[int]int{}
	var made []string
	for i, y := range d.Replicate(nil, z, parallel.NewRand(0)) {
		if !math.IsNaN(y) {
			at[i] = len(made)
			made = append(made, all[i])
		}
	}
	made = withNumbers(made)
	names := make([]string, len(of))
	for j, i := range of {
		names[j] = made[at[i]]
	}
	return names
}

// withNumbers are names of which those that are there several times have their number: y[3] for the fourth y.
func withNumbers(names []string) []string {
	counts, seen, list := map[string]int{}, map[string]int{}, make([]string, len(names))
	for _, name := range names {
		counts[name]++
	}
	for j, name := range names {
		if list[j] = name; counts[name] > 1 {
			list[j] = fmt.Sprintf("%s[%d]", name, seen[name])
			seen[name]++
		}
	}
	return list
}
