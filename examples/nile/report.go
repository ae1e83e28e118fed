package main

import (
	"fmt"
	"io"

	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/examples/restarts"
)

func report(out io.Writer, fits []restarts.Explanation) error {
	for _, e := range fits {
		fmt.Fprintf(out, "%.3f %v ", e.Weight, e.ELBO)
		for _, n := range e.Density.Latents() {
			m, _ := e.Mean(n)
			s, _ := e.SD(n)
			fmt.Fprintf(out, " %s %.2f±%.2f", n, m, s)
		}
		fmt.Fprintln(out)
	}
	d := restarts.Draws(fits, 10000, 0)
	two, large, at := 0.0, 0.0, 0.0
	for k := range d["first"] {
		w := 1 / float64(len(d["first"]))
		f, s, sh := d["first"][k], d["second"][k], d["after"][k]-d["middle"][k]
		if s > f {
			two += w
			if sh > 1 || sh < -1 {
				large += w
			}
		}
		if int(f) == 1898 || s > f && int(s) == 1898 {
			at += w
		}
	}
	fmt.Fprintln(out, two, large, at)
	return nil
}

func draw(fits []restarts.Explanation) (*picture.Picture, error) { return nil, nil }
