package tobit

// A Household is one of J. Tobin, Estimation of relationships for limited dependent
// variables, Econometrica 26 (1958), 24–36; data set tobin of the R package
// survival, which says "durable goods purchase, age in years, liquidity ratio
// (x 1000)".
type Household struct {
	Spent     float64 // on durable goods; 0 if it bought none
	Age       float64 // of its head, in years
	Liquidity float64 // liquid assets over income, times 1000
}

// Households are all of them.
var Households = []Household{
	{0, 57.7, 236}, {0.7, 50.9, 283}, {0, 48.5, 207}, {0, 41.7, 220}, {0, 47.7, 238},
	{0, 59.8, 216}, {0, 44.3, 284}, {3.7, 45.1, 221}, {0, 51.7, 275}, {3, 50, 269},
	{10.4, 46.8, 207}, {0, 58, 249}, {0, 58.9, 246}, {0, 40, 277}, {1.5, 34.1, 231},
	{0, 39.9, 219}, {0, 33.4, 240}, {3.5, 48.1, 266}, {6.1, 46.6, 214}, {0, 53.1, 251},
}
