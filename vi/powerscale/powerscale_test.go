package powerscale

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// grid are draws of a normal distribution with equal weights: its quantiles. A second latent is independent of all.
func grid(mu, sd float64, prior, likelihood distuv.Normal) Draws {
	const n = 4000
	d := Draws{Quantities: []string{"x"}, Parts: []string{"x", Likelihood}, Values: make([][]float64, 1), Log: make([][]float64, 2)}
	for k := range n {
		x := distuv.Normal{Mu: mu, Sigma: sd}.Quantile((float64(k) + 0.5) / n)
		d.Values[0] = append(d.Values[0], x)
		d.Log[0], d.Log[1] = append(d.Log[0], prior.LogProb(x)), append(d.Log[1], likelihood.LogProb(x))
		d.Weights = append(d.Weights, 1./n)
	}
	return d
}

// exact is the distance between the posterior and that with the prior to the power α, by quadrature of normal distribution functions.
func exact(prior, likelihood distuv.Normal) (distance, shift float64) {
	posterior := func(alpha float64) distuv.Normal {
		a, b := alpha/(prior.Sigma*prior.Sigma), 1/(likelihood.Sigma*likelihood.Sigma)
		return distuv.Normal{Mu: (a*prior.Mu + b*likelihood.Mu) / (a + b), Sigma: 1 / math.Sqrt(a+b)}
	}
	p := posterior(1)
	for _, alpha := range []float64{step, 1 / step} {
		q, n := posterior(alpha), 200_000
		var sides [2]cumulative
		for k := range n {
			// the ends are those of the draws
			low, high := p.Quantile(0.5/4000), p.Quantile(1-0.5/4000)
			x, width := low+(high-low)*(float64(k)+0.5)/float64(n), (high-low)/float64(n)
			sides[0].add(p.CDF(x), q.CDF(x), width)
			sides[1].add(p.Survival(x), q.Survival(x), width)
		}
		distance += max(sides[0].distance(), sides[1].distance()) / (2 * math.Log2(step))
	}
	return distance, (posterior(step).Mu - posterior(1/step).Mu) / (2 * math.Log2(step) * p.Sigma)
}

// Of conjugate normals distances and shifts have closed forms.
func TestNormals(t *testing.T) {
	for _, c := range []struct{ prior, likelihood distuv.Normal }{
		{distuv.Normal{Mu: 0, Sigma: 1}, distuv.Normal{Mu: 3, Sigma: 1}},
		{distuv.Normal{Mu: 0, Sigma: 20}, distuv.Normal{Mu: 3, Sigma: 1}},
		{distuv.Normal{Mu: 0, Sigma: 1}, distuv.Normal{Mu: 0, Sigma: 10}},
	} {
		a, b := 1/(c.prior.Sigma*c.prior.Sigma), 1/(c.likelihood.Sigma*c.likelihood.Sigma)
		r, err := Of(grid((a*c.prior.Mu+b*c.likelihood.Mu)/(a+b), 1/math.Sqrt(a+b), c.prior, c.likelihood))
		require.NoError(t, err)
		distance, shift := exact(c.prior, c.likelihood)
		require.InDelta(t, distance, r.Distance[0][0], 0.02*distance+0.001)
		require.InDelta(t, shift, r.Shift[0][0], 0.02*math.Abs(shift)+0.001)
	}
}

func TestSentences(t *testing.T) {
	r := Result{Quantities: []string{"x", "y"}, Parts: []string{"x", Likelihood}, Distance: [][]float64{{0.2, 0.01}, {0.1, 0.3}}, Shift: [][]float64{{0.1, 0}, {-1, 2}}}
	require.Equal(t, "the prior of x matters to it (0.20): the data say little of it; twice its weight moves the mean by 0.1 standard deviations\n"+
		"the prior of x matters to y (0.10): so do the data, which pull the other way; twice its weight moves the mean by -1 standard deviations\n", r.String())
	r.Distance = [][]float64{{0.01, 0.1}, {0.01, 0.1}}
	require.Equal(t, "no prior matters to x, y\n", r.String())
	_, err := Of(Draws{Quantities: []string{"x"}})
	require.ErrorContains(t, err, "as many names as lists")
	d := grid(0, 1, distuv.UnitNormal, distuv.UnitNormal)
	d.Log[1][7] = math.Inf(-1)
	_, err = Of(d)
	require.ErrorContains(t, err, "powerscale: likelihood: its logarithm is -Inf at a draw")
}
