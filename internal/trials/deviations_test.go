//go:build long

package trials

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
)

// moments are weighted sums of numbers and their squares, of weights whose logarithms are known.
type moments struct {
	top, mass   float64
	sum, square []float64
}

func (m *moments) add(log float64, mean, square []float64) {
	if m.sum == nil {
		m.top, m.sum, m.square = log, make([]float64, len(mean)), make([]float64, len(mean))
	}
	if log > m.top {
		scale := math.Exp(m.top - log)
		m.top, m.mass = log, m.mass*scale
		for i := range m.sum {
			m.sum[i], m.square[i] = m.sum[i]*scale, m.square[i]*scale
		}
	}
	w := math.Exp(log - m.top)
	m.mass += w
	for i := range m.sum {
		m.sum[i], m.square[i] = m.sum[i]+w*mean[i], m.square[i]+w*square[i]
	}
}

func (m *moments) of(i int) (mean, sd float64) {
	mean = m.sum[i] / m.mass
	return mean, math.Sqrt(m.square[i]/m.mass - mean*mean)
}

// A place is a cell of changes: its part of the prior, the moments of the changes in it, and the rows of the regression there.
type place struct {
	share        float64
	mean, square []float64
	row          func(k int) []float64
}

// regression adds places of a regression with normal priors of its coefficients and a half normal one of its noise, of which logarithms from low to high
// matter: first are the coefficients, then the noise, then the changes.
func (m *moments) regression(y []float64, prior []distuv.Normal, noise, low, high float64, places []place) {
	const nodes = 60
	u, w := make([]float64, nodes), make([]float64, nodes)
	quad.Legendre{}.FixedLocations(u, w, low, high)
	p, n := len(prior), float64(len(y))
	for _, c := range places {
		xx, xy, yy := mat.NewSymDense(p, nil), mat.NewVecDense(p, nil), 0.0
		for k, v := range y {
			row := mat.NewVecDense(p, c.row(k))
			xx.SymRankOne(xx, 1, row)
			xy.AddScaledVec(xy, v, row)
			yy += v * v
		}
		for k, u := range u {
			s := math.Exp(u)
			precision, b := mat.NewSymDense(p, nil), mat.NewVecDense(p, nil)
			precision.ScaleSym(1/(s*s), xx)
			b.ScaleVec(1/(s*s), xy)
			log := math.Log(c.share*w[k]*s*2*distuv.Normal{Sigma: noise}.Prob(s)) - n*math.Log(s*math.Sqrt(2*math.Pi)) - 0.5*yy/(s*s)
			for i, x := range prior {
				v := x.Sigma * x.Sigma
				precision.SetSym(i, i, precision.At(i, i)+1/v)
				b.SetVec(i, b.AtVec(i)+x.Mu/v)
				log -= math.Log(x.Sigma) + 0.5*x.Mu*x.Mu/v
			}
			var chol mat.Cholesky
			if !chol.Factorize(precision) {
				panic("not positive definite")
			}
			var at mat.VecDense
			var cov mat.SymDense
			if chol.SolveVecTo(&at, b) != nil || chol.InverseTo(&cov) != nil {
				panic("not positive definite")
			}
			log += 0.5*mat.Dot(b, &at) - 0.5*chol.LogDet()
			var mean, square []float64
			for i := range p {
				mean, square = append(mean, at.AtVec(i)), append(square, at.AtVec(i)*at.AtVec(i)+cov.At(i, i))
			}
			m.add(log, append(append(mean, s), c.mean...), append(append(square, s*s), c.square...))
		}
	}
}

// uniform has the mean and the mean square of a number between a and b.
func uniform(a, b float64) (mean, square float64) { return (a + b) / 2, (a*a + a*b + b*b) / 3 }

// seatbelts are car drivers killed or hurt in a month, before and after some month, over a year's wave: far months are hardly less likely.
func seatbelts(m *graph.Model) (exact *moments, names []string) {
	var y []float64
	for _, v := range columns("seatbelts")["drivers"] {
		y = append(y, math.Log(v/1000))
	}
	n := len(y)
	wave := func(k int) (c, s float64) {
		return math.Cos(math.Pi * float64(k) / 6), math.Sin(math.Pi * float64(k) / 6)
	}
	when := m.Sample("when", graph.Uniform(0, float64(n)))
	level, effect := m.Sample("level", graph.Normal(0.5, 0.5)), m.Sample("effect", graph.Normal(0, 0.3))
	a, b, noise := m.Sample("a", graph.Normal(0, 0.3)), m.Sample("b", graph.Normal(0, 0.3)), m.Sample("noise", graph.HalfNormal(0.3))
	for k, v := range y {
		c, s := wave(k)
		mean := graph.Sum(level, graph.Mul(c, a), graph.Mul(s, b), graph.If(graph.Less(when, float64(k)+0.5), effect, 0))
		m.Observe("log drivers", graph.Normal(mean, noise), v)
	}
	var places []place
	for j := range n + 1 { // the first month after it
		lo, hi := max(0, float64(j)-0.5), min(float64(n), float64(j)+0.5)
		mean, square := uniform(lo, hi)
		places = append(places, place{(hi - lo) / float64(n), []float64{mean}, []float64{square}, func(k int) []float64 {
			c, s := wave(k)
			if k >= j {
				return []float64{1, 1, c, s}
			}
			return []float64{1, 0, c, s}
		}})
	}
	exact = &moments{}
	wide := distuv.Normal{Sigma: 0.3}
	exact.regression(y, []distuv.Normal{{Mu: 0.5, Sigma: 0.5}, wide, wide, wide}, 0.3, math.Log(0.05), math.Log(0.3), places)
	return exact, []string{"level", "effect", "a", "b", "noise", "when"}
}

