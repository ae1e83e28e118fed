package vi

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/long"
)

// The demo of mcp, a package for changes of regressions by JAGS: data, default priors and program (github.com/lindeloev/mcp,
// data/demo_fit.rda).
var (
	demoTime     = []float64{68.3582016965, 87.2903780779, 69.0117288148, 11.5936078364, 19.500911748, 46.1200857302, 20.3535240376, 59.0849239845, 37.3888069531, 14.1298123635, 9.6155940555, 70.2873911476, 7.75876734406, 23.489634227, 95.9500159835, 79.5100129908, 38.6566451518, 97.6266647456, 9.52899220865, 58.1901331665, 47.2314848565, 30.2346258657, 11.0301422188, 57.17589329, 79.0741347475, 63.8252169127, 31.1306532007, 69.2717765458, 67.4615425291, 75.820274232, 84.1255950741, 24.0454239771, 67.9760655388, 7.0443603443, 64.6560877562, 10.2121717297, 95.5761883873, 74.8231523205, 15.022671246, 30.7625839487, 90.7931115944, 17.8023654036, 27.6160052046, 40.4889922356, 94.6441148873, 19.7721058037, 13.2924270816, 50.8094294928, 7.2119893739, 57.5268018292, 76.7963313032, 31.2273515156, 5.36618838087, 63.8651117217, 63.0080798175, 82.3192897253, 77.662850311, 55.0836749142, 3.18932263181, 25.1261590747, 78.5572223598, 27.6852781652, 9.99668627046, 51.7814289313, 21.7731537065, 51.0641758097, 92.4831521465, 29.0424090344, 40.7170513878, 89.2380872741, 72.9796328582, 79.4311368372, 7.2355432203, 69.0919925924, 59.5907846466, 78.7698286586, 37.5473047607, 17.1743278857, 80.4932710947, 68.5009864392, 91.0550871165, 88.0646022968, 62.3830687953, 8.26969183981, 97.9594485369, 78.9318936644, 42.760673794, 88.4076768765, 6.8912651157, 80.3526118165, 65.4377336381, 64.3373730127, 94.1752600251, 23.8976833876, 89.7999173729, 36.2773989094, 19.1756066401, 19.5309575181, 64.0906643122, 24.4944047881}
	demoResponse = []float64{32.8426509754, -1.16000308597, 27.5642483055, 10.0629706897, 14.0568587289, 18.2926398863, 19.0731819524, 27.3770747427, 19.9843186162, 13.548809189, 4.35332344224, 3.15762228218, 7.79047841953, 11.7029531939, -8.2719017677, -4.41634987204, 14.2547639842, -8.16522945149, 7.95828535033, 26.6805482857, 16.7518559506, 15.6191541573, 14.7903982622, 21.1226275234, -5.97061200334, 28.5108064026, 11.4476500815, 31.2250526297, 28.838890068, 3.77223667743, -2.70268359392, 4.54434363052, 32.6078478246, 1.72228677783, 28.1791973969, 10.49609095, -4.90111436386, 0.355576544609, 16.6597318458, 9.16421448816, -9.80591849961, 15.6857499265, 7.38902126569, 8.55781247813, -8.41866829229, 13.3568900059, 5.3279844401, 24.7543133279, 13.4366958834, 23.34199877, -2.01398414507, 8.92700238081, 10.7452890147, 40.5875961968, 26.024143763, -4.87215570648, -1.6331466842, 18.9480922525, 8.60600011291, 8.64276257772, -0.347969094321, 18.0435545394, 4.00448023446, 26.636488788, 8.93749811024, 17.9469357793, -6.19921710706, 8.73637410313, 15.2315281584, -7.64898563461, -1.20168712379, -3.89558271981, 4.88719889545, 27.2192475619, 23.1955843589, 0.961104558758, 13.2325313499, 11.3143539844, 3.12989219901, 35.6749054125, -4.40149726796, 3.91023585996, 26.8709589475, 11.8761324719, -8.37341618581, 0.378471902172, 10.43058754, 6.87044141945, 10.2799623803, -7.59726195993, 29.0637171321, 26.1320993344, -2.75744337828, 11.8948540994, -0.870714299967, 17.2185637301, 12.643619403, 8.68583101474, 25.0445931528, 6.38179130854}
)

// mcpDemo is a plateau that joins a slope at cp_1, and another line from cp_2 on.
func mcpDemo(t testing.TB) *graph.Density {
	low, high, sd := floats.Min(demoTime), floats.Max(demoTime), stat.StdDev(demoResponse, nil)
	m := graph.NewModel()
	change := graph.Cauchy(low, (high-low)/2)
	cp1, cp2 := m.Sample("cp_1", graph.Truncated(change, low, high)), m.Sample("cp_2", graph.Truncated(change, low, high))
	m.Require(graph.Less(cp1, cp2))
	m.Factor(graph.Sub(0, graph.Log(graph.Sub(graph.CDF(change, high), graph.CDF(change, cp1))))) // cp_2 is truncated to (cp_1, high)
	m.Name("late", graph.Greater(cp1, 25))
	level, line := graph.StudentsT(0, 3*sd, 3), graph.StudentsT(0, sd/(high-low), 3)
	int1, int3 := m.Sample("int_1", level), m.Sample("int_3", level)
	time2, time3 := m.Sample("time_2", line), m.Sample("time_3", line)
	sigma := m.Sample("sigma_1", graph.HalfNormal(sd))
	for i, x := range demoTime {
		first := graph.Add(int1, graph.If(graph.Less(cp1, x), graph.Mul(time2, graph.Sub(x, cp1)), 0))
		mean := graph.If(graph.Less(cp2, x), graph.Add(int3, graph.Mul(time3, graph.Sub(x, cp2))), first)
		m.Observe("response", graph.Normal(mean, sigma), demoResponse[i])
	}
	return mustCompile(t, m)
}

