//go:build long

package main

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/vi"
)

// judged are the models that a fit with default settings must be right for from each of the seeds 1 to 5, against the exact posterior: see
// -seeds.
var judged = []string{"textmsg", "coalmining", "nile", "influenza", "temperature"}

// The largest errors: of a guard's probability, of the log evidence in nats, and of a latent's mean and standard deviation,
// in standard deviations.
const (
	mostGuard    = 0.003
	mostEvidence = 0.01
	mostMean     = 0.01
	mostSD       = 0.01
	mostOfTen    = 0.003 // root mean square of the errors of a mean of coalmining and nile from ten seeds or more, in standard deviations
)

var seeds = flag.Uint64("seeds", 1, "how many seeds TestPosteriors fits from")

// TestPosteriors measures every error, and BenchmarkPosteriors how long a fit takes.
func TestPosteriors(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	for _, name := range judged {
		t.Run(name, func(t *testing.T) {
			p, err := problemOf(name)
			require.NoError(t, err)
			want := p.exact()
			squares := make([]float64, len(want.Latents))
			for seed := uint64(1); seed <= *seeds; seed++ {
				fit := fitOf(t, p, seed)
				at, off := furthest(fit.answer.guards, want.Guards)
				mean, sd := 0.0, 0.0
				for i, w := range want.Latents {
					got := fit.answer.latents[i]
					squares[i] += (got.Mean - w.Mean) * (got.Mean - w.Mean) / (w.SD * w.SD)
					mean, sd = max(mean, math.Abs(got.Mean-w.Mean)/w.SD), max(sd, math.Abs(got.SD/w.SD-1))
				}
				found := fmt.Sprintf("seed %d: %s off by %.4f; means by %.4f, sds by %.4f; log evidence %.4f ± %.4f, off by %+.4f; %.2f s; %s",
					seed, fit.guards[at], off, mean, sd, fit.logEvidence.Value, fit.logEvidence.SE, fit.logEvidence.Value-want.LogEvidence, fit.seconds, fit.verdict.Trust)
				t.Log(found)
				assert.Equal(t, vi.TrustFit, fit.verdict.Trust, "%s\n%s", found, fit.verdict)
				assert.LessOrEqual(t, fit.elbo.Value, want.LogEvidence+4*fit.elbo.SE, "an ELBO above the log evidence: %s", found)
				assert.LessOrEqual(t, off, mostGuard, "guards: %s", found)
				assert.LessOrEqual(t, mean, mostMean, "means: %s", found)
				assert.LessOrEqual(t, sd, mostSD, "standard deviations: %s", found)
				assert.InDelta(t, want.LogEvidence, fit.logEvidence.Value, mostEvidence, "log evidence: %s", found)
			}
			errors := rootMeanSquares(squares, *seeds)
			t.Logf("root mean squares of errors of means over %d seeds: %.4f", *seeds, errors)
			if *seeds >= 10 && (name == "coalmining" || name == "nile") {
				assert.LessOrEqual(t, slices.Max(errors), mostOfTen, "root mean squares: %.4f", errors)
			}
		})
	}
}

func rootMeanSquares(squares []float64, n uint64) (list []float64) {
	for _, s := range squares {
		list = append(list, math.Sqrt(s/float64(n)))
	}
	return list
}

// BenchmarkPosteriors is the CPU seconds of a fit with default settings, from seed 1 on.
func BenchmarkPosteriors(b *testing.B) {
	for _, name := range judged {
		b.Run(name, func(b *testing.B) {
			p, err := problemOf(name)
			require.NoError(b, err)
			seconds := 0.0
			for i := range b.N {
				seconds += fitOf(b, p, uint64(i+1)).seconds
			}
			b.ReportMetric(seconds/float64(b.N), "CPU-s/op")
		})
	}
}
