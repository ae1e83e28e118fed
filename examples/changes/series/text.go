package series

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// bar draws a probability.
func bar(p float64) string { return strings.Repeat("█", int(40*p+0.5)) }

// chance is a probability in words that do not say more than is known.
func chance(p float64) string {
	switch {
	case p > 0.999:
		return "more than 0.999"
	case p < 0.001:
		return "less than 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// number has about three digits of x that matter.
func number(x float64) string {
	if x != 0 && (math.Abs(x) >= 1e6 || math.Abs(x) < 1e-3) {
		return fmt.Sprintf("%.3g", x)
	}
	if x == math.Trunc(x) {
		return fmt.Sprint(x)
	}
	digits := 2 - int(math.Floor(math.Log10(math.Max(1e-3, math.Abs(x)))))
	return fmt.Sprintf("%.*f", max(0, digits), x)
}

func (i Interval) String() string {
	return fmt.Sprintf("%s (%s to %s)", number(i.Mean), number(i.Low), number(i.High))
}

// Write prints the answer for people.
func (r *Result) Write(w io.Writer) {
	fmt.Fprintln(w, "\nHow many changes?")
	for _, c := range r.HowMany {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%4d  %.3f  %s", c.Changes, c.Probability, bar(c.Probability)), " "))
	}
	fmt.Fprintf(w, "Some change: probability %s. ", chance(r.Any))
	if r.Most == 0 {
		fmt.Fprintf(w, "Most probable: none.\n\nThe level is %v.\n", r.Levels[0])
	} else {
		fmt.Fprintf(w, "Most probable: %s. If so:\n", plural(r.Most, "change"))
		r.writeChanges(w)
	}
	if len(r.Next) > 0 {
		r.writeNext(w)
	}
	fmt.Fprintf(w, "\nIn brackets: between these with probability 0.9. Verdict on the fit: %s.\n", r.Trust)
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
}

func (r *Result) writeChanges(w io.Writer) {
	fmt.Fprintf(w, "\n  level %v\n", r.Levels[0])
	for k, c := range r.Changes {
		fmt.Fprintf(w, "change after %s %s (probability %.2f; first at the new level: %s to %s)\n", r.Series.XName, c.Last, c.Probability, c.From, c.To)
		by, word := c.Difference, "more"
		if by.Mean < 0 {
			by, word = Interval{-by.Mean, -by.High, -by.Low}, "less"
		}
		fmt.Fprintf(w, "  level %v: %v %s", r.Levels[k+1], by, word)
		if r.positive() {
			fmt.Fprintf(w, ", %v times as much", c.Ratio)
		}
		fmt.Fprintln(w)
	}
}

// positive reports whether ratios of levels make sense.
func (r *Result) positive() bool {
	for _, l := range r.Levels {
		if l.Low <= 0 {
			return false
		}
	}
	return true
}

// writeNext prints the rows ahead, which are alike as long as nothing changes.
func (r *Result) writeNext(w io.Writer) {
	first, n := r.Next[0], len(r.Next)
	rows := "The next row"
	if n > 1 {
		rows = fmt.Sprintf("Each of the next %d rows", n)
	}
	fmt.Fprintf(w, "\n%s, if nothing changes again: %v\n", rows, first)
}
