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
	"math/rand/v2"
	"os"

	"github.com/facetvi/facet/internal/cputime"
)

func source(seed, n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n^0x9e3779b97f4a7c15)) }

func main() {
	programs := flag.Int("programs", 2000, "number of random programs")
	seed := flag.Uint64("seed", 1, "seed of programs and fits")
	first := flag.Uint64("first", 0, "number of the first program")
	out := flag.String("out", "", "file to write the report to")
	verbose := flag.Bool("v", false, "print each program")
	flag.Parse()
	if err := run(*programs, *seed, *first, *out, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(1)
	}
}

func run(programs int, seed, first uint64, out string, verbose bool) error {
	var r report
	for n := first; len(r.results) < programs; n++ {
		start := cputime.Seconds()
		p, why := random(seed, n)
		r.quadrature += cputime.Seconds() - start
		if why != "" {
			r.dropped = append(r.dropped, why)
			if verbose {
				fmt.Printf("--- %s left out: %s\n%s\n", p.name, why, p.text)
			}
			continue
		}
		x := measure(p, seed+n)
		r.results = append(r.results, x)
		if verbose || x.kind() == falseTrust || x.kind() == needlessDoubt {
			fmt.Println(x)
		}
	}
	fmt.Println(r.String())
	if out != "" {
		return os.WriteFile(out, []byte(r.String()), 0o644)
	}
	return nil
}
