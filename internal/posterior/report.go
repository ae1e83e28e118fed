package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/floats"

	"github.com/facetvi/facet/examples/models/exact"
	"github.com/facetvi/facet/vi"
)

// write prints what the fit says beside what is so.
func write(out io.Writer, p problem, seed uint64, f *fitted) error {
	want := p.exact()
	fmt.Fprintf(out, "%s, seed %d: after %.2f CPU seconds\n\n", p.name, seed, f.seconds)
	reportVerdict(out, f.verdict)
	fmt.Fprintf(out, "\nlog evidence  %.4f, exactly\n", want.LogEvidence)
	fmt.Fprintf(out, "  estimated   %s   off by %+.4f\n", fixed(f.logEvidence.Value, f.logEvidence.SE), f.logEvidence.Value-want.LogEvidence)
	fmt.Fprintf(out, "  ELBO        %s   below by %.4f\n", fixed(f.elbo.Value, f.elbo.SE), want.LogEvidence-f.elbo.Value)
	reportCells(out, f.cells)
	reportGuards(out, f, want.Guards)
	reportLatents(out, f, want.Latents)
	return nil
}

func reportVerdict(out io.Writer, v vi.Verdict) {
	fmt.Fprintf(out, "Verdict: %s\n", v.Trust)
	for _, r := range v.Reasons {
		fmt.Fprintf(out, "  because  %s\n", r)
	}
	for _, t := range v.Try {
		fmt.Fprintf(out, "  try      %s\n", t)
	}
}

// mostCells is how many cells are printed.
const mostCells = 20

func reportCells(out io.Writer, cells []vi.Cell) {
	width := len("cell")
	for _, c := range cells {
		width = max(width, utf8.RuneCountInString(c.Where))
	}
	fmt.Fprintf(out, "\n%-*s  weight            ELBO          log evidence  k-hat\n", width, "cell")
	rest := 0.0
	for i, c := range cells {
		if i >= mostCells {
			rest += c.Weight
			continue
		}
		fmt.Fprintf(out, "%-*s  %6.4f  %20s  %20s  %5.2f\n", width, c.Where, c.Weight,
			fixed(c.ELBO.Value, c.ELBO.SE), fixed(c.LogEvidence.Value, c.LogEvidence.SE), c.KHat)
	}
	if n := len(cells) - mostCells; n > 0 {
		fmt.Fprintf(out, "… and %d more, of weight %.4f together\n", n, rest)
	}
}

// sure is how near to 0 or 1 a guard's probability is in all answers if its row is left out.
const sure = 0.005

// mostGuards is how many guards are printed, if there are more of which only those that differ from the last printed one by a
// step.
const (
	mostGuards = 60
	guardStep  = 0.05
)

func reportGuards(out io.Writer, f *fitted, want []float64) {
	width := len("guard")
	for _, name := range f.guards {
		width = max(width, utf8.RuneCountInString(name))
	}
	fmt.Fprintf(out, "\n%-*s     fit   exact  fit − exact\n", width, "guard")
	rows, settled := make([][]float64, len(want)), 0
	for i, p := range want {
		rows[i] = []float64{p, f.answer.guards[i]}
		if agree(rows[i]) {
			settled++
		}
	}
	var last []float64
	skipped := 0
	for i, p := range want {
		if agree(rows[i]) {
			last = nil
			continue
		}
		if len(want)-settled > mostGuards && last != nil && floats.Distance(rows[i], last, math.Inf(1)) < guardStep {
			skipped++
			continue
		}
		last = rows[i]
		off := f.answer.guards[i] - p
		fmt.Fprintf(out, "%-*s  %6.4f  %6.4f  %+8.4f  %s\n", width, f.guards[i], f.answer.guards[i], p, off,
			strings.Repeat("█", int(20*math.Abs(off)+0.5)))
	}
	if skipped > 0 {
		fmt.Fprintf(out, "%d differ by less than %.2f from the one printed before, in both columns.\n", skipped, guardStep)
	}
	if settled > 0 {
		fmt.Fprintf(out, "%d of %d are within %.3f of 0, or of 1, in both columns.\n", settled, len(want), sure)
	}
	if i, off := furthest(f.answer.guards, want); i >= 0 {
		fmt.Fprintf(out, "The largest error is %.4f, at %s.\n", off, f.guards[i])
	}
}

// agree reports whether all probabilities are near 0, or all near 1.
func agree(p []float64) bool {
	var low, high int
	for _, x := range p {
		if x <= sure {
			low++
		} else if x >= 1-sure {
			high++
		}
	}
	return low == len(p) || high == len(p)
}

// furthest is where got is furthest from want, and how far; -1 if they are empty.
func furthest(got, want []float64) (i int, off float64) {
	i = -1
	for k := range want {
		if d := math.Abs(got[k] - want[k]); i < 0 || d > off {
			i, off = k, d
		}
	}
	return i, off
}

func reportLatents(out io.Writer, f *fitted, want []exact.Moments) {
	width := len("latent")
	for _, name := range f.latents {
		width = max(width, utf8.RuneCountInString(name))
	}
	fmt.Fprintf(out, "\n%-*s  %21s  %21s  mean off, in sd   sd / exact\n", width, "latent", "fit", "exact")
	for i, w := range want {
		got := f.answer.latents[i]
		fmt.Fprintf(out, "%-*s  %21s  %21s  %15.3f  %11.3f\n", width, f.latents[i], pm(got), pm(w), (got.Mean-w.Mean)/w.SD, got.SD/w.SD)
	}
}

// pm is mean ± sd with three digits of the sd.
func pm(m exact.Moments) string { return fixedTo(m.Mean, m.SD, 3) }

// fixed is mean ± standard error with two digits of the latter.
func fixed(mean, se float64) string { return fixedTo(mean, se, 2) }

func fixedTo(mean, sd float64, digits int) string {
	if !(sd > 0) || math.IsInf(sd, 0) {
		return fmt.Sprintf("%.4f ± %.4f", mean, sd)
	}
	n := max(0, digits-1-int(math.Floor(math.Log10(sd))))
	return fmt.Sprintf("%.*f ± %.*f", n, mean, n, sd)
}
