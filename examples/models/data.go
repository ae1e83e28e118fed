package models

import "gonum.org/v1/gonum/mathext"

// TemperatureData returns the paper's 21 observations of the room's temperature.
func TemperatureData() []float64 { return mustGolden("temperature").Observations }

// TextMsgData returns the days 2, 4, …, 74 and the number of messages on each.
func TextMsgData() (days []int, counts []float64) {
	g := mustGolden("textmsg")
	return g.Days, g.Observations
}

// TextMsgMean returns the mean number of messages over all 74 days, from which textmsg takes its priors.
func TextMsgMean() float64 {
	all := mustGolden("textmsg").AllCounts
	var sum float64
	for _, count := range all {
		sum += count
	}
	return sum / float64(len(all))
}

// TextMsgThreshold returns Φ⁻¹(day/75): u ~ N(0, 1) lies above it with probability 1 − day/75, so that the switch point is
// uniform over the days.
func TextMsgThreshold(day int) float64 { return mathext.NormalQuantile(float64(day) / 75) }

// InfluenzaData returns the paper's first 12 months of mortality.
func InfluenzaData() []float64 { return mustGolden("influenza").Observations }
