package models

import (
	"math"
	"math/rand/v2"
	"testing"
)

// oracleCase is an oracle with a starting point for θ.
type oracleCase struct {
	name   string
	oracle Oracle
	theta  []float64
}

// goldenCases are the three models of golden/ at their golden parameters.
func goldenCases() []oracleCase {
	cases := []oracleCase{
		{name: "temperature", oracle: TemperatureOracle(TemperatureData())},
		{name: "textmsg", oracle: TextMsgOracle()},
		{name: "influenza", oracle: InfluenzaOracle(InfluenzaData())},
	}
	for i := range cases {
		cases[i].theta = mustGolden(cases[i].name).ThetaInit
	}
	return cases
}

// smallCases are the four models cut short, at parameters where every guard is open and no two latents are alike.
func smallCases() []oracleCase {
	rng := rand.New(rand.NewPCG(1, 2))
	jitter := func(mu, s float64) []float64 {
		return []float64{mu + 0.5*s*rng.NormFloat64(), softplusInverse(s * math.Exp(0.2*rng.NormFloat64()))}
	}
	room := jitter(20, 2)
	for range 3 {
		room = append(room, jitter(0.5, 0.5)...)
		room = append(room, jitter(20, 2)...)
	}
	text := append(append(jitter(2.6, 0.2), jitter(3, 0.2)...), jitter(0.1, 1)...)
	flu := jitter(0, 1)
	for range 3 {
		flu = append(flu, append(jitter(0.1, 0.1), append(jitter(0, 0.2), jitter(0, 1)...)...)...)
	}
	return []oracleCase{
		{"proposition", PropositionOracle(), []float64{-0.7, 0.2}},
		{"temperature", TemperatureOracle(TemperatureData()[:4]), room},
		{"textmsg", TextMsgOracle(), text},
		{"influenza", InfluenzaOracle(InfluenzaData()[:3]), flu},
	}
}

// largest returns the largest magnitude in x.
func largest(x []float64) float64 {
	var m float64
	for _, v := range x {
		m = math.Max(m, math.Abs(v))
	}
	return m
}

// checkNear fails unless every component of got is within tol of want.
func checkNear(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has length %d, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tol) {
			t.Errorf("%s[%d] = %v, want %v ± %.1g", what, i, got[i], want[i], tol)
		}
	}
}
