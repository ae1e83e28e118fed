package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A result is a fit compared with the truth.
type result struct {
	problem
	fitted
	seed  uint64
	err   error
	wrong []wrong
}

func measure(p problem, seed uint64) result {
	x := result{problem: p, seed: seed}
	x.fitted, x.err = fit(p.density, seed)
	if x.err == nil {
		x.wrong = p.compare(x.fitted)
	}
	x.density, x.fitted.masses = nil, nil // which keep the fit, with all its draws
	return x
}

// The kinds of results.
const (
	rightTrust    = "trusted, right"
	falseTrust    = "false trust"
	needlessDoubt = "needless doubt"
	rightDoubt    = "doubted, wrong"
	failed        = "failed"
)

func (x result) kind() string {
	switch {
	case x.err != nil:
		return failed
	case x.trust && len(x.wrong) == 0:
		return rightTrust
	case x.trust:
		return falseTrust
	case len(x.wrong) == 0:
		return needlessDoubt
	}
	return rightDoubt
}

func (x result) String() string {
	s := fmt.Sprintf("%s, seed %d: %s, %.2f s\n%s\n", x.name, x.seed, x.kind(), x.seconds, x.text)
	if x.err != nil {
		s += fmt.Sprintf("error: %v\n", x.err)
	}
	for _, w := range x.wrong {
		s += fmt.Sprintf("wrong: %v\n", w)
	}
	return s + "said: " + x.verdict
}

type options struct {
	programs       int
	seed, first    uint64
	known, verbose bool
	out            string
}

// A report is what has been measured.
type report struct {
	options
	results    []result
	dropped    []string
	quadrature float64 // CPU seconds
}

func (r *report) add(x result) {
	r.results = append(r.results, x)
	if r.verbose || x.kind() == falseTrust || x.kind() == needlessDoubt || x.kind() == failed {
		fmt.Println("---", x)
	}
}

// programs is the number of random programs so far.
func (r *report) programs() (n int) {
	for _, x := range r.results {
		n += int(truth(x.generated))
	}
	return n
}

// wilson is an interval of 95 % for k of n.
func wilson(k, n int) (lo, hi float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	mid, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, mid-half) / (1 + z*z/m), (mid + half) / (1 + z*z/m)
}

func rate(k, n int) string {
	lo, hi := wilson(k, n)
	return fmt.Sprintf("%.1f %% (%d of %d; %.1f–%.1f)", 100*float64(k)/float64(max(n, 1)), k, n, 100*lo, 100*hi)
}

// String is the report.
func (r *report) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "# Verdicts, measured\n\nMade by `go run ./internal/calibration/verdict -programs %d -seed %d -out docs/verdict.md`.\n\n", r.options.programs, r.seed)
	s.WriteString(meaning)
	r.table(&s)
	why := map[string]int{}
	for _, d := range r.dropped {
		d, _, _ = strings.Cut(d, ":")
		why[d]++
	}
	fmt.Fprintf(&s, "\nOf %d random programs these are left out:\n", len(r.dropped)+r.programs())
	for _, d := range slices.Sorted(maps.Keys(why)) {
		fmt.Fprintf(&s, "- %d: %s\n", why[d], d)
	}
	for _, part := range []struct{ title, kind string }{
		{"Every false trust", falseTrust}, {"Every needless doubt", needlessDoubt}, {"Fits that failed", failed},
	} {
		fmt.Fprintf(&s, "\n## %s\n", part.title)
		for _, x := range r.results {
			if x.kind() == part.kind {
				fmt.Fprintf(&s, "\n```\n%v\n```\n", x)
			}
		}
	}
	return s.String()
}

// meaning says what the table's columns are.
var meaning = fmt.Sprintf(`A default fit, seed by seed, of random programs whose posterior is known by quadrature, and of models whose posterior is a sum over
cells (package internal/calibration, the examples on real data, the paper's three).
*False trust*: the verdict is to trust, and a number is wrong: a mean by more than %g posterior standard deviations, a standard
deviation by more than %g %%, the probability of a named guard or of a value of a discrete latent by more than %g, or the log evidence by more
than %g and %d of its standard errors. *Needless doubt*: the verdict is not to trust, and no number is wrong.
The mean and standard deviation of a latent without moments are not compared (the quadratures, whose ends differ, do not agree on them), nor are those of
a discrete latent with a standard deviation below %g, of which only the masses count. Intervals are of 95 %%.

`, wrongMean, 100*wrongSD, wrongProb, wrongLog, wrongLogSE, leastSD)

// table writes a row for each class of programs.
func (r *report) table(s *strings.Builder) {
	classes := []string{"all", "random programs"}
	for _, x := range r.results {
		for _, c := range x.classes {
			if !slices.Contains(classes, c) {
				classes = append(classes, c)
			}
		}
	}
	slices.Sort(classes[2:])
	s.WriteString("| models | number | false trust, of those trusted | needless doubt, of those right | doubted and wrong | CPU s of a fit, median | 95 % |\n|---|---|---|---|---|---|---|\n")
	for k, c := range classes {
		count := map[string]int{}
		var seconds []float64
		for _, x := range r.results {
			if k == 0 || k == 1 && x.generated || slices.Contains(x.classes, c) {
				count[x.kind()]++
				seconds = append(seconds, x.seconds)
			}
		}
		if len(seconds) == 0 {
			continue
		}
		slices.Sort(seconds)
		fmt.Fprintf(s, "| %s | %d | %s | %s | %d | %.2f | %.2f |\n", c, len(seconds), rate(count[falseTrust], count[falseTrust]+count[rightTrust]),
			rate(count[needlessDoubt], count[needlessDoubt]+count[rightTrust]), count[rightDoubt], seconds[len(seconds)/2], seconds[len(seconds)*95/100])
	}
}
