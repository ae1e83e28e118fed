package gradient_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/examples/models"
	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/regions"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/gradient"
	"github.com/facetvi/facet/vi/internal/vitest"
	"github.com/facetvi/facet/vi/mc"
)

// paperTerms are the terms of log r of each of the paper's models.
func paperTerms(t testing.TB, name string) []term {
	switch name {
	case "proposition":
		return propositionTerms()
	case "temperature":
		return temperatureTerms(models.TemperatureData())
	case "textmsg":
		return textMsgTerms()
	case "influenza":
		return influenzaTerms(models.InfluenzaData())
	}
	t.Fatalf("no terms of %s", name)
	return nil
}

// line is c + Σ coef·z, given as pairs of coefficients and latents.
func line(c float64, pairs ...[2]float64) regions.Hyperplane {
	h := regions.Hyperplane{Const: c}
	for _, p := range pairs {
		h.Coef, h.Index = append(h.Coef, p[0]), append(h.Index, int(p[1]))
	}
	return h
}

// above and below are the events z_i > c and z_i < c.
func above(i int, c float64) regions.Hyperplane { return line(-c, [2]float64{1, float64(i)}) }
func below(i int, c float64) regions.Hyperplane { return line(c, [2]float64{-1, float64(i)}) }

// bell is log N(y; 0, sd²), where the gates are open.
func bell(y regions.Hyperplane, sd float64, gates ...regions.Hyperplane) term {
	return term{gates: gates, y: y, power: [3]float64{-math.Log(sd) - 0.5*math.Log(2*math.Pi), 0, -0.5 / (sd * sd)}}
}

func propositionTerms() []term {
	return []term{bell(above(0, 0), 1), bell(line(5), 1, above(0, 0)), bell(line(-2), 1, below(0, 0))}
}

func textMsgTerms() []term {
	mean, sd := math.Log(models.TextMsgMean())-math.Ln2/2, math.Sqrt(math.Ln2)
	terms := []term{bell(above(0, mean), sd), bell(above(1, mean), sd), bell(above(2, 0), 1)}
	days, counts := models.TextMsgData()
	for k, day := range days {
		poisson := func(i int, gate regions.Hyperplane) term {
			factorial, _ := math.Lgamma(counts[k] + 1)
			return term{gates: []regions.Hyperplane{gate}, y: above(i, 0), power: [3]float64{-factorial, counts[k]}, rate: -1}
		}
		at := models.TextMsgThreshold(day)
		terms = append(terms, poisson(0, above(2, at)), poisson(1, below(2, at)))
	}
	return terms
}

// influenzaTerms have the levels a and the excesses c as sums of the latents v and w.
func influenzaTerms(obs []float64) []term {
	terms := []term{bell(above(0, 0), 1)}
	var a, b, c regions.Hyperplane
	for k, x := range obs {
		before, v, w, f := 3*k, 3*k+1, 3*k+2, 3*k+3
		terms = append(terms, bell(above(v, 0), 0.023), bell(above(w, 0), 0.112),
			bell(above(f, 0.67), 1, above(before, 0)), bell(above(f, -0.67), 1, below(before, 0)))
		a, b = plus(plus(above(v, 0), 1.406, a), -0.622, b), a
		c = plus(above(w, -0.21), -0.312, c)
		healthy := plus(a, 1, line(-x))
		terms = append(terms, bell(healthy, 0.002, above(f, 0)), bell(plus(healthy, 1, c), 0.002, below(f, 0)))
	}
	return terms
}

// plus is a + by·b. A latent may occur in it twice.
func plus(a regions.Hyperplane, by float64, b regions.Hyperplane) regions.Hyperplane {
	sum := regions.Hyperplane{Const: a.Const + by*b.Const, Index: slices.Concat(a.Index, b.Index), Coef: slices.Clone(a.Coef)}
	for _, x := range b.Coef {
		sum.Coef = append(sum.Coef, by*x)
	}
	return sum
}

// temperatureTerms have the noise's prior as that of an air conditioner that is
// off, and what is added to it where it is called on: the logarithm of
// N(noise; 1, 0.001)/N(noise; 0, 0.001) is (noise − ½)·10⁶.
func temperatureTerms(obs []float64) []term {
	terms := []term{bell(above(0, 20), 0.001), bell(above(0, obs[0]), 1)}
	for i := 1; i < len(obs); i++ {
		before, noise, room := 2*i-2, 2*i-1, 2*i
		call := func(by float64, gates ...regions.Hyperplane) term {
			return term{gates: gates, y: above(noise, 0.5), power: [3]float64{0, by * 1e6}}
		}
		terms = append(terms, bell(above(noise, 0), 0.001), call(1, above(before, 22)))
		if i > 1 { // between 18 and 22 the state stays as it was, at first off
			on := above(noise-2, 0.5)
			terms = append(terms, call(1, above(before, 18), on), call(-1, above(before, 22), on))
		}
		drift := func(cooling float64) regions.Hyperplane {
			return line(-(32-cooling)/15, [2]float64{-14.0 / 15, float64(before)}, [2]float64{1, float64(room)})
		}
		terms = append(terms, bell(drift(21), 0.44, above(noise, 0.5)), bell(drift(0), 0.4, below(noise, 0.5)), bell(above(room, obs[i]), 1))
	}
	return terms
}

