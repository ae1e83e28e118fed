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

// number has about three digits of x that matter, and two of what it is a part of.
func number(x, of float64) string {
	places := func(digits int, x float64) int { return digits - 1 - int(math.Floor(math.Log10(x))) }
	switch size := math.Abs(x); {
	case size >= 1e15 || size < 1e-3 && x != 0 && of < size:
		return fmt.Sprintf("%.3g", x)
	case x == math.Trunc(x) && (of == 0 || of >= 2):
		return fmt.Sprintf("%.0f", x)
	case of > 0:
		return fmt.Sprintf("%.*f", min(9, max(0, places(3, math.Max(1e-3, size)), places(2, of))), x)
	default:
		return fmt.Sprintf("%.*f", max(0, places(3, math.Max(1e-3, size))), x)
	}
}

func (i Interval) String() string {
	wide := i.High - i.Low
	return fmt.Sprintf("%s (%s to %s)", number(i.Mean, wide), number(i.Low, wide), number(i.High, wide))
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
		if r.positive() && math.Abs(c.Ratio.Mean-1) >= 0.001 {
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