// mcpNull is a line, and another from cp_1 on.
func mcpNull(t testing.TB) *graph.Density {
	low, high, sd := floats.Min(demoTime), floats.Max(demoTime), stat.StdDev(demoResponse, nil)
	m := graph.NewModel()
	cp := m.Sample("cp_1", graph.Uniform(low, high))
	level, line := graph.StudentsT(0, 3*sd, 3), graph.StudentsT(0, sd/(high-low), 3)
	int1, int2 := m.Sample("int_1", level), m.Sample("int_2", level)
	time1, time2 := m.Sample("time_1", line), m.Sample("time_2", line)
	sigma := m.Sample("sigma_1", graph.HalfNormal(sd))
	for i, x := range demoTime {
		mean := graph.If(graph.Less(cp, x), graph.Add(int2, graph.Mul(time2, graph.Sub(x, cp))), graph.Add(int1, graph.Mul(time1, x)))
		m.Observe("response", graph.Normal(mean, sigma), demoResponse[i])
	}
	return mustCompile(t, m)
}

// mcp's README has mean and 95 % interval of 9000 draws, of which 384 of cp_1 are effective, 810 of int_3 and 5792 of cp_2, and a
// difference of 7.6 ± 4.6 in leave-one-out to a program without the plateau. 180 000 draws of mcp's JAGS program by JAGS 4.3.1, which took 48 CPU
// seconds after 1500 of adaptation, have the means and standard errors at the end, and p(cp_1 > 25) = 0.9332.
func TestMCPDemo(t *testing.T) {
	if !long.Exhaustive() {
		t.Skip("an end of an interval is .0269 off, and .0262 is allowed: to be looked into; run with -exhaustive")
	}
	long.Skip(t)
	p, err := Fit(context.Background(), mcpDemo(t), Settings{Seed: *seed})
	require.NoError(t, err)
	for _, want := range []struct {
		name                          string
		mean, low, high, ns, jags, se float64
	}{
		{"cp_1", 30.27, 23.19, 38.760, 384, 30.6979, 0.0444}, {"cp_2", 69.78, 69.27, 70.238, 5792, 69.7755, 0.00087}, {"int_1", 10.26, 8.82, 11.768, 1480, 10.2904, 0.005}, {"int_3", 0.44, -2.49, 3.428, 810, 0.5396, 0.0131},
		{"sigma_1", 4.01, 3.43, 4.591, 3852, 4.00863, 0.00103}, {"time_2", 0.53, 0.40, 0.662, 437, 0.53866, 0.00075}, {"time_3", -0.22, -0.38, -0.035, 834, -0.22045, 0.00076},
	} {
		mean, err := p.Mean(want.name)
		require.NoError(t, err)
		sd, err := p.SD(want.name)
		require.NoError(t, err)
		error := math.Hypot(mean.SE, sd.Value/math.Sqrt(want.ns))
		require.InDelta(t, want.mean, mean.Value, 3*error+0.005, want.name)
		require.InDelta(t, want.jags, mean.Value, 4*math.Hypot(want.se, mean.SE), want.name)
		low, err := p.Quantile(want.name, 0.025)
		require.NoError(t, err)
		high, err := p.Quantile(want.name, 0.975)
		require.NoError(t, err)
		require.InDelta(t, want.low, low.Value, 0.1*(want.high-want.low), want.name) // of highest density there
		require.InDelta(t, want.high, high.Value, 0.1*(want.high-want.low), want.name)
	}
	later, err := p.ProbNamed("late", 0)
	require.NoError(t, err)
	require.InDelta(t, 0.917, later.Value, 3*math.Sqrt(0.917*0.083/384))
	require.InDelta(t, 0.9332, later.Value, 4*math.Hypot(later.SE, math.Sqrt(0.933*0.067/7600)))
	r, err := p.LOO()
	require.NoError(t, err)
	null, err := Fit(context.Background(), mcpNull(t), Settings{Seed: *seed})
	require.NoError(t, err)
	o, err := null.LOO()
	require.NoError(t, err)
	difference, err := r.Minus(o)
	require.NoError(t, err)
	require.InDelta(t, 7.6, difference.Value, difference.SE/2) // an observation with a k-hat of 1 is not known to half a nat, there or here
	require.InDelta(t, 4.6, difference.SE, 0.3)
}
