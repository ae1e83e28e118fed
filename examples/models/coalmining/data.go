package coalmining

// FirstYear is the year of Disasters[0].
const FirstYear = 1851

// Disasters are the explosions in British coal mines that killed ten or more
// people, in each year from 1851 to 1962: 191 in all. Source: R. G. Jarrett, A
// note on the intervals between coal-mining disasters, Biometrika 66 (1979),
// 191–193; the dates are data set coal of the R package boot, counted by year.
var Disasters = []float64{
	4, 5, 4, 1, 0, 4, 3, 4, 0, 6, 3, 3, 4, 0, 2, 6, 3, 3, 5, 4, 5, 3, 1, 4, 4, 1, 5, 5, 3, 4, 2, 5, 2, 2, 3, 4, 2, 1,
	3, 2, 2, 1, 1, 1, 1, 3, 0, 0, 1, 0, 1, 1, 0, 0, 3, 1, 0, 3, 2, 2, 0, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 2, 1, 0, 0, 0,
	1, 1, 0, 2, 3, 3, 1, 1, 2, 1, 1, 1, 1, 2, 3, 3, 0, 0, 0, 1, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1,
}
