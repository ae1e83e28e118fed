// Package gnp has the growth of US gross national product, and Hamilton's model of it: an
// autoregression around a mean that switches between recession and expansion,
//
//	y_t − mean[s_t] = Σ_l AR_l·(y_{t−l} − mean[s_{t−l}]) + noise,   s_t a hidden Markov chain
//
//	s:  expansion ─▶ expansion ─▶ recession ─▶ recession ─▶ expansion
//
// A Cycle has the unknowns; Cycle.Observe is graph's ObserveHMM with Lags.
package gnp

import "github.com/facetvi/facet/graph"

// Growth is 100 times the change of the logarithm of US real GNP, by quarter from 1951 II
// to 1984 IV: the series of J. D. Hamilton, A New Approach to the Economic Analysis of Nonstationary
// Time Series and the Business Cycle, Econometrica 57 (1989), as it is in the tests of statsmodels.
var Growth = []float64{
	2.59316421, 2.20217133, 0.45827562, 0.9687438,
	-0.24130757, 0.89647478, 2.05393219, 1.73353648,
	0.93871289, -0.46477833, -0.80983406, -1.39763689,
	-0.39886093, 1.1918416, 1.45620048, 2.11808228,
	1.08957863, 1.32390273, 0.87296367, -0.19773273,
	0.45420215, 0.07221876, 1.1030364, 0.82097489,
	-0.05795795, 0.58447772, -1.56192672, -2.05041027,
	0.53637183, 2.33676839, 2.34014559, 1.2339263,
	1.8869648, -0.45920792, 0.84940469, 1.70139849,
	-0.28756312, 0.09594627, -0.86080289, 1.03447127,
	1.23685944, 1.42004502, 2.22410631, 1.30210173,
	1.03517699, 0.9253425, -0.16559951, 1.3444382,
	1.37500131, 1.73222184, 0.71605635, 2.21032143,
	0.85333031, 1.00238776, 0.42725441, 2.14368343,
	1.43789184, 1.57959926, 2.27469826, 1.95962656,
	0.25992399, 1.01946914, 0.49016398, 0.5636338,
	0.5959546, 1.43082857, 0.56230122, 1.15388393,
	1.68722844, 0.77438205, -0.09647045, 1.39600146,
	0.13646798, 0.55223715, -0.39944872, -0.61671102,
	-0.08722561, 1.2101835, -0.90729755, 2.64916158,
	-0.0080694, 0.51111895, -0.00401437, 2.16821432,
	1.92586732, 1.03504717, 1.85897219, 2.32004929,
	0.25570789, -0.09855274, 0.89073682, -0.55896485,
	0.28350255, -1.31155407, -0.88278776, -1.97454941,
	1.01275265, 1.68264723, 1.38271284, 1.86073637,
	0.4447377, 0.41449001, 0.99202275, 1.36283576,
	1.59970522, 1.98845816, -0.25684232, 0.87786949,
	3.1095655, 0.85324478, 1.23337317, 0.00314302,
	-0.09433369, 0.89883322, -0.19036628, 0.99772376,
	-2.39120054, 0.06649673, 1.26136017, 1.91637838,
	-0.3348029, 0.44207108, -1.40664911, -1.52129889,
	0.29919869, -0.80197448, 0.15204792, 0.98585027,
	2.13034606, 1.34397924, 1.61550522, 2.70930099,
	1.24461412, 0.50835466, 0.14802167,
}

// Lags is the order of the autoregression.
const Lags = 4

// A Cycle are the unknowns of the model. State 0 is a recession, state 1 an expansion.
type Cycle struct {
	Recession, Expansion graph.Expr // the mean of growth
	Stay, Enter          graph.Expr // probabilities of going from recession and from expansion to recession
	AR                   [Lags]graph.Expr
	Noise                graph.Expr // standard deviation
}

// Observe observes growth from its fifth quarter on,
//
//	y_t − mean[s_t] = Σ_l AR_l·(y_t−l − mean[s_t−l]) + noise,
//
// and records the probability of a recession in each quarter as "recession". Four quarters before
// the first one the states have their long-run probabilities.
func (c Cycle) Observe(m *graph.Model, growth []float64) {
	leave := graph.Sub(1, c.Stay)
	share := graph.Div(c.Enter, graph.Add(leave, c.Enter))
	mean := []graph.Expr{c.Recession, c.Expansion}
	states := m.ObserveHMM("growth", graph.HMM{
		Initial:    []graph.Expr{share, graph.Sub(1, share)},
		Transition: [][]graph.Expr{{c.Stay, leave}, {c.Enter, graph.Sub(1, c.Enter)}},
		Lags:       Lags,
		Emission: func(t int, s []int) graph.Dist {
			expected := mean[s[0]]
			for l, ar := range c.AR {
				expected = graph.Add(expected, graph.Mul(ar, graph.Sub(growth[t+Lags-1-l], mean[s[l+1]])))
			}
			return graph.Normal(expected, c.Noise)
		},
	}, growth[Lags:])
	states.Deterministic("recession", 0)
}
