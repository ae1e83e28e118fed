package cells

import (
	"context"
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

func cpu() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func TestProto(t *testing.T) {
	for name, exact := range map[string]float64{"textmsg": -291.96234, "influenza": -7.01267, "temperature": -33.12443} {
		_, d := vitest.Paper(t, name)
		rng := mc.NewRand(1)
		var points [][]float64
		type pt struct {
			z []float64
			v float64
		}
		var best []pt
		for range 1000 {
			z := d.PriorDraw(nil, rng)
			v, _ := d.LogProb(z)
			best = append(best, pt{z, v})
		}
		for range 30 {
			k := 0
			for i := range best {
				if best[i].v > best[k].v {
					k = i
				}
			}
			points = append(points, best[k].z)
			best[k].v = math.Inf(-1)
		}
		report(t, name, d, points, exact)
	}
}

func report(t *testing.T, name string, d *graph.Density, points [][]float64, exact float64) {
	start := cpu()
	s, err := Find(context.Background(), d, Settings{Points: points, Most: 5000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var e []float64
	for _, c := range s.Cells {
		e = append(e, c.ELBO.Mean)
	}
	fmt.Println(name, "exact", exact, "found", s.total(), "elbo", floats.LogSumExp(e), "tried", s.Tried, "cells", len(s.Cells), "cpu", cpu()-start)
	for _, c := range s.Cells[:min(8, len(s.Cells))] {
		fmt.Println("   ", c.LogEvidence, c.ELBO, c.region.String()[:min(80, c.region.Len())], len(c.span))
	}
}
