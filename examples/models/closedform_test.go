package models

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

var seed = flag.Uint64("models.seed", 1, "seed of the statistical tests")

// The paper's Proposition 2: at scale 1, ∇ELBO = −θ − 10.5 exp(−θ²/2)/√(2π), of which −θ is RepGrad.
func TestProposition2(t *testing.T) {
	for _, mu := range []float64{-3, -0.9, 0, 0.4, 2, 9} {
		rep, bou := PropositionOracle().Gradient([]float64{mu, softplusInverse(1)})
		checkNear(t, "RepGrad", rep[:1], []float64{-mu}, 1e-14)
		want := -10.5 * math.Exp(-mu*mu/2) / math.Sqrt(2*math.Pi)
		checkNear(t, "BouContr", bou[:1], []float64{want}, 1e-14*math.Abs(want))
	}
}

// The whole models at their initial θ. Each is a sum of 12 to 37 alike steps, months or days, so that an error of a fiftieth is less
// than one of them left out; finer faults are for the cubature.
func TestClosedFormIsMonteCarlo(t *testing.T) {
	for _, c := range goldenCases() {
		t.Run(c.name, func(t *testing.T) {
			elbo := c.oracle.ELBO(c.theta)
			checkMonteCarlo(t, c.oracle, c.theta, elbo, math.Abs(elbo)/50)
		})
	}
}

// At textmsg's optimum log r − log q varies little, so that the test is sharp. At the optima of temperature and influenza
// it would be blind: crossings too rare to be sampled carry 0.236 of temperature's ELBO.
func TestClosedFormIsMonteCarloAtTheOptimum(t *testing.T) {
	o := TextMsgOracle()
	best, elbo, err := Optimum(o, mustGolden("textmsg").ThetaInit)
	if err != nil {
		t.Fatal(err)
	}
	checkMonteCarlo(t, o, best, elbo, 0.1)
}

// checkMonteCarlo fails unless the mean of log r(z) − log q(z) is within 5 standard errors of want, and fails as
// inconclusive if 5 standard errors exceed detect.
func checkMonteCarlo(t *testing.T, o Oracle, theta []float64, want, detect float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(*seed, 0))
	e := newExpectation(theta)
	z, draws := make([]float64, o.Dim()), make([]float64, 50_000)
	for k := range draws {
		var logQ float64
		for i := range z {
			eps := rng.NormFloat64()
			z[i] = e.mu[i] + e.sd[i]*eps
			logQ -= eps*eps/2 + math.Log(e.sd[i]) + logSqrt2Pi
		}
		draws[k] = o.LogDensity(z, Natural(z)) - logQ
	}
	mean, sd := stat.MeanStdDev(draws, nil)
	se := stat.StdErr(sd, float64(len(draws)))
	if 5*se > detect {
		t.Errorf("inconclusive: standard error %.3g, want %.3g at most", se, detect/5)
	}
	if math.Abs(mean-want) > 5*se {
		t.Errorf("mean %v ± %.3g, closed form %v", mean, se, want)
	}
}

// A probability far out in either tail keeps its relative precision, and so does its complement.
func TestAboveInTheTails(t *testing.T) {
	e := newExpectation([]float64{0, softplusInverse(1)})
	const tail = 7.619853024160527e-24 // Φ(−10)
	for _, p := range []float64{e.above(0, 10).is, e.above(0, -10).not} {
		if math.Abs(p-tail) > 1e-12*tail {
			t.Errorf("P = %v, want %v", p, tail)
		}
	}
}

// Between two thresholds the cascade's probability is a difference; taken in the nearer tail it keeps its digits.
func TestCascadeInTheTails(t *testing.T) {
	const want = 1.1285884059538324e-19 - 7.619853024160527e-24 // Φ(−9) − Φ(−10)
	for _, mu := range []float64{-9, 10} {
		e := newExpectation([]float64{mu, softplusInverse(1)})
		always, never := probability{is: 1}, probability{not: 1}
		got := e.cascade(0, 0, 1, always).is
		if mu > 0 {
			got = e.cascade(0, 0, 1, never).not
			got -= 7.619853024160527e-24 // cold
		} else {
			got -= 7.619853024160527e-24 // hot
		}
		if math.Abs(got-want) > 1e-12*want {
			t.Errorf("μ = %v: P(between) = %v, want %v", mu, got, want)
		}
	}
}

// The optima that stochastic fits should approach.
func TestOptimum(t *testing.T) {
	want := map[string]float64{"temperature": -43.12237, "textmsg": -292.4179, "influenza": -188.285}
	for _, c := range goldenCases() {
		theta, elbo, err := Optimum(c.oracle, c.theta)
		if err != nil {
			t.Fatal(err)
		}
		checkNear(t, c.name, []float64{elbo}, []float64{want[c.name]}, 5e-4) // half a unit of influenza's last digit
		if elbo != c.oracle.ELBO(theta) {
			t.Errorf("%s: ELBO %v is not that of θ", c.name, elbo)
		}
	}
}

func TestOptimumOfTheProposition(t *testing.T) {
	theta, elbo, err := Optimum(PropositionOracle(), PropositionThetaInit())
	if err != nil {
		t.Fatal(err)
	}
	rep, bou := PropositionOracle().Gradient(theta)
	for i := range rep {
		if g := rep[i] + bou[i]; math.Abs(g) > 1e-6 {
			t.Errorf("gradient[%d] = %v at the optimum", i, g)
		}
	}
	if reached := PropositionOracle().ELBO(PropositionThetaInit()); elbo <= reached {
		t.Errorf("ELBO %v, no better than %v at the start", elbo, reached)
	}
}
