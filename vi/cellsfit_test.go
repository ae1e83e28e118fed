package vi

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/calibration"
	"github.com/facetvi/facet/vi/internal/vitest"
)

func cpuTime() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func TestCellsProto(t *testing.T) {
	for _, name := range []string{"textmsg", "influenza", "temperature"} {
		exact := map[string]float64{"textmsg": -291.96234, "influenza": -7.01267, "temperature": -33.12443}[name]
		_, d := vitest.Paper(t, name)
		for seed := range uint64(2) {
			start := cpuTime()
			p, err := Fit(context.Background(), d, Settings{Seed: seed + 1})
			require.NoError(t, err)
			took := cpuTime() - start
			e, err := p.ELBO(4000, 5)
			require.NoError(t, err)
			fmt.Println(name, exact, "evidence", p.found.LogEvidence, "elbo", e, "cells", len(p.found.Cells), p.found.Tried, "scout", p.found.Scout, took)
			for _, c := range p.found.Cells[:3] {
				fmt.Printf("   %.3f %v %v k %.2f %s\n", c.Weight, c.LogEvidence, c.ELBO, c.KHat, c.Where)
			}
		}
	}
}

func TestCellsCalib(t *testing.T) {
	for _, c := range calibration.Cases() {
		start := cpuTime()
		p, err := Fit(context.Background(), c.Density, Settings{Seed: 1})
		if err != nil {
			fmt.Println(c.Name, err)
			continue
		}
		took := cpuTime() - start
		worst := 0.0
		for name, mean := range c.Exact.Mean {
			m, _ := p.Mean(name)
			worst = max(worst, abs(m-mean)/c.Exact.SD[name])
		}
		sd := 0.0
		for name, x := range c.Exact.SD {
			m, _ := p.SD(name)
			sd = max(sd, abs(m/x-1))
		}
		guards := 0.0
		for name, probs := range c.Exact.Guards {
			for i, x := range probs {
				y, _ := p.ProbNamed(name, i)
				guards = max(guards, abs(x-y))
			}
		}
		fmt.Printf("%-30s exact %9.3f found %9.3f ± %.3f scout %v cells %3d/%d mean %.3f sd %.3f guards %.4f cpu %v\n", c.Name, c.Exact.LogEvidence, p.found.LogEvidence.Mean, p.found.LogEvidence.SE, p.found.Scout, len(p.found.Cells), p.found.Tried, worst, sd, guards, took)
	}
}

func abs(x float64) float64 { return max(x, -x) }
