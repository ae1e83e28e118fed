package vi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/examples/models/coalmining"
	"github.com/facetvi/facet/examples/models/lynx"
	"github.com/facetvi/facet/examples/models/nile"
	"github.com/facetvi/facet/examples/models/tobit"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
)

// sevenModels are the paper's models and those of real data.
var sevenModels = []string{"temperature", "textmsg", "influenza", "coalmining", "nile", "lynx", "tobit"}

func oneOfSeven(b *testing.B, name string) *graph.Density {
	switch name {
	case "coalmining":
		return mustCompile(b, coalmining.Model(coalmining.Disasters))
	case "nile":
		return mustCompile(b, nile.Model(nile.Flow, 2))
	case "lynx":
		return mustCompile(b, lynx.Model(lynx.Logs(lynx.Trapped)))
	case "tobit":
		return mustCompile(b, tobit.Model(tobit.Households))
	}
	_, d := paperSpec(b, name)
	return d
}

// BenchmarkStepsToEnd counts the steps of fits of one family from the start that Fit finds,
// and by how many nats the ELBO of each ends below that of 20000 steps that fall to nothing:
// fits that stop by themselves, and 10000 steps of constant and of falling size. With -tags long for
// all models, and with -exhaustive also of FullRank.
func BenchmarkStepsToEnd(b *testing.B) {
	const draws = 40000
	families := []family.Family{family.MeanField{}}
	if long.Exhaustive() {
		families = append(families, family.FullRank{})
	}
	for _, name := range sevenModels[:long.Or(1, len(sevenModels))] {
		for _, f := range families {
			d := oneOfSeven(b, name)
			first, err := Fit(context.Background(), d, Settings{Seed: 1, Method: Climb{Family: f, Steps: 1}})
			require.NoError(b, err)
			fit := func(s Settings) (steps int, elbo float64) {
				s.climb().Family, s.climb().Start = f, first.Restarts[0].Start
				p, err := Fit(context.Background(), d, s)
				require.NoError(b, err)
				e, err := check.ELBO(d, p.Q, draws, 1)
				require.NoError(b, err)
				return p.Steps, e.Value
			}
			_, end := fit(Settings{Seed: 99, Method: Climb{Steps: 20000, Schedule: Schedule{Shape: Cosine}}})
			for _, c := range []struct {
				name string
				s    Settings
			}{
				{"automatic", Settings{}},
				{"constant", Settings{Method: Climb{Steps: 10000}}},
				{"cosine", Settings{Method: Climb{Steps: 10000, Schedule: Schedule{Shape: Cosine}}}},
			} {
				b.Run("model="+name+"/family="+f.Name()+"/steps="+c.name, func(b *testing.B) {
					steps, below, n := 0, 0.0, 0
					for b.Loop() {
						n++
						c.s.Seed = uint64(n)
						taken, elbo := fit(c.s)
						steps += taken
						below += end - elbo
					}
					b.ReportMetric(float64(steps)/float64(n), "steps/fit")
					b.ReportMetric(below/float64(n), "nats-below")
				})
			}
		}
	}
}
