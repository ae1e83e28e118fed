package main

// mortality is the monthly death rate by pneumonia and influenza, deaths per
// 10 000 people in the USA, for one year (Shumway and Stoffer, Time Series
// Analysis and Its Applications).
var mortality = []float64{
	0.2902977, 0.5702096, 0.6384278, 0.3135166, 0.2047724, 0.1885323, 0.1798065, 0.1867087, 0.1871117, 0.2157304,
	0.2385934, 0.2572363,
}
