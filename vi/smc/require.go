package smc

import (
	"fmt"
	"math"
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

// contradiction is the error of requirements that no point meets, with those that are not met where the most are.
func (r *sampler) contradiction() error {
	var places []string
	for _, l := range r.islands {
		for i := range l.now.broken {
			signs := r.d.Arrangement().Signs(l.now.point(i))
			var broken []string
			for k := range r.required.Len() {
				if !r.required.Holds(k, signs) {
					broken = append(broken, r.required.Place(k))
				}
			}
			if places == nil || len(broken) < len(places) {
				places = broken
			}
		}
	}
	return fmt.Errorf("no point was found that meets all %d requirements: where the most hold, those of %s do not", r.required.Len(), strings.Join(places, ", "))
}
