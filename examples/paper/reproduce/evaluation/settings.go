package evaluation

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// settings are the flags. The zero value is not of use: see parseSettings.
type settings struct {
	Models     []string  `json:"models"`
	Estimators []string  `json:"estimators"`
	StepSizes  []float64 `json:"step_sizes"`
	Samples    []int     `json:"samples"`
	Steps      int       `json:"steps"`
	Seed       uint64    `json:"seed"`

	dir    string
	asJSON bool
}

// parseSettings reads the flags. Its error is one line; flag.ErrHelp if help
// was asked for, and printed to out.
func parseSettings(args []string, out io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("reproduce", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	models := flags.String("models", strings.Join(modelNames, ","), "models to run")
	estimators := flags.String("estimators", strings.Join(estimatorNames(), ","),
		"estimators to run: "+strings.Join(estimatorNames(), ", ")+"; ours is the paper's, facet uses all guards")
	stepSizes := flags.String("stepsizes", "0.001,0.01", "step sizes of Adam")
	samples := flags.String("samples", "1,8,16", "samples in a gradient, N; variances and times are for N = 1")
	flags.IntVar(&s.Steps, "steps", 10000, "iterations of each run")
	flags.Uint64Var(&s.Seed, "seed", 1, "seed")
	flags.StringVar(&s.dir, "out", "reproduction", "directory for results; runs that it already has are not repeated, those of other -steps or -seed are replaced")
	flags.BoolVar(&s.asJSON, "json", false, "print the summary as JSON")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(out, "Reproduce runs the evaluation of Lee, Yu and Yang (NeurIPS 2018).")
		flags.SetOutput(out)
		flags.PrintDefaults()
	}
	if err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if s.Models, err = list("models", *models, oneOf(modelNames)); err != nil {
		return s, err
	}
	if s.Estimators, err = list("estimators", *estimators, oneOf(estimatorNames())); err != nil {
		return s, err
	}
	if s.StepSizes, err = list("stepsizes", *stepSizes, positive); err != nil {
		return s, err
	}
	if s.Samples, err = list("samples", *samples, count); err != nil {
		return s, err
	}
	if s.Steps < 1 {
		return s, fmt.Errorf("-steps %d: must be at least 1", s.Steps)
	}
	if s.dir == "" {
		return s, errors.New("-out: no directory")
	}
	return s, nil
}

// list splits a flag's value at commas. An empty, bad or repeated element is an
// error.
func list[T comparable](name, value string, parse func(string) (T, error)) ([]T, error) {
	var all []T
	for part := range strings.SplitSeq(value, ",") {
		x, err := parse(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("-%s %s: %w", name, value, err)
		}
		if slices.Contains(all, x) {
			return nil, fmt.Errorf("-%s %s: %v is there twice", name, value, x)
		}
		all = append(all, x)
	}
	return all, nil
}

func oneOf(names []string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(names, s) {
			return "", fmt.Errorf("%q is not one of %s", s, strings.Join(names, ", "))
		}
		return s, nil
	}
}

func positive(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%q is not a positive number", s)
	}
	return x, nil
}

// maxSamples bounds N: a run of more would outlast patience and memory.
const maxSamples = 100000

func count(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxSamples {
		return 0, fmt.Errorf("%q is not a whole number from 1 to %d", s, maxSamples)
	}
	return n, nil
}
