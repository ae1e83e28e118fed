package vi

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/internal/calibration"
	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/vi/family"
)

// What must hold of the default fits of package calibration's models.
const (
	leastRight   = 0.98 // of the fits that say trust, those whose numbers are right
	leastTrusted = 0.8  // of the models, those whose fits say trust at every seed
	rightMean    = 0.05 // standard deviations, or 4 standard errors
	rightSD      = 0.1  // relative
	rightLog     = 0.05 // nats, and 4 standard errors
	rightGuard   = 0.02 // where guards are asked for
)

var calibrationSeeds = flag.Int("calibration.seeds", 3, "with -long, number of seeds of each model in TestCalibration")

// Fits that say trust are right, most fits say it, and no ELBO is above the log
// evidence. One model in six, with one seed, stands for all, unless there is -long:
//
//	go test ./vi -run TestCalibration/ -v -timeout 0 -long
//
// The table goes to the log, a row for each fit. One model has
// -run TestCalibration/NAME$.
func TestCalibration(t *testing.T) {
	seeds := 1
	if *long {
		seeds = *calibrationSeeds
	}
	var all []comparison
	t.Log(comparisonHeader)
	for k, name := range calibration.Names() {
		if !*long && k%6 != 3 { // which are of all kinds
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := calibration.Named(name)
			for s := range uint64(seeds) {
				f := compareCase(t, c, *seed+s)
				all = append(all, f)
			}
		})
		for _, f := range all[max(0, len(all)-seeds):] {
			if f.name == name { // else -run leaves it out
				t.Log(f)
			}
		}
	}
	requireCalibrated(t, all)
}

// requireCalibrated asks that enough of the fits say trust, and are right when they
// do.
func requireCalibrated(t *testing.T, all []comparison) {
	trusted, right, models := 0, 0, map[string]bool{}
	for _, f := range all {
		trusts := f.verdict != TrustNothing
		if before, ok := models[f.name]; ok {
			models[f.name] = before && trusts
		} else {
			models[f.name] = trusts
		}
		if trusts {
			trusted++
			if len(f.wrong) == 0 {
				right++
			}
		}
	}
	sure := 0
	for _, trusts := range models {
		if trusts {
			sure++
		}
	}
	t.Logf("%d of %d fits say trust, of which %d are right; at every seed those of %d of %d models", trusted, len(all), right, sure, len(models))
	require.GreaterOrEqual(t, float64(right), leastRight*float64(trusted))
	require.GreaterOrEqual(t, float64(sure), leastTrusted*float64(len(models)))
}

// A comparison is of a fit with the exact posterior: of its own numbers, or of the
// reweighted ones if these are the ones to trust.
type comparison struct {
	name    string
	seed    uint64
	verdict Trust
	// mean, sd, guard and log are the largest errors of means, in standard deviations,
	// of standard deviations, relative, of the guards' probabilities in the fit
	// itself, and that of the log evidence, in nats.
	mean, sd, guard, log float64
	wrong                []string // what is too far off
	doubts               []string // why there is no trust
	cells                int
	seconds              float64 // of CPU
}

const comparisonHeader = "model                             seed  trust  mean/sd      sd    logZ   guard  cells  CPU s"

// String is a row of the table.
func (f comparison) String() string {
	trust := map[Trust]string{TrustFit: "fit", TrustReweighted: "rew.", TrustNothing: "no"}[f.verdict]
	row := fmt.Sprintf("%-32s  %4d  %5s  %7.3f  %6.3f  %6.3f  %6.3f  %5d  %5.1f", f.name, f.seed, trust, f.mean, f.sd, f.log, f.guard, f.cells, f.seconds)
	if len(f.doubts) > 0 {
		row += "  " + strings.Join(f.doubts, ", ")
	}
	if len(f.wrong) > 0 {
		row += "  off: " + strings.Join(f.wrong, ", ")
	}
	return row
}

