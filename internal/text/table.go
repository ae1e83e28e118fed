// Package text writes the tables and numbers of summaries and judgements:
//
//	latent     mean     sd      names on the left,
//	threshold   6.5    0.3      numbers on the right
//
//	Short(x) = x to 4 digits,   Percent(p) = 100·p to a tenth
//
// Summary.String of package vi and the String methods of package check are made of them.
package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Table lines up rows: the first columns on the left, the others, numbers, on the
// right. (A tabwriter aligns all columns alike, and counts marks as letters.)
func Table(rows [][]string, left int) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, cell := range row {
			widths[j] = max(widths[j], width(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for j, cell := range row {
			space := strings.Repeat(" ", widths[j]-width(cell))
			if j > 0 {
				b.WriteString("  ")
			}
			if j < left {
				b.WriteString(cell + space)
			} else {
				b.WriteString(space + cell)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// width is the number of columns that s takes in a terminal.
func width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf): // drawn over the letter before
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 2
		default:
			n++
		}
	}
	return n
}

// Short is x with four digits.
func Short(x float64) string { return fmt.Sprintf("%.4g", x) }

// Percent is a share with one decimal.
func Percent(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }

// Moments are the cells of a mean, its standard error, a standard deviation sd with its own, and three quantiles, the middle one a median: “–” for a
// moment whose error is infinite.
func Moments(mean, se, sd, sdSE, low, median, high float64) []string {
	spread, center := sd, mean
	if math.IsInf(sdSE, 1) {
		spread = (high - low) / 4
	}
	if math.IsInf(se, 1) {
		center = median
	}
	write := Decimals(spread, center, low, high)
	cells := []string{"–", "", "–", write(low), write(median), write(high)}
	if !math.IsInf(se, 1) {
		cells[0], cells[1] = write(mean), fmt.Sprintf("%.1g", se)
	}
	if !math.IsInf(sdSE, 1) {
		cells[2] = write(sd)
	}
	return cells
}

// Decimals returns how to write the values of a row, whose standard deviation is sd: with as many decimals as show two digits of that.
func Decimals(sd float64, values ...float64) func(float64) string {
	top := 0.0
	for _, v := range append(values, sd) {
		if isFinite(v) {
			top = max(top, math.Abs(v))
		}
	}
	decimals := 3
	if sd > 0 && isFinite(sd) {
		decimals = 1 - int(math.Floor(math.Log10(sd)))
	}
	format := byte('f')
	if decimals > 6 || top >= 1e7 { // too long
		format = 'e'
		decimals = min(15, decimals+int(math.Floor(math.Log10(top))))
	}
	return func(x float64) string { return strconv.FormatFloat(x, format, max(0, decimals), 64) }
}

// Probability keeps what is nearly certain apart from what is certain.
func Probability(p float64) string {
	switch {
	case p > 0 && p < 0.0005:
		return "<0.001"
	case p < 1 && p > 0.9995:
		return ">0.999"
	}
	return fmt.Sprintf("%.3f", p)
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
