package tobit

import "github.com/facetvi/facet/examples/models/exact"

// Exact is the posterior of Model(Households). Its numbers are those of integrate with a step of 0.6 and a radius of 8.5, which
// takes longer than a fit; the test computes them again with a step of 0.8.
func Exact() exact.Posterior {
	return exact.Posterior{
		LogEvidence: -34.065653445,
		Guards: []float64{
			0.00567975, 0.98925860, 0.01026952, 0.01017229, 0.00634362, 0.00805737, 0.00542452, 1, 0.00432892, 0.99999987, 1,
			0.00485212, 0.00502472, 0.00677008, 0.99986201, 0.01128274, 0.01294343, 1, 1, 0.00491683,
		},
		Latents: []exact.Moments{
			{Mean: -2.6280177, SD: 2.0368430}, // level
			{Mean: -1.2083241, SD: 2.3561466}, // age
			{Mean: -1.0230745, SD: 1.7006523}, // liquidity
			{Mean: 6.7352425, SD: 1.8501571},  // spread
			{Mean: 0.0728844, SD: 0.5297932},  // limit
			{Mean: -6.9133537, SD: 5.6622779}, // desired, of those who bought nothing
			{Mean: -5.8159101, SD: 5.2655759},
			{Mean: -5.6559570, SD: 5.1147481},
			{Mean: -6.2545215, SD: 5.2436559},
			{Mean: -6.7356073, SD: 5.8038222},
			{Mean: -7.1375060, SD: 5.7260117},
			{Mean: -7.3563662, SD: 5.7315924},
			{Mean: -7.2074931, SD: 5.7464349},
			{Mean: -7.2191053, SD: 5.7842352},
			{Mean: -6.7294267, SD: 5.5937328},
			{Mean: -5.5629709, SD: 5.1136995},
			{Mean: -5.6601109, SD: 5.2761120},
			{Mean: -6.8652534, SD: 5.5058962},
		},
	}
}
