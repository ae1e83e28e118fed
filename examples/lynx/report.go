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
	return nil
}
func draw(fits []restarts.Explanation) (*picture.Picture, error) { return nil, nil }
