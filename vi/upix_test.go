package vi

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// upix are 100 numbers of a mixture, from evaluation/gmm of github.com/markus7800/UPIX.
var upix = []float64{
	-7.87951290075, -23.2513647382, -5.34679518883, -3.16377044977, 10.5244247829, 5.91198701328, -19.2283786983,
	0.389808733005, 8.57692241577, 7.72741608557, -18.0431235235, 9.10813611779, 29.3987343479, 2.85784850319,
	-20.7166914603, -18.5075008085, -21.5233831839, 10.062657029, -18.9005451578, 3.33943043751, 3.68809869041,
	4.20980872726, 3.37109129101, 30.37681442, 12.7786532736, 28.0631242052, 10.7052751516, -18.9969361583, 8.13534253755,
	29.7203639132, 29.4260430274, 28.4051677279, 31.9755852254, -20.6424371439, 30.8480763135, -21.4660206153,
	12.8546768083, 30.6854167993, 5.83352073713, 7.60268017297, 10.0455164089, 28.6234217308, -20.1201847744,
	-18.8012546806, 12.8497089214, 31.3422707317, 4.02761078481, -19.9535498653, -2.57405217001, -21.5518144708,
	-2.87519043163, 13.1597191988, 8.0604166695, 12.9335733309, 0.332566400168, 11.1081721727, 28.1298920713,
	11.631846912, -15.9004246732, -0.82702721597, 11.5351900701, 4.02313667396, -22.5897133281, 28.3781249129,
	-22.5708385578, 29.3733566774, 31.8767579661, 2.14864533496, 12.3327980781, 8.434664673, 30.4773223892, 11.1999503288,
	11.072188217, 29.5369322439, 8.12883367019, -16.3329611556, 31.1036775119, -20.9664421219, -20.280485886,
	30.3710753784, 10.5819013397, -4.67229031169, -20.3209780113, 9.14185798764, -18.6727012564, 7.06772850855,
	5.66422715583, 30.7511588615, -20.1989613781, -4.68964535661, 30.0955260872, -19.31787364, -22.4325898468,
	-0.958041241586, 14.1805970071, 4.05211065947, -18.9780551348, 13.4411948916, 7.98389003855, 7.75900356748,
}

// mixtureOf is UPIX's program of k components: those of its means are ordered here, which leaves the evidence as it is.
func mixtureOf(t testing.TB, k int) *graph.Density {
	m := graph.NewModel()
	weights := []graph.Expr{graph.Numbers(1)[0]}
	if k > 1 {
		weights = m.SampleVector("weight", graph.Dirichlet(slices.Repeat([]float64{5}, k)...))
	}
	mean := m.SampleVector("mean", graph.Ordered(k, graph.Normal(0, 10)))
	variance := m.SampleN("variance", k, graph.InverseGamma(2, 10))
	for _, y := range upix {
		var parts []graph.Dist
		for j := range k {
			parts = append(parts, graph.Normal(mean[j], graph.Sqrt(variance[j])))
		}
		m.Observe("y", graph.Mixture(weights, parts...), y)
	}
	return mustCompile(t, m)
}

// upixVisits are the visits of UPIX's sampler with reversible jumps at 1, 2, … components, of 10⁸. The prior of their number less one is
// Poisson(2), weights are Dirichlet(5, …, 5), means Normal(0, 10), variances InverseGamma(2, 10), and labels count: components are not
// ordered, which makes no difference to an evidence. A sampler of partitions, with weights, means and variances integrated out (Miller and
// Harrison, 2018), run once for the comparison, has 0.3349 ± 0.0020, 0.4593 ± 0.0021 and 0.1665 ± 0.0018 of 4, 5 and 6.
var upixVisits = []float64{687, 574, 119783, 33258676, 46000324, 16768787, 3302321, 485045, 57502, 5806, 457, 38}

// Probabilities of the number of components are UPIX's. Evidences are by the sampler, with as many draws as know these to a few hundredths of a nat: of seven
// components, which have a thirtieth of the probability, two of the means may be far from where few draws have been.
func TestHowManyComponents(t *testing.T) {
	if !long.Exhaustive() {
		t.Skip("takes minutes: run with -exhaustive")
	}
	const first = 3
	var programs []Program
	for k := first; k <= 7; k++ {
		programs = append(programs, Program{Name: fmt.Sprint(k), Density: mixtureOf(t, k), Prior: distuv.Poisson{Lambda: 2}.Prob(float64(k - 1))})
	}
	visits := 0.0
	for _, v := range upixVisits {
		visits += v
	}
	for s := range uint64(3) {
		c, err := HowMany(context.Background(), programs, Settings{Seed: *seed + s, Method: Sampler{Draws: 1000}})
		require.NoError(t, err)
		t.Log(c)
		for k, m := range c.Models {
			require.InDelta(t, upixVisits[first-1+k]/visits, m.Prob.Value, 0.02, "%d components: %v", first+k, m.Prob)
			require.Less(t, m.Prob.SE, 0.01)
		}
	}
}
