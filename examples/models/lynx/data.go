package lynx

// FirstYear is the year of Trapped[0].
const FirstYear = 1821

// Trapped are the lynx trapped in the Mackenzie River district of Canada in each
// year from 1821 to 1934. Source: C. Elton and M. Nicholson, The ten-year cycle
// in numbers of the lynx in Canada, Journal of Animal Ecology 11 (1942),
// 215–244; data set lynx of R.
var Trapped = []float64{
	269, 321, 585, 871, 1475, 2821, 3928, 5943, 4950, 2577, 523, 98, 184, 279, 409, 2285, 2685, 3409, 1824, 409, 151,
	45, 68, 213, 546, 1033, 2129, 2536, 957, 361, 377, 225, 360, 731, 1638, 2725, 2871, 2119, 684, 299, 236, 245, 552,
	1623, 3311, 6721, 4254, 687, 255, 473, 358, 784, 1594, 1676, 2251, 1426, 756, 299, 201, 229, 469, 736, 2042, 2811,
	4431, 2511, 389, 73, 39, 49, 59, 188, 377, 1292, 4031, 3495, 587, 105, 153, 387, 758, 1307, 3465, 6991, 6313, 3794,
	1836, 345, 382, 808, 1388, 2713, 3800, 3091, 2985, 3790, 674, 81, 80, 108, 229, 399, 1132, 2432, 3574, 2935, 1537,
	529, 485, 662, 1000, 1590, 2657, 3396,
}
