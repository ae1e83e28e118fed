package models

import (
	"math"
	"slices"
	"testing"
)

func TestClosedFormIsGolden(t *testing.T) {
	for _, c := range goldenCases() {
		t.Run(c.name, func(t *testing.T) {
			want := mustGolden(c.name).Exact
			if got := c.oracle.ELBO(c.theta); math.Abs(got-want.ELBO) > 1e-12*math.Abs(want.ELBO) {
				t.Errorf("ELBO = %.15g, want %.15g", got, want.ELBO)
			}
			// A component is a sum of a few terms as large as the largest component, which may cancel: temperature subtracts
			// 5e5 from 5e5. Eight roundings of such a term are 1e-15 of the largest component.
			tol := 2e-15 * largest(want.Gradient)
			rep, bou := c.oracle.Gradient(c.theta)
			checkNear(t, "RepGrad", rep, want.RepGrad, tol)
			checkNear(t, "BouContr", bou, want.BouContr, tol)
		})
	}
}

func TestGoldenGradientIsTheSumOfItsParts(t *testing.T) {
	for _, c := range goldenCases() {
		x := mustGolden(c.name).Exact
		sum := make([]float64, len(x.RepGrad))
		for i := range sum {
			sum[i] = x.RepGrad[i] + x.BouContr[i]
		}
		checkNear(t, c.name+": gradient", sum, x.Gradient, 2e-15*largest(x.Gradient))
	}
}

func TestUnmergedGuardsAreWrongOnlyInTemperature(t *testing.T) {
	for _, c := range goldenCases() {
		x := mustGolden(c.name).Exact
		if same := slices.Equal(x.BouContr, x.BouContrUnmerged); same == (c.name == "temperature") {
			t.Errorf("%s: unmerged boundary part equal to the true one: %v", c.name, same)
		}
	}
}

// The guards of the golden programs are the oracle's, each as often as the program branches on it.
func TestGuardsAreGolden(t *testing.T) {
	for _, c := range goldenCases() {
		t.Run(c.name, func(t *testing.T) {
			g := mustGolden(c.name)
			if len(g.Guards) != g.Ifs {
				t.Errorf("%d golden guards, %d ifs", len(g.Guards), g.Ifs)
			}
			met := map[int]bool{}
			for _, guard := range g.Guards {
				k := slices.IndexFunc(c.oracle.Guards(), func(h Guard) bool { return h.contains(guard, g.Latents) })
				if k < 0 {
					t.Fatalf("the oracle lacks %+v", guard)
				}
				met[k] = true
			}
			if len(met) != len(c.oracle.Guards()) {
				t.Errorf("%d of the oracle's %d guards are golden", len(met), len(c.oracle.Guards()))
			}
		})
	}
}

// contains reports whether h is the zero set of the golden guard, up to rounding of the threshold.
func (h Guard) contains(g GoldenGuard, latents []string) bool {
	term := g.Terms[0]
	threshold := -g.C0 / term.Coef
	return len(g.Terms) == 1 && latents[h.Latent] == term.Latent && math.Abs(h.Threshold-threshold) < 1e-14
}

func TestTextMsgDataAreGolden(t *testing.T) {
	g := mustGolden("textmsg")
	for i, day := range g.Days {
		checkNear(t, "threshold", []float64{TextMsgThreshold(day)}, g.Thresholds[i:i+1], 1e-14)
		if g.AllCounts[day-1] != g.Observations[i] {
			t.Errorf("day %d: count %v among all, %v among those used", day, g.AllCounts[day-1], g.Observations[i])
		}
	}
	checkNear(t, "mean count", []float64{TextMsgMean()}, []float64{g.Constants["obs_mean"].(float64)}, 1e-14)
}

func TestThetaInitIsGolden(t *testing.T) {
	g := mustGolden("temperature")
	checkNear(t, "temperature", TemperatureThetaInit(g.Observations), g.ThetaInit, 1e-12)
	g = mustGolden("influenza")
	checkNear(t, "influenza", InfluenzaThetaInit(len(g.Observations)), g.ThetaInit, 0)
}

func TestLatentsAreGolden(t *testing.T) {
	if got, want := temperatureLatents(20), mustGolden("temperature").Latents; !slices.Equal(got, want) {
		t.Errorf("temperature: latents %v, want %v", got, want)
	}
	if got, want := influenzaLatents(12), mustGolden("influenza").Latents; !slices.Equal(got, want) {
		t.Errorf("influenza: latents %v, want %v", got, want)
	}
}

func TestLoadGoldenOfAnUnknownName(t *testing.T) {
	if _, err := LoadGolden("weather"); err == nil {
		t.Error("no error")
	}
}