// compareCase fits a model with default settings.
func compareCase(t testing.TB, c calibration.Case, seed uint64) comparison {
	t.Helper()
	f, p := fitCase(t, c, seed)
	f.latents(t, p, c.Exact)
	logEvidence, err := p.LogEvidence()
	require.NoError(t, err)
	f.log = math.Abs(logEvidence.Mean - c.Exact.LogEvidence)
	if !(f.log <= rightLog+4*logEvidence.SE) {
		f.wrong = append(f.wrong, fmt.Sprintf("log evidence %v, not %.4g", logEvidence, c.Exact.LogEvidence))
	}
	f.guard = guardError(t, p, c)
	requireBelow(t, p, c)
	return f
}

func fitCase(t testing.TB, c calibration.Case, seed uint64) (comparison, *Posterior) {
	t.Helper()
	start := cputime.Seconds()
	p, err := Fit(context.Background(), c.Density, Settings{Seed: seed})
	f := comparison{name: c.Name, seed: seed, seconds: cputime.Seconds() - start}
	require.NoError(t, err)
	v, err := p.Verdict()
	require.NoError(t, err)
	f.verdict, f.cells = v.Trust, len(p.Cells())
	if v.Trust == TrustNothing {
		f.doubts = v.Reasons
	}
	return f, p
}

// latents compares means and standard deviations.
func (f *comparison) latents(t testing.TB, p *Posterior, exact calibration.Exact) {
	t.Helper()
	reweighted := map[string][3]float64{} // mean, its standard error, sd
	if f.verdict == TrustReweighted {
		w, err := p.Importance(10_000, f.seed)
		require.NoError(t, err)
		for _, l := range w.Latents {
			reweighted[l.Name] = [3]float64{l.Mean.Mean, l.Mean.SE, l.SD}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(exact.Mean)) {
		i, _ := p.Density.Latent(name)
		mean, sd := p.meanSD(i)
		se := 0.0
		if l, ok := reweighted[name]; ok {
			mean, se, sd = l[0], l[1], l[2]
		}
		off, scale := math.Abs(mean-exact.Mean[name]), exact.SD[name]
		f.mean, f.sd = max(f.mean, off/scale), max(f.sd, math.Abs(sd/scale-1))
		if !(off <= max(4*se, rightMean*scale)) || !(math.Abs(sd/scale-1) <= rightSD) {
			f.wrong = append(f.wrong, fmt.Sprintf("%s %.4g ± %.3g, not %.4g ± %.3g", name, mean, sd, exact.Mean[name], scale))
		}
	}
}

// guardError is the largest error of a named guard's probability in the fit.
func guardError(t testing.TB, p *Posterior, c calibration.Case) (worst float64) {
	t.Helper()
	for name, exact := range c.Exact.Guards {
		probs, err := p.events().Probs(c.Density.Named(name))
		require.NoError(t, err)
		for i, prob := range probs {
			worst = max(worst, math.Abs(prob-exact[i]))
		}
	}
	return worst
}

// requireBelow asks that the ELBO is not above the exact log evidence.
func requireBelow(t testing.TB, p *Posterior, c calibration.Case) {
	t.Helper()
	elbo, err := p.ELBO(4000, p.Settings.Seed)
	require.NoError(t, err)
	require.LessOrEqual(t, elbo.Mean, c.Exact.LogEvidence+4*elbo.SE+1e-6, "the ELBO")
}

// Of no family is the ELBO above the log evidence, early in a fit and late.
func TestELBOBelowEvidence(t *testing.T) {
	names := []string{"change-poisson-weak", "smooth-eight-schools"}
	if *long {
		names = calibration.Names()
	}
	for _, name := range names {
		c := calibration.Named(name)
		for _, f := range allFamilies {
			for _, steps := range []int{20, 1000} {
				p, err := Fit(context.Background(), c.Density, Settings{Family: f, Seed: *seed, Steps: steps, StartDraws: 100})
				require.NoError(t, err, "%s, %s", name, f.Name())
				requireBelow(t, p, c)
			}
		}
	}
}

// A fit of one cell is below the log evidence too.
func TestELBOOfOneCell(t *testing.T) {
	c := calibration.Named("real-coal")
	p, err := Fit(context.Background(), c.Density, Settings{Family: family.Cells{}, Cells: 1, Seed: *seed})
	require.NoError(t, err)
	require.Len(t, p.Cells(), 1)
	requireBelow(t, p, c)
}
