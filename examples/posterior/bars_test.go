package main

import (
	"flag"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A bar is what a fit with default settings must reach from each of the seeds 1 to 5, against the exact posterior: see -seeds.
type bar struct {
	model       string
	guards      float64 // largest error of a guard's probability
	below       float64 // of the ELBO, below the log evidence, in nats
	logEvidence float64 // error of the estimate, in nats
	// latents are the largest errors of a latent's mean, in its own unit, and of its sd, as a fraction.
	latents map[string]struct{ mean, sd float64 }
}

var bars = []bar{
	{model: "textmsg", guards: 0.01, below: 0.06, logEvidence: 0.02},
	{
		model: "coalmining", guards: 0.01, below: 0.06, logEvidence: 0.02,
		latents: map[string]struct{ mean, sd float64 }{"change": {0.05, 0.02}},
	},
	{model: "nile", guards: 0.01, below: 0.15, logEvidence: 0.03},
	{model: "influenza", guards: 0.01, below: 0.15, logEvidence: 0.03},
	{model: "temperature", guards: 0.015, below: 0.35, logEvidence: 0.05},
}

var seeds = flag.Uint64("seeds", 1, "how many seeds TestPosteriors fits from")

// TestPosteriors measures every bar, and BenchmarkPosteriors how long it takes.
func TestPosteriors(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow under the race detector, for which short mode is")
	}
	for _, b := range bars {
		t.Run(b.model, func(t *testing.T) {
			p, err := problemOf(b.model)
			require.NoError(t, err)
			want := p.exact()
			for seed := uint64(1); seed <= *seeds; seed++ {
				fit := fitOf(t, p, seed)
				at, off := furthest(fit.answer.guards, want.Guards)
				found := fmt.Sprintf("seed %d: %s off by %.4f; ELBO %.4f ± %.4f, below by %.4f; log evidence %.4f ± %.4f, off by %+.4f; %.2f s; %s",
					seed, fit.guards[at], off, fit.elbo.Value, fit.elbo.SE, want.LogEvidence-fit.elbo.Value,
					fit.logEvidence.Value, fit.logEvidence.SE, fit.logEvidence.Value-want.LogEvidence, fit.seconds, fit.verdict.Trust)
				assert.LessOrEqual(t, fit.elbo.Value, want.LogEvidence+4*fit.elbo.SE, "an ELBO above the log evidence: %s", found)
				t.Log(found)
				assert.LessOrEqual(t, off, b.guards, "guards: %s", found)
				assert.LessOrEqual(t, want.LogEvidence-fit.elbo.Value, b.below, "ELBO: %s", found)
				assert.InDelta(t, want.LogEvidence, fit.logEvidence.Value, b.logEvidence, "log evidence: %s", found)
				for i, name := range fit.latents {
					if l, ok := b.latents[name]; ok {
						got := fit.trusted().latents[i]
						assert.LessOrEqual(t, math.Abs(got.Mean-want.Latents[i].Mean), l.mean, "%s: %s", name, found)
						assert.LessOrEqual(t, math.Abs(got.SD/want.Latents[i].SD-1), l.sd, "%s: %s", name, found)
					}
				}
			}
		})
	}
}

// BenchmarkPosteriors is the CPU seconds of a fit with default settings, from seed 1 on.
func BenchmarkPosteriors(b *testing.B) {
	for _, bar := range bars {
		b.Run(bar.model, func(b *testing.B) {
			p, err := problemOf(bar.model)
			require.NoError(b, err)
			seconds := 0.0
			for i := range b.N {
				seconds += fitOf(b, p, uint64(i+1)).seconds
			}
			b.ReportMetric(seconds/float64(b.N), "CPU-s/op")
		})
	}
}
