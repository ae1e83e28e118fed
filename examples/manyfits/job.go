package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
)

// try runs the job once.
func try(ctx context.Context, in string, attempt int) (fitted, failed int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := &fitFn{Seed: *seed, Folder: *keep}
	if *processes > 1 {
		if attempt == 1 {
			f.DieAfter = *dieAfter
		}
		address, end, err := startWorker(func() { cancel(errors.New("the worker is gone")) })
		if err != nil {
			return 0, 0, err
		}
		defer end()
		*jobopts.EnvironmentType, *jobopts.EnvironmentConfig = "external", address
		if *jobopts.WorkerBinary, err = os.Executable(); err != nil { // else Beam builds one
			return 0, 0, err
		}
	}
	p, s := beam.NewPipelineWithRoot()
	x, bad := beam.ParDo2(s, &parseFn{}, textio.Read(s, in))
	fits, failures := manyFits(s, x, *shards, f)
	textio.Write(s, filepath.Join(*output, "fits.csv"), beam.ParDo(s, fitLine, fits))
	textio.Write(s, filepath.Join(*output, "failures.csv"), beam.ParDo(s, failureLine, beam.Flatten(s, bad, failures)))
	type outcome struct {
		result beam.PipelineResult
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		name := *runners.Runner
		if name == "" {
			name = "prism"
		}
		result, err := beam.Run(ctx, name, p)
		done <- outcome{result, err}
	}()
	select {
	case <-ctx.Done(): // the runner may not notice
		return 0, 0, context.Cause(ctx)
	case o := <-done:
		if o.err != nil {
			return 0, 0, o.err
		}
		if o.result == nil {
			return 0, 0, nil
		}
		for _, c := range o.result.Metrics().Query(func(r beam.MetricResult) bool { return r.Namespace() == "manyfits" }).Counters() {
			switch c.Name() {
			case "fitted":
				fitted = c.Result()
			case "failed":
				failed = c.Result()
			}
		}
		return fitted, failed, nil
	}
}
