package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

func TestStress(t *testing.T) {
	from, _ := strconv.Atoi(os.Getenv("FROM"))
	points := 60
	for _, l := range laws() {
		if f := os.Getenv("LAW"); f != "" && f != l.name {
			continue
		}
		for ci, c := range []struct {
			name          string
			params, value bool
		}{{"numbers", false, false}, {"latent parameters", true, false}, {"latent value", false, true}, {"latents", true, true}} {
			if c.params && l.space == interval || c.value && l.space == discrete {
				continue
			}
			_ = ci
			s := source{rand.New(rand.NewPCG(uint64(from), 77))}
			worst, what := 0.0, ""
			for n := 0; n < points; {
				pt, ok := s.point(l, c.params, c.value)
				if !ok {
					continue
				}
				n++
				pt.compare(t)
				answers := pt.answers()
				got, err := pt.computed()
				if err != nil || math.IsInf(answers[0].want, 0) {
					continue
				}
				for i, a := range answers {
					off := math.Abs(got[i]-a.want) - a.negligible
					if off <= 0 {
						continue
					}
					rel := off / math.Abs(a.want)
					if rel > worst && off > 1e-13*math.Abs(a.want) {
						if s := a.slack(); off <= s {
							continue
						} else {
							rel = math.Min(rel, 1e-12*off/(4*s))
						}
						if rel > worst {
							worst, what = rel, fmt.Sprint(pt, " comp ", i, " got ", got[i], " want ", a.want, " slack ", a.slack())
						}
					}
				}
			}
			fmt.Printf("%-18s %-18s %.2g %s\n", l.name, c.name, worst, what)
		}
	}
}
