package climb

import (
	"math"
	"time"

	"github.com/facetvi/facet/internal/parallel"
	"github.com/facetvi/facet/vi/check"
	"github.com/facetvi/facet/vi/family"
	"github.com/facetvi/facet/vi/internal/streams"
	"github.com/facetvi/facet/vi/mc"
)

// trace adds a point to the trace.
func (f *fitter) trace() error {
	f.Recent.write(f.line.mean)
	f.Recent.reset()
	f.line.q.Set(f.line.mean)
	elbo, err := measured(f.line.q, f.traceELBO)
	f.Elapsed = time.Since(f.began)
	f.Trace = append(f.Trace, TracePoint{f.Step, elbo, f.Elapsed})
	return err
}

// traceELBO is the ELBO of q from samples that are those of the step.
func (f *fitter) traceELBO(q family.Q) (mc.Estimate, error) {
	if f.meter == nil {
		var err error
		if f.meter, err = check.NewMeter(f.d, q, traceSamples, 0); err != nil {
			return mc.Estimate{}, err
		}
	}
	f.meter.Restart(parallel.Mix(f.s.Seed, streams.Trace+uint64(f.Step))) // a fit that is resumed has no state of it to restore
	return f.meter.Measure(q)
}

// measured is the ELBO that measure finds at q. It is NaN if q is no distribution:
// a fit that diverges may have a scale of 0 or +Inf.
func measured(q family.Q, measure func(family.Q) (mc.Estimate, error)) (mc.Estimate, error) {
	if q.Fault() >= 0 {
		return mc.Estimate{Value: math.NaN(), SE: math.NaN()}, nil
	}
	return measure(q)
}
