package main

// observed is the temperature measured at each step, in degrees, with a
// standard error of 1; simulated by the authors of the paper.
var observed = []float64{
	19.79331573, 20.57447278, 23.31816694, 21.73207498, 23.41996894, 23.4515013, 20.84956871, 20.54713719,
	18.21153934, 18.50530516, 16.33716313, 16.38185473, 19.40493106, 19.04258462, 20.64644047, 22.02147489,
	21.76727522, 22.59452467, 20.43773811, 21.47855764, 18.51373311,
}

// truth is whether the controller was really on at each step of the simulation.
var truth = []bool{
	4: true, true, true, true, true, true, true,
	17: true, true, true, true,
}
