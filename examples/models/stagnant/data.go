package stagnant

// Flow is the logarithm of the flow rate of water down an inclined channel, in grams per centimetre and second, and Height that of
// the height of the stagnant surface layer, in centimetres, for different surfactants. Source: D. W. Bacon and D. G. Watts,
// Estimating the transition between two intersecting straight lines, Biometrika 58 (1971), 525–534; also example Stagnant of the BUGS
// examples, volume 2.
var (
	Flow = []float64{
		-1.39, -1.39, -1.08, -1.08, -0.94, -0.80, -0.63, -0.63, -0.25, -0.25, -0.12, -0.12, 0.01, 0.11, 0.11, 0.11, 0.25, 0.25, 0.34,
		0.34, 0.44, 0.59, 0.70, 0.70, 0.85, 0.85, 0.99, 0.99, 1.19,
	}
	Height = []float64{
		1.12, 1.12, 0.99, 1.03, 0.92, 0.90, 0.81, 0.83, 0.65, 0.67, 0.60, 0.59, 0.51, 0.44, 0.43, 0.43, 0.33, 0.30, 0.25, 0.24, 0.13,
		-0.01, -0.13, -0.14, -0.30, -0.33, -0.46, -0.43, -0.65,
	}
)
