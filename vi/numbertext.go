package vi

import "fmt"

// short is x with four digits.
func short(x float64) string { return fmt.Sprintf("%.4g", x) }

// plusMinus is an estimate in a column; one without error is a number.
func plusMinus(e Estimate) string {
	if e.SE == 0 {
		return short(e.Mean)
	}
	return fmt.Sprintf("%.4g ± %.2g", e.Mean, e.SE)
}

func percent(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }
