// Manyfits fits one program to many series with Apache Beam: in this process, in two, or on a cluster. See
// README.md.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
)

var (
	series    = flag.Int("series", 1000, "series that are simulated, if there is no -in")
	input     = flag.String("in", "", "files of series, CSV: a key and 100 points in a line")
	output    = flag.String("out", "fits", "folder for fits.csv, failures.csv and shifts.png")
	shards    = flag.Int("shards", 16, "groups of series")
	seed      = flag.Uint64("seed", 1, "fixes all fits")
	processes = flag.Int("processes", 1, "2: another process fits")
	attempts  = flag.Int("attempts", 3, "how often the job is tried, if a worker is lost")
	check     = flag.Bool("check", false, "compare with vi.FitAll, bit for bit")
	keep      = flag.String("keep", "", "folder in which workers keep what they have fitted, for the next attempt")
	worker    = flag.Int("serve", 0, "serve as a worker on this port of localhost")
	dieAfter  = flag.Int("die-after", 0, "the first worker kills itself after so many fits of a shard: to see that none is lost")
)

func main() {
	flag.Parse()
	beam.Init()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := drive
	if *worker > 0 {
		run = work
	}
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "manyfits:", err)
		os.Exit(1)
	}
}

// work is the second process.
func work(ctx context.Context) error {
	pool, err := extworker.StartLoopback(ctx, *worker)
	if err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() { // the driver holds the other end
		bufio.NewReader(os.Stdin).ReadByte()
		close(gone)
	}()
	select {
	case <-ctx.Done():
	case <-gone:
	}
	return pool.Stop(context.Background())
}

// drive runs the job and looks at what it has found.
func drive(ctx context.Context) error {
	if err := os.MkdirAll(*output, 0o777); err != nil {
		return err
	}
	in := *input
	if in == "" {
		in = filepath.Join(*output, "series.csv")
		if err := writeSeries(in, *series); err != nil {
			return err
		}
	}
	begin := time.Now()
	var fitted, failed int64
	for attempt := 1; ; attempt++ {
		var err error
		if fitted, failed, err = try(ctx, in, attempt); err == nil {
			break
		}
		if attempt >= *attempts || ctx.Err() != nil {
			return err
		}
		fmt.Printf("attempt %d: %v\n", attempt, err)
	}
	fmt.Printf("%d series fitted, %d failed, in %.1f s\n", fitted, failed, time.Since(begin).Seconds())
	fits, err := readFits(filepath.Join(*output, "fits.csv"))
	if err != nil {
		return err
	}
	if *check {
		if err := compare(ctx, in, fits); err != nil {
			return err
		}
		fmt.Println("the same as vi.FitAll, bit for bit")
	}
	return picture(filepath.Join(*output, "shifts.png"), fits)
}

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

// startWorker starts the second process, and calls gone if it ends before end is called.
func startWorker(gone func()) (address string, end func(), err error) {
	l, err := net.Listen("tcp", "localhost:0") // for a port that is free
	if err != nil {
		return "", nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	c := exec.Command(self, fmt.Sprintf("-serve=%d", port))
	c.Stderr = os.Stderr
	hold, err := c.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
		gone()
	}()
	end = func() {
		hold.Close()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = c.Process.Kill()
			<-ended
		}
	}
	address = fmt.Sprintf("localhost:%d", port)
	for range 300 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return address, end, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	end()
	return "", nil, errors.New("the worker does not answer")
}

// compare fits the series without Beam.
func compare(ctx context.Context, in string, fits []Fit) error {
	text, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	var all []Series
	for line := range strings.Lines(string(text)) {
		if x, err := parseSeries(strings.TrimSuffix(line, "\n")); err == nil {
			all = append(all, x)
		}
	}
	d, err := density()
	if err != nil {
		return err
	}
	want, _ := fitAll(ctx, d, all, *seed)
	byKey := func(a, b Fit) int { return strings.Compare(a.Key, b.Key) }
	slices.SortFunc(want, byKey)
	slices.SortFunc(fits, byKey)
	if len(fits) != len(want) {
		return fmt.Errorf("%d fits, and vi.FitAll has %d", len(fits), len(want))
	}
	for k, f := range fits {
		if f != want[k] {
			return fmt.Errorf("%s: %+v, and by vi.FitAll %+v", f.Key, f, want[k])
		}
	}
	return nil
}
