package calibration

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/internal/cputime"
	"github.com/facetvi/facet/internal/long"
	"github.com/facetvi/facet/vi"
	"github.com/facetvi/facet/vi/family"
)

// What must hold of the default fits of the collection.
const (
	leastRight   = 0.98 // of the fits that say trust, those whose numbers are right
	leastTrusted = 0.8  // of the models, those whose fits say trust at every seed
	rightMean    = 0.05 // standard deviations, or 4 standard errors
	rightSD      = 0.1  // relative
	rightLog     = 0.05 // nats, and 4 standard errors
	rightGuard   = 0.02 // where guards are asked for
)

var (
	fitSeed  = flag.Uint64("seed", 1, "seed of the fits")
	fitSeeds = flag.Int("calibration.seeds", 3, "with -exhaustive, number of seeds of each model in TestCalibration")
)

// everyKind are some models of each kind that are fitted fast. The first three stand for them.
var everyKind = []string{
	"change-normal-unknown-noise", "threshold-poisson-skewed", "hurdle-responders", "autoregression-weak", "real-coal",
	"change-normal-thousandths", "change-bernoulli-weak", "two-changes-informed", "regime-normal", "dense-plane-normal",
	"censored-survival", "hierarchy-3", "smooth-five-coefficients",
}

// Fits that say trust are right, most fits say it, and no ELBO is above the log
// evidence. Some models, with one seed, stand for all, more with -tags long; unless there is
// -exhaustive:
//
//	go test ./internal/calibration -run TestCalibration/ -v -timeout 0 -exhaustive
//
// The table goes to the log, a row for each fit. One model has
// -run TestCalibration/NAME$.
func TestCalibration(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	seeds := 1
	if long.Exhaustive() {
		seeds = *fitSeeds
	}
	var all []comparison
	t.Log(comparisonHeader)
	names := everyKind[:long.Or(3, len(everyKind))]
	if long.Exhaustive() {
		names = Names()
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			c := Named(name)
			for s := range uint64(seeds) {
				all = append(all, compareCase(t, c, *fitSeed+s))
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

// A threshold that may be far out, with a hundredth of the weight, makes standard deviations larger by a twentieth. A sampler that comes first,
// with the threshold summed out, hardly goes there.
func TestFarThreshold(t *testing.T) {
	long.Skip(t)
	f := compareCase(t, Named("regression-four-coefficients"), 1)
	require.Empty(t, f.wrong)
	require.Equal(t, vi.TrustFit, f.verdict)
}

// requireCalibrated asks that enough of the fits say trust, and are right when they
// do.
func requireCalibrated(t *testing.T, all []comparison) {
	trusted, right, models := 0, 0, map[string]bool{}
	for _, f := range all {
		trusts := f.verdict == vi.TrustFit
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

// A comparison is of a fit's numbers with the exact posterior.
type comparison struct {
	name    string
	seed    uint64
	verdict vi.Trust
	// mean, sd, guard and log are the largest errors of means, in standard deviations,
	// of standard deviations, relative, and of the probabilities of named guards, and
	// the error of the log evidence, in nats.
	mean, sd, guard, log float64
	kHat, effective      float64  // of the weights, and the part of the draws that they make
	wrong                []string // what is too far off
	doubts               []string // why there is no trust
	cells                int
	seconds              float64 // of CPU
}

const comparisonHeader = "model                              seed  trust  mean/sd     sd   logZ  guard  k-hat   eff.  cells  CPU s"

// String is a row of the table.
func (f comparison) String() string {
	trust := map[vi.Trust]string{vi.TrustFit: "fit", vi.TrustNothing: "no"}[f.verdict]
	row := fmt.Sprintf("%-33s %5d  %5s  %7.3f %6.3f %6.3f %6.3f  %5.2f %5.0f%%  %5d  %5.1f",
		f.name, f.seed, trust, f.mean, f.sd, f.log, f.guard, f.kHat, 100*f.effective, f.cells, f.seconds)
	if len(f.doubts) > 0 {
		row += "  " + strings.Join(f.doubts, ", ")
	}
	if len(f.wrong) > 0 {
		row += "  off: " + strings.Join(f.wrong, ", ")
	}
	return row
}

// compareCase fits a model with default settings.
func compareCase(t testing.TB, c Case, seed uint64) comparison {
	t.Helper()
	f, p := fitCase(t, c, seed)
	if s, err := p.Sample(); err == nil {
		f.kHat, f.effective = s.K, s.ESS/float64(s.Len())
	}
	for _, name := range c.Density.Latents() {
		mean, err := p.Mean(name)
		require.NoError(t, err)
		sd, err := p.SD(name)
		require.NoError(t, err)
		f.latent(name, mean, sd, c.Exact)
	}
	for name, exact := range c.Exact.Guards {
		f.guard = max(f.guard, floats.Distance(fittedGuards(t, p, name), exact, math.Inf(1)))
	}
	logEvidence, err := p.LogEvidence()
	require.NoError(t, err)
	f.log = math.Abs(logEvidence.Value - c.Exact.LogEvidence)
	if !(f.log <= rightLog+4*logEvidence.SE) {
		f.wrong = append(f.wrong, fmt.Sprintf("log evidence %v, not %.3f", logEvidence, c.Exact.LogEvidence))
	}
	requireBelow(t, p, c)
	return f
}

func fitCase(t testing.TB, c Case, seed uint64) (comparison, *vi.Posterior) {
	t.Helper()
	start := cputime.Seconds()
	p, err := vi.Fit(context.Background(), c.Density, vi.Settings{Seed: seed})
	f := comparison{name: c.Name, seed: seed, seconds: cputime.Seconds() - start}
	require.NoError(t, err)
	v, err := p.Verdict()
	require.NoError(t, err)
	f.verdict, f.cells = v.Trust, len(p.Cells())
	if v.Trust == vi.TrustNothing {
		f.doubts = v.Reasons
	}
	return f, p
}

// latent compares a latent's mean and standard deviation, if the exact ones are known.
func (f *comparison) latent(name string, mean, sd vi.Estimate, exact Exact) {
	want, ok := exact.Mean[name]
	if !ok {
		return
	}
	scale := exact.SD[name]
	off, ratio := math.Abs(mean.Value-want), math.Abs(sd.Value/scale-1)
	f.mean, f.sd = max(f.mean, off/scale), max(f.sd, ratio)
	if !(off <= max(4*mean.SE, rightMean*scale) && ratio <= rightSD) {
		f.wrong = append(f.wrong, fmt.Sprintf("%s %.4g ± %.3g, not %.4g ± %.3g", name, mean.Value, sd.Value, want, scale))
	}
}

// fittedGuards are the probabilities of the guards of a name in the fit.
func fittedGuards(t testing.TB, p *vi.Posterior, name string) []float64 {
	t.Helper()
	probs, err := p.Probs(p.Density.Named(name))
	require.NoError(t, err)
	list := make([]float64, len(probs))
	for i, p := range probs {
		list[i] = p.Value
	}
	return list
}

// requireBelow asks that the ELBO is not above the exact log evidence.
func requireBelow(t testing.TB, p *vi.Posterior, c Case) {
	t.Helper()
	elbo, err := p.ELBO(4000, p.Settings.Seed)
	require.NoError(t, err)
	require.LessOrEqual(t, elbo.Value, c.Exact.LogEvidence+4*elbo.SE+1e-6, "the ELBO")
}

// Of no family is the ELBO above the log evidence, early in a fit and late.
func TestELBOBelowEvidence(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	names := []string{"change-poisson-weak", "smooth-eight-schools"}[:long.Or(1, 2)]
	if long.Exhaustive() {
		names = Names()
	}
	for _, name := range names {
		c := Named(name)
		for _, f := range []family.Family{family.MeanField{}, family.Softplus{}, family.Structured{}, family.FullRank{}, family.LowRank{Rank: 2}} {
			for _, steps := range []int{20, 1000} {
				p, err := vi.Fit(context.Background(), c.Density, vi.Settings{Seed: *fitSeed, Method: vi.Climb{Family: f, Steps: steps, StartDraws: 100}})
				require.NoError(t, err, "%s, %s", name, f.Name())
				requireBelow(t, p, c)
			}
		}
	}
}

// A fit of one cell is below the log evidence too.
func TestELBOOfOneCell(t *testing.T) {
	long.Skip(t) // TestELBOBelowEvidence has many
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	c := Named("real-coal")
	p, err := vi.Fit(context.Background(), c.Density, vi.Settings{Seed: *fitSeed, Method: vi.Cells{Most: 1}})
	require.NoError(t, err)
	require.Len(t, p.Cells(), 1)
	requireBelow(t, p, c)
}
