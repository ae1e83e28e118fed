package evaluation

// The paper's numbers: Lee, Yu and Yang, Reparameterization Gradient for
// Non-differentiable Models, NeurIPS 2018, Tables 1 and 2.

// A ratio is a pair of variances in units of Score's: Avg(V(·)) and V(‖·‖₂).
type ratio struct{ Avg, Norm float64 }

// paperRatios is Table 1, by step size, estimator and model.
var paperRatios = map[float64]map[string]map[string]ratio{
	0.001: {
		"reparam": {"temperature": {4.45e-9, 2.45e-8}, "textmsg": {2.91e-2, 2.92e-2}, "influenza": {4.38e-3, 2.12e-3}},
		"ours":    {"temperature": {1.85e-6, 7.59e-5}, "textmsg": {2.77e-2, 2.46e-2}, "influenza": {4.89e-3, 2.36e-3}},
	},
	0.01: {
		"reparam": {"temperature": {3.88e-11, 6.11e-11}, "textmsg": {5.03e-4, 1.02e-3}, "influenza": {2.46e-3, 1.26e-3}},
		"ours":    {"temperature": {1.24e-11, 8.05e-11}, "textmsg": {5.07e-4, 8.12e-4}, "influenza": {2.80e-3, 1.40e-3}},
	},
}

// paperMillis is Table 2: milliseconds an iteration at N = 1, by estimator and
// model.
var paperMillis = map[string]map[string]float64{
	"score":   {"temperature": 21.7, "textmsg": 4.9, "influenza": 18.7},
	"reparam": {"temperature": 46.1, "textmsg": 15.4, "influenza": 251.4},
	"ours":    {"temperature": 79.2, "textmsg": 24.9, "influenza": 269.8},
}