// twoBreaks are in a level of real interest rates.
func twoBreaks(m *graph.Model) (exact *moments, names []string) {
	y := columns("realint")["r"]
	n := len(y)
	at := m.SampleVector("at", graph.Ordered(2, graph.Uniform(0, float64(n))))
	level, sd := m.SampleN("level", 3, graph.Normal(0, 5)), m.Sample("sd", graph.HalfNormal(5))
	for k, v := range y {
		now := level[0]
		for j, when := range at {
			now = graph.If(graph.Greater(float64(k)+0.5, when), level[j+1], now)
		}
		m.Observe("r", graph.Normal(now, sd), v)
	}
	var places []place
	for i := range n + 1 {
		for j := i; j <= n; j++ {
			ends := func(j int) (lo, hi float64) { return max(0, float64(j)-0.5), min(float64(n), float64(j)+0.5) }
			a, b := ends(i)
			c, d := ends(j)
			x, xx := uniform(a, b)
			z, zz := uniform(c, d)
			share := (b - a) * (d - c)
			if i == j { // the smaller and the larger of two
				w := b - a
				x, z, share = a+w/3, a+2*w/3, share/2
				xx, zz = x*x+w*w/18, z*z+w*w/18
			}
			places = append(places, place{share, []float64{x, z}, []float64{xx, zz}, func(k int) []float64 {
				switch {
				case k < i:
					return []float64{1, 0, 0}
				case k < j:
					return []float64{0, 1, 0}
				}
				return []float64{0, 0, 1}
			}})
		}
	}
	exact = &moments{}
	wide := distuv.Normal{Sigma: 5}
	exact.regression(y, []distuv.Normal{wide, wide, wide}, 5, math.Log(1.2), math.Log(4.5), places)
	return exact, []string{"level[0]", "level[1]", "level[2]", "sd", "at[0]", "at[1]"}
}

// remissions are of leukemia, in weeks, ended by a relapse at a rate before some week, and at another after it, or not ended yet.
func remissions(m *graph.Model) (exact *moments, names []string) {
	ended := []float64{6, 6, 6, 7, 10, 13, 16, 22, 23}
	open := []float64{6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35}
	const a, b, most = 2, 40, 36
	when := m.Sample("when", graph.Uniform(0, most))
	early, late := m.Sample("early", graph.Gamma(a, b)), m.Sample("late", graph.Gamma(a, b))
	lived := func(t float64) {
		before := graph.Min(t, when)
		m.Factor(graph.Neg(graph.Add(graph.Mul(early, before), graph.Mul(late, graph.Sub(t, before)))))
	}
	for _, t := range ended {
		m.Factor(graph.Log(graph.If(graph.Greater(when, t), early, late)))
		lived(t)
	}
	for _, t := range open {
		lived(t)
	}
	lgamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	exact = &moments{}
	const steps = 36000 // times end at whole weeks
	for k := range steps {
		tau := most * (float64(k) + 0.5) / steps
		shape, rate := [2]float64{a, a}, [2]float64{b, b}
		for _, t := range ended {
			if tau > t {
				shape[0]++
			} else {
				shape[1]++
			}
		}
		for _, list := range [][]float64{ended, open} {
			for _, t := range list {
				rate[0] += min(t, tau)
				rate[1] += t - min(t, tau)
			}
		}
		log, mean, square := 0.0, []float64{}, []float64{}
		for i, s := range shape {
			log += lgamma(s) - s*math.Log(rate[i])
			mean, square = append(mean, s/rate[i]), append(square, s*(s+1)/(rate[i]*rate[i]))
		}
		exact.add(log, append(mean, tau), append(square, tau*tau))
	}
	return exact, []string{"early", "late", "when"}
}

// Standard deviations are right under trust where cells far from the others have little mass each, and are many: of the seat belts of drivers, of
// a hazard that changes, and of two breaks in order.
func TestDeviations(t *testing.T) {
	for name, build := range map[string]func(m *graph.Model) (*moments, []string){"seat belts": seatbelts, "remissions": remissions, "two breaks": twoBreaks} {
		t.Run(name, func(t *testing.T) {
			m := graph.NewModel()
			exact, names := build(m)
			d, err := m.Compile()
			require.NoError(t, err)
			for seed := uint64(1); seed <= long.Few[uint64](1, 2); seed++ {
				p, err := vi.Fit(context.Background(), d, vi.Settings{Seed: seed})
				require.NoError(t, err)
				v, err := p.Verdict()
				require.NoError(t, err)
				require.Equal(t, vi.TrustFit, v.Trust, v)
				s := p.Summary()
				known := map[string]vi.LatentSummary{}
				for _, x := range append(s.Latents, s.Vectors...) {
					known[x.Name] = x
				}
				for i, name := range names {
					mean, sd := exact.of(i)
					got, ok := known[name]
					require.True(t, ok, name)
					t.Logf("seed %d: %s: mean off by %.4f sd; sd %v, exactly %.5g: %+.2f %%", seed, name, (got.Mean.Value-mean)/sd, got.SD, sd, 100*(got.SD.Value/sd-1))
					require.InDelta(t, mean, got.Mean.Value, 0.02*sd, name)
					require.InEpsilon(t, sd, got.SD.Value, 0.025, name)
				}
			}
		})
	}
}
