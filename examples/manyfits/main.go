// Manyfits fits one program to many series with Apache Beam: in this process, in two, or on a cluster. See
// README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
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
