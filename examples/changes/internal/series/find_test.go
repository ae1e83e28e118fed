package series

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/examples/models/coalmining"
	"github.com/facetvi/facet/examples/models/nile"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
)

func seriesOf(y []float64) Series {
	s := Series{Name: "y", XName: "row", Y: y}
	for i := range y {
		s.X, s.Label, s.Place = append(s.X, float64(i)), append(s.Label, strconv.Itoa(i+1)), append(s.Place, "y.csv:"+strconv.Itoa(i+2)+":1")
	}
	return s
}

// The probabilities of numbers of changes, and of a change in each gap, are those by enumeration: within 0.01.
func TestExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	jump := make([]float64, 40)
	for i := range jump {
		jump[i] = 10 + rng.NormFloat64()
		if i >= 25 {
			jump[i] += 2
		}
	}
	jump[7], jump[30] = math.NaN(), math.NaN()
	coins := make([]float64, 50)
	for i := range coins {
		if rng.Float64() < []float64{0.2, 0.8}[i/30] {
			coins[i] = 1
		}
	}
	coal, most := coalmining.Disasters[20:70], 2
	flows := jump
	if long.On() {
		coal, flows, most = coalmining.Disasters, nile.Flow, long.Few(3, 5)
	}
	for name, c := range map[string]struct {
		y     []float64
		l     Likelihood
		exact func(y []float64, p prior) ([]float64, [][]float64)
	}{
		"counts": {coal, Poisson, func(y []float64, p prior) ([]float64, [][]float64) {
			return exact(len(y), most, poissonSegments(y, 1/p.center))
		}},
		"coins": {coins, Bernoulli, func(y []float64, _ prior) ([]float64, [][]float64) {
			return exact(len(y), most, bernoulliSegments(y))
		}},
		"numbers": {flows, Normal, func(y []float64, p prior) ([]float64, [][]float64) { return exactNormal(y, p, most) }},
	} {
		if name != "counts" && !long.On() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := seriesOf(c.y)
			evidence, change := c.exact(c.y, priorOf(s.known(), c.l))
			r, err := Find(context.Background(), s, Settings{Likelihood: c.l, Most: most, Ahead: 3, Vi: vi.Settings{Seed: 1, Method: Method}})
			require.NoError(t, err)
			want := chances(evidence)
			for k, c := range r.HowMany {
				t.Logf("%d changes: log evidence %.3f, exactly %.3f; probability %.4f ± %.4f, exactly %.4f", k, c.LogEvidence, evidence[k], c.Probability, c.SE, want[k])
				require.InDelta(t, want[k], c.Probability, 0.01)
			}
			require.Equal(t, floats.MaxIdx(want), r.Most)
			sum := 0.0
			for i, row := range r.Row {
				require.InDelta(t, change[r.Most][i], row.Change, 0.02, "row %d", i)
				sum += row.Change
			}
			require.InDelta(t, float64(r.Most), sum, 1e-6) // each change is somewhere
			require.Len(t, r.Next, 3)
		})
	}
}
