// Verdict measures the verdicts of default fits: how often a fit is trusted that has a number
// wrong, and how often one is doubted that has all numbers right.
//
//	random program ─┬─▶ graph.Density ─▶ vi.Fit ─▶ numbers, verdict ─┐
//	                └─▶ tape ─▶ quadrature, twice ─▶ exact numbers ──┴─▶ docs/verdict.md
//
// The exact numbers share no code with packages graph and vi: a program is written in three readings at
// once, source text, model and tape, and laws have log densities of their own.
//
//	go run ./internal/calibration/verdict -programs 2000 -out docs/verdict.md
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/facetvi/facet/internal/cputime"
)

func main() {
	o := options{}
	flag.IntVar(&o.programs, "programs", 2000, "number of random programs")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of programs and fits")
	flag.Uint64Var(&o.first, "first", 0, "number of the first program")
	flag.BoolVar(&o.known, "known", true, "fit the models of package calibration and of the examples, too")
	flag.StringVar(&o.out, "out", "", "file to write the report to")
	flag.BoolVar(&o.verbose, "v", false, "print each program, not only what is wrong")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(1)
	}
}

func (o options) run() (err error) {
	r := report{options: o}
	for n := o.first; r.programs() < o.programs; n++ {
		start := cputime.Seconds()
		p, why := random(o.seed, n)
		r.quadrature += cputime.Seconds() - start
		if why != "" {
			r.dropped = append(r.dropped, why)
			if o.verbose {
				fmt.Printf("--- %s left out: %s\n%s\n", p.name, why, p.text)
			}
			continue
		}
		r.add(measure(p, o.seed+n))
	}
	if o.known {
		known(func(p problem, failure error) bool {
			if err = failure; err == nil {
				r.add(measure(p, o.seed))
			}
			return err == nil
		})
	}
	fmt.Println(r.String())
	if o.out != "" && err == nil {
		err = os.WriteFile(o.out, []byte(r.String()), 0o644)
	}
	return err
}
