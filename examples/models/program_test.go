package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/regions"
)

func compile(t *testing.T, spec Spec) *graph.Density {
	t.Helper()
	d, err := spec.Model().Compile()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// guardOf returns the guard on plane h, which must look at one latent, and whether h's positive side lies above it.
func guardOf(t *testing.T, o Oracle, h regions.Hyperplane) (guard int, above bool) {
	t.Helper()
	if len(h.Index) != 1 {
		t.Fatalf("plane %v uses %d latents", h, len(h.Index))
	}
	at := -h.Const / h.Coef[0]
	k := slices.IndexFunc(o.Guards(), func(g Guard) bool {
		return g.Latent == h.Index[0] && math.Abs(g.Threshold-at) < 1e-12
	})
	if k < 0 {
		t.Fatalf("the oracle has no guard on %v", h)
	}
	return k, h.Coef[0] > 0
}

// The coincident ifs of the programs are merged: 80 of temperature are 60 planes, 24 of influenza are 13.
func TestProgramHasTheOraclesGuards(t *testing.T) {
	want := map[string]int{"proposition": 1, "temperature": 60, "textmsg": 37, "influenza": 13}
	for _, spec := range All() {
		d := compile(t, spec)
		met := map[int]bool{}
		for _, h := range d.Arrangement().Planes() {
			k, _ := guardOf(t, spec.Oracle, h)
			met[k] = true
		}
		if n := d.Arrangement().Len(); n != want[spec.Name] || len(met) != n || len(spec.Oracle.Guards()) != n {
			t.Errorf("%s: %d planes on %d guards of %d, want %d", spec.Name, n, len(met), len(spec.Oracle.Guards()), want[spec.Name])
		}
		if !slices.Equal(d.Latents(), spec.Latents) {
			t.Errorf("%s: latents %v, want %v", spec.Name, d.Latents(), spec.Latents)
		}
	}
}

// The programs' log density is the oracle's under random signs, feasible or not, far from and near to the data.
func TestProgramIsTheOracleInEveryRegion(t *testing.T) {
	for _, spec := range append(All(), TemperatureSpec(SimulateTemperature(5, 3)), InfluenzaSpec(mustGolden("influenza").Mortality[:20])) {
		t.Run(spec.Name, func(t *testing.T) {
			d, rng := compile(t, spec), rand.New(rand.NewPCG(*seed, 1))
			e := newExpectation(spec.ThetaInit)
			z := make([]float64, d.Dim())
			for range 50 {
				for i := range z {
					z[i] = e.mu[i] + 2*e.sd[i]*rng.NormFloat64()
				}
				above := make([]bool, len(spec.Oracle.Guards()))
				for k := range above {
					above[k] = rng.IntN(2) == 1
				}
				checkRegion(t, spec.Oracle, d, z, above)
			}
		})
	}
}

// checkRegion compares the two log densities at z with guard k's sign forced to above[k].
func checkRegion(t *testing.T, o Oracle, d *graph.Density, z []float64, above []bool) {
	t.Helper()
	positive := make([]bool, d.Arrangement().Len())
	for l, h := range d.Arrangement().Planes() {
		k, up := guardOf(t, o, h)
		positive[l] = above[k] == up
	}
	got, err := d.LogProbAt(z, regions.NewSigns(positive))
	if err != nil {
		t.Fatal(err)
	}
	want := o.LogDensity(z, func(latent int, threshold float64) bool {
		return above[slices.Index(o.Guards(), Guard{latent, threshold})]
	})
	if math.Abs(got-want) > 1e-11*math.Abs(want) {
		t.Errorf("log r = %.15g, want %.15g, at %v", got, want, z)
	}
}
