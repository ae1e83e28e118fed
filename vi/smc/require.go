package smc

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
	"gonum.org/v1/gonum/floats"
)

// priorDraws are those of the prior that have a value.
func priorDraws(d *graph.Density, seed uint64) (draws [][]float64) {
	rng := parallel.NewRand(parallel.Mix(seed, 3))
	for range 2000 {
		if z := d.PriorDraw(nil, rng); !math.IsInf(floats.Sum(z), 0) && !math.IsNaN(floats.Sum(z)) {
			draws = append(draws, z)
		}
	}
	return draws
}

// mostPrice is beyond what is to be paid for a requirement where some points meet all.
const mostPrice = 1 << 10

// satisfy raises the price of requirements until all hold.
func (r *sampler) satisfy() error {
	defer func() { r.guide = nil }()
	for !math.IsInf(r.price, 1) && !r.over() {
		var all []float64
		met := 0.0
		for _, l := range r.islands {
			for _, s := range l.pool {
				for _, v := range s.broken {
					all = append(all, -v)
					if v == 0 {
						met++
					}
				}
			}
		}
		price := r.price + largest(all, 1+r.price, requiredShare)
		switch {
		case met >= requiredShare*float64(len(all)):
			price = math.Inf(1)
		case met == 0 && price > mostPrice:
			return r.contradiction()
		}
		for _, l := range r.islands {
			l.weights = l.weights[:0]
			for i := range l.now.logR {
				for _, s := range l.pool {
					w := 0.0
					if s.broken[i] > 0 {
						w = -(price - r.price) * s.broken[i]
					}
					l.weights = append(l.weights, w)
				}
			}
		}
		if err := r.weigh(); err != nil {
			return err
		}
		r.price = price
		for range passes {
			if err := r.temper(); err != nil {
				return err
			}
		}
	}
	return nil
}

// contradiction is the error of requirements that no point meets, with those of which one or another is not met where the most are.
func (r *sampler) contradiction() error {
	least, at := r.required.Len()+1, map[int]bool{}
	for _, l := range r.islands {
		for i := range l.now.broken {
			signs := r.d.Arrangement().Signs(l.now.point(i))
			var broken []int
			for k := range r.required.Len() {
				if !r.required.Holds(k, signs) {
					broken = append(broken, k)
				}
			}
			if len(broken) < least {
				least = len(broken)
				clear(at)
			}
			if len(broken) == least {
				for _, k := range broken {
					at[k] = true
				}
			}
		}
	}
	var all []string
	for _, k := range slices.Sorted(maps.Keys(at)) {
		all = append(all, r.requirement(k))
	}
	return fmt.Errorf("no point was found that meets all %d requirements: all that were tried break at least %d of these: %s", r.required.Len(), least, strings.Join(all, ", "))
}

// mostNamed is how many guards of a requirement an error names.
const mostNamed = 4

// requirement is where requirement k was written, and its guards.
func (r *sampler) requirement(k int) string {
	var guards []string
	for l, of := range r.d.GuardsByPlane() {
		if len(of) > 0 && slices.Contains(r.required.On(l), k) {
			guards = append(guards, strings.TrimSpace(of[0].Name()+" "+of[0].String()))
		}
	}
	switch {
	case len(guards) == 0:
		return r.required.Place(k)
	case len(guards) > mostNamed:
		guards = append(guards[:mostNamed], "…")
	}
	return fmt.Sprintf("%s (on %s)", r.required.Place(k), strings.Join(guards, "; "))
}
