// Package evaluation is what the command reproduce does: runs, a store of what they measured, tables, claims that are tested, figures and
// a report.
package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/facetvi/facet/examples/paper/problem"
)

// Exit codes.
const (
	exitFault       = 1
	exitUsage       = 2
	exitInterrupted = 130 // what a shell makes of SIGINT
)

// Main runs the command and exits with its code. An interrupt ends it, and the same command goes on from there.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	fail := func(code int, err error) int {
		fmt.Fprintln(errOut, "reproduce:", err)
		return code
	}
	began := time.Now()
	set, err := parseSettings(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return fail(exitUsage, err)
	}
	store, err := openStore(set.dir)
	if err != nil {
		return fail(exitUsage, err)
	}
	defer store.close()
	p := &program{settings: set, problems: map[string]*problem.Problem{}, store: store}
	for _, name := range set.Models {
		if p.problems[name], err = problem.Named(name); err != nil {
			return fail(exitFault, err)
		}
	}
	show := newProgress(errOut)
	s, err := p.evaluate(ctx, show, began)
	switch {
	case err != nil && ctx.Err() != nil:
		return fail(exitInterrupted, fmt.Errorf("stopped; %d of %d runs are kept in %s, and the same command goes on from there",
			show.done, show.runs, set.dir))
	case err != nil:
		return fail(exitFault, err)
	}
	if err := s.print(out); err != nil {
		return fail(exitFault, err)
	}
	return 0
}

// evaluate does everything and writes it to the store.
func (p *program) evaluate(ctx context.Context, show *progress, began time.Time) (*summary, error) {
	results, err := p.runAll(ctx, show)
	if err != nil {
		return nil, err
	}
	times, err := p.timeIterations(ctx)
	if err != nil {
		return nil, err
	}
	s, err := p.summarize(results, times)
	if err != nil {
		return nil, err
	}
	if err := p.store.combine(results); err != nil {
		return nil, err
	}
	s.Reused, s.Total = show.first, time.Since(began).Seconds()
	if err := s.write(p.store); err != nil {
		return nil, err
	}
	return s, nil
}

// print writes the tables, or the summary as JSON.
func (s *summary) print(out io.Writer) error {
	if s.Settings.asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", " ")
		return enc.Encode(s)
	}
	for _, t := range s.tables() {
		if err := t.print(out); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "\nClaims")
	if short := s.short(); short != "" {
		fmt.Fprintf(out, "\n%s\n", short)
	}
	for _, c := range s.Claims {
		fmt.Fprintf(out, "\n%s: %s (%s)\n", c.Verdict, c.Claim, c.Count())
	}
	_, err := fmt.Fprintf(out, "\n%.1f s. Report, figures and CSV files: %s\n", s.Total, s.Settings.dir)
	return err
}
