package main

import (
	"context"
	"hash/fnv"
	"path/filepath"
	"reflect"
	"strconv"
	"sync"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/facetvi/facet/vi"
)

// Types and functions are registered for reflection: Beam's generated ones take half a minute to compile.
func init() {
	for _, t := range []any{Series{}, Fit{}, Failure{}, parseFn{}, shardFn{}, fitFn{}} {
		beam.RegisterType(reflect.TypeOf(t))
	}
	beam.RegisterFunction(fitLine)
	beam.RegisterFunction(failureLine)
}

// manyFits fits series, shard by shard:
//
//	Series ─▶ (shard of key, Series) ─▶ GroupByKey ─▶ vi.FitAll on all processors of a worker ─▶ Fit, Failure
//
// A fit depends on its key, its data and the seed alone: not on shards, workers or retries.
func manyFits(s beam.Scope, series beam.PCollection, shards int, f *fitFn) (fits, failures beam.PCollection) {
	s = s.Scope("ManyFits")
	return beam.ParDo2(s, f, beam.GroupByKey(s, beam.ParDo(s, &shardFn{shards}, series)))
}

// A parseFn reads lines of CSV.
type parseFn struct{}

func (*parseFn) ProcessElement(line string, series func(Series), failed func(Failure)) {
	x, err := parseSeries(line)
	if err != nil {
		failed(Failure{line[:min(len(line), 40)], err.Error()})
		return
	}
	series(x)
}

// A shardFn gives a series its shard.
type shardFn struct{ Shards int }

func (f *shardFn) ProcessElement(_ context.Context, x Series) (int, Series) {
	h := fnv.New32a()
	h.Write([]byte(x.Key))
	return int(h.Sum32() % uint32(f.Shards)), x
}

// A fitFn fits the series of a shard.
type fitFn struct {
	Seed uint64
	// Folder, if not empty, is where a worker keeps what it has fitted, shard by shard: a shard
	// that is tried again goes on where it was.
	Folder string
	// DieAfter is after how many fits the worker kills itself, if it is not 0: for tests.
	DieAfter int

	fitted, failed beam.Counter
}

// density is compiled once in each process. Its fits share what they compute with.
var density = sync.OnceValues(newDensity)

func (f *fitFn) Setup() {
	f.fitted, f.failed = beam.NewCounter("manyfits", "fitted"), beam.NewCounter("manyfits", "failed")
}

func (f *fitFn) ProcessElement(ctx context.Context, shard int, next func(*Series) bool, emit func(Fit), emitFailure func(Failure)) error {
	d, err := density()
	if err != nil {
		return err
	}
	s := vi.Settings{Seed: f.Seed, Method: vi.Cells{Quick: true}}
	if f.Folder != "" {
		s.Checkpoint = filepath.Join(f.Folder, strconv.Itoa(shard))
	}
	sets := func(yield func(string, map[string][]float64) bool) {
		for x := (Series{}); next(&x); x = (Series{}) {
			if !yield(x.Key, map[string][]float64{"y": x.Y}) {
				return
			}
		}
	}
	done := 0
	for x := range vi.FitAll(ctx, d, sets, s) {
		if done++; done == f.DieAfter {
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		}
		if ctx.Err() != nil {
			return ctx.Err() // which is no fault of the series
		}
		fit, err := newFit(x)
		if err != nil {
			f.failed.Inc(ctx, 1)
			emitFailure(Failure{x.Key, err.Error()})
			continue
		}
		f.fitted.Inc(ctx, 1)
		emit(fit)
	}
	return nil
}
