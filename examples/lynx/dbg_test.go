package main

import (
	"context"
	"fmt"
	"github.com/facetvi/facet/examples/picture"
	"github.com/facetvi/facet/examples/restarts"
	"testing"
	"time"
)

func TestD(t *testing.T) {
	for _, st := range []int{300, 500, 1000, 2000} {
		t0 := time.Now()
		f, err := profile(context.Background(), logs(trapped), st, 1)
		fmt.Println(err, time.Since(t0))
		for i, e := range f {
			m, _ := e.Mean("threshold")
			s, _ := e.SD("threshold")
			fmt.Printf("%.1f %.3f±%.3f %v %.3f\n", 2.2+float64(i)*.1, m, s, e.ELBO, e.Weight)
		}
		d := restarts.Draws(f, 10000, 0)
		fmt.Println(picture.Interval(d["threshold"]))
	}
}