// The closed form is that of package models where latents are independent.
func TestOracleOfIndependentNormals(t *testing.T) {
	for _, name := range paperModels {
		spec, d := vitest.Paper(t, name)
		o := normalOracle{paperTerms(t, name), family.Softplus{}, d.Parents()}
		for _, theta := range [][]float64{spec.ThetaInit, wideTheta(o, d, name)} {
			elbo := spec.Oracle.ELBO(theta)
			require.InEpsilon(t, elbo, o.elbo(theta), 1e-12, name)
			inside, bou := o.gradient(theta)
			rep, jumps := spec.Oracle.Gradient(theta)
			scale := floats.Norm(rep, 2) + floats.Norm(jumps, 2)
			require.InDeltaSlice(t, rep, inside, 1e-7*scale, name)
			require.InDeltaSlice(t, jumps, bou, 1e-7*scale, name)
		}
	}
}

// wideTheta has correlated latents that cross all guards often.
func wideTheta(o normalOracle, d *graph.Density, name string) []float64 {
	rng := rand.New(rand.NewPCG(6, 0))
	var theta []float64
	for _, latent := range d.Latents() {
		mean, sd := 0.0, 1.0
		switch {
		case strings.HasPrefix(latent, "theta"):
			mean, sd = 20, 2
		case strings.HasSuffix(latent, "noise"):
			mean, sd = 0.5, 0.6
		case name == "textmsg" && latent != "z":
			mean, sd = 3, 0.2
		case name == "influenza" && !strings.HasPrefix(latent, "f"):
			sd = 0.1
		}
		sd *= 0.7 + 0.6*rng.Float64()
		mean += 0.3 * sd * rng.NormFloat64()
		if o.family == (family.Softplus{}) {
			sd = math.Log(math.Expm1(sd))
		}
		theta = append(theta, mean, sd)
	}
	n, scale := len(theta), parameterScales(o.family, o.parents, theta)
	for _, unit := range scale[n:] {
		theta = append(theta, unit*rng.NormFloat64()/math.Sqrt(float64(d.Dim())))
	}
	return theta
}

// Differences of the ELBO along random directions, from samples with common
// draws, are those of the closed form: at members of every family that cross all
// guards often, where samples see all sides.
func TestOracleByCommonDraws(t *testing.T) {
	t.Parallel()
	const h, seeds, samples = 0.1, 64, 1 << 10
	for _, name := range paperModels {
		_, d := vitest.Paper(t, name)
		for kind, f := range everyFamily(d.Dim()) {
			if !long.On() && kind != "structured" {
				continue
			}
			o := normalOracle{paperTerms(t, name), f, d.Parents()}
			theta := wideTheta(o, d, name)
			q, rng, unit := memberAt(t, f, d, theta), rand.New(rand.NewPCG(7, 0)), parameterScales(f, d.Parents(), theta)
			meter, err := check.NewMeter(d, q, samples, 0)
			require.NoError(t, err)
			seen := 0.0
			for direction := range 3 {
				up, down := slices.Clone(theta), slices.Clone(theta)
				for k, u := range unit {
					step := h * u * rng.NormFloat64() / math.Sqrt(float64(len(unit)))
					up[k], down[k] = up[k]+step, down[k]-step
				}
				var difference mc.Moments
				for seed := range uint64(seeds) {
					measure := func(theta []float64) float64 {
						meter.Restart(parallel.Mix(*gradient.Seed, seed))
						q.Set(theta)
						e, err := meter.Measure(q)
						require.NoError(t, err)
						return e.Value
					}
					difference.Add(measure(up) - measure(down))
				}
				want := o.elbo(up) - o.elbo(down)
				what := fmt.Sprintf("%s, %s, direction %d", name, kind, direction)
				require.Less(t, math.Abs(difference.Mean-want), 5*difference.SE(), what)
				seen = max(seen, math.Abs(want)/difference.SE())
			}
			require.Greater(t, seen, 10.0, "%s, %s is inconclusive", name, kind)
		}
	}
}
