// Package cli is what the command lines of the examples have in common: wrong
// flags give one line and exit code 2, and an interrupt ends a fit, not the
// program:
//
//	arguments ─▶ Main ─▶ flags ─▶ Run ─▶ report       exit code 0, 1 = error, 2 = wrong use
//	Ctrl-C ───────────────────────┘ ends the fit, and the report is of what there is
//
// Package clitest runs an example that way in its test.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
)

// A Run is an example: it reads its arguments and writes its answer to out.
type Run func(ctx context.Context, args []string, out, errOut io.Writer) error

// Main runs an example and exits with its code. An interrupt ends the context.
func Main(run Run) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(Call(ctx, run, os.Args[1:], os.Stdout, os.Stderr))
}

// Call runs an example and returns its exit code: 2 if its flags are wrong, 1 if
// it fails otherwise, else 0. It writes the error to errOut.
func Call(ctx context.Context, run Run, args []string, out, errOut io.Writer) int {
	err := run(ctx, args, out, errOut)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(errOut, err)
	if errors.As(err, new(wrong)) {
		return 2
	}
	return 1
}

// Interrupted reports whether a fit stopped early for an interrupt alone, so
// that what it has can be reported.
func Interrupted(err error) bool { return errors.Is(err, context.Canceled) }

// wrong is an error of whoever called the example.
type wrong string

func (w wrong) Error() string { return string(w) }

// Flags are those of one example.
type Flags struct{ *flag.FlagSet }

// New returns the flags of the example with the given name, none so far.
func New(name string) Flags {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // Parse returns what is wrong
	f.Usage = func() {}
	return Flags{f}
}

// Count adds a number of at least least.
func (f Flags) Count(name string, n, least int, usage string) *int {
	f.Var(&count{&n, least}, name, "`n`umber of "+usage)
	return &n
}

// Steps adds -steps.
func (f Flags) Steps(n int, usage string) *int { return f.Count("steps", n, 1, usage) }

// Seed adds -seed.
func (f Flags) Seed() *uint64 { return f.Uint64("seed", 1, "`seed` of the random numbers") }

// Parse reads the flags. Its error is one line for whoever called the example, or
// flag.ErrHelp after it has written the list of flags to out.
func (f Flags) Parse(args []string, out io.Writer) error {
	err := f.FlagSet.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "Flags of %s:\n", f.Name())
		f.SetOutput(out)
		f.PrintDefaults()
		return err
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if err != nil {
		return f.Wrong(err)
	}
	return nil
}

// Wrong is err as an error of whoever called the example.
func (f Flags) Wrong(err error) error {
	return wrong(fmt.Sprintf("%s: %v; -h lists the flags", f.Name(), err))
}

// count is the value of a flag: a number of at least least.
type count struct {
	n     *int
	least int
}

func (c *count) String() string {
	if c.n == nil {
		return ""
	}
	return strconv.Itoa(*c.n)
}

func (c *count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil {
		return errors.New("not a whole number")
	}
	if n < c.least {
		return fmt.Errorf("must be at least %d", c.least)
	}
	*c.n = n
	return nil
}
