package vi

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// writeTable lines up rows of cells, of which the first is the heading: the
// first column and a last one that is called where to the left, the others to
// the right.
func writeTable(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0:
				line.WriteString(cell + pad)
			case rows[0][i] == "where":
				line.WriteString("  " + cell)
			default:
				line.WriteString("  " + pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// short is x with four digits.
func short(x float64) string { return fmt.Sprintf("%.4g", x) }

// plusMinus is an estimate in a column; one without error is a number.
func plusMinus(e Estimate) string {
	if e.SE == 0 {
		return short(e.Mean)
	}
	return fmt.Sprintf("%.4g ± %.2g", e.Mean, e.SE)
}
