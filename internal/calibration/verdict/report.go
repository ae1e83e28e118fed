package main

import (
	"fmt"
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
	s := fmt.Sprintf("--- %s, seed %d: %s, %.2f s\n%s\n", x.name, x.seed, x.kind(), x.seconds, x.text)
	if x.err != nil {
		s += fmt.Sprintf("error: %v\n", x.err)
	}
	for _, w := range x.wrong {
		s += fmt.Sprintf("wrong: %v\n", w)
	}
	return s + "said: " + x.verdict
}

// A report is what has been measured.
type report struct {
	results    []result
	dropped    []string
	quadrature float64
}

// wilson is an interval of 95 % for k of n.
func wilson(k, n int) (lo, hi float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	mid, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return (mid - half) / (1 + z*z/m), (mid + half) / (1 + z*z/m)
}

func rate(k, n int) string {
	lo, hi := wilson(k, n)
	return fmt.Sprintf("%.1f %% (%d of %d; %.1f–%.1f)", 100*float64(k)/float64(max(n, 1)), k, n, 100*lo, 100*hi)
}

// String is the report.
func (r *report) String() string {
	var s strings.Builder
	classes := []string{"all"}
	for _, x := range r.results {
		for _, c := range x.classes {
			if !slices.Contains(classes, c) {
				classes = append(classes, c)
			}
		}
	}
	slices.Sort(classes[1:])
	fmt.Fprintf(&s, "| programs | number | false trust, of the trusted | needless doubt, of those right | trusted | CPU s, median | 95 %% |\n|---|---|---|---|---|---|---|\n")
	for _, c := range classes {
		count := map[string]int{}
		var seconds []float64
		n := 0
		for _, x := range r.results {
			if c == "all" || slices.Contains(x.classes, c) {
				n++
				count[x.kind()]++
				seconds = append(seconds, x.seconds)
			}
		}
		slices.Sort(seconds)
		trusted := count[rightTrust] + count[falseTrust]
		fmt.Fprintf(&s, "| %s | %d | %s | %s | %d | %.2f | %.2f |\n", c, n, rate(count[falseTrust], trusted), rate(count[needlessDoubt], count[needlessDoubt]+count[rightTrust]),
			trusted, seconds[n/2], seconds[n*95/100])
	}
	why := map[string]int{}
	for _, d := range r.dropped {
		d, _, _ = strings.Cut(d, ":")
		why[d]++
	}
	fmt.Fprintf(&s, "\nleft out: %v; quadrature %.0f CPU s\n", why, r.quadrature)
	return s.String()
}
