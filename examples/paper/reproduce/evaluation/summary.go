package evaluation

import (
	"encoding/json"
	"math"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/examples/models"
)

// A summary is the evaluation in numbers, as -json prints it and the report
// shows it. What was not measured is null.
type summary struct {
	Settings settings      `json:"settings"`
	Optima   []optimum     `json:"optima"`
	Table1   []varianceRow `json:"table1"`
	Guards   []guardsRow   `json:"guards"`
	Table2   []timeRow     `json:"table2"`
	Final    []finalRow    `json:"final"`
	Claims   []*claim      `json:"claims"`
	Durations
	Machine machine `json:"machine"`

	results []*result
}

// Durations are in seconds. Runs go side by side, so that their sum exceeds
// Total; Total is without what an earlier call did.
type Durations struct {
	Runs   []runSeconds `json:"runs"`
	Total  float64      `json:"total_seconds"`
	Reused int          `json:"runs_reused"` // runs of an earlier call
}

type runSeconds struct {
	Run     string  `json:"run"`
	Seconds float64 `json:"seconds"`
}

// An optimum is a local maximum of the ELBO in closed form, which BFGS climbs
// to from the paper's start.
type optimum struct {
	Model string `json:"model"`
	ELBO  num    `json:"elbo"`
}

// A varianceRow is a row of Table 1, in units of Score's variance. Own compares
// averages over each estimator's own run, as the paper does; Same, averages at
// the same θ, along facet's run.
type varianceRow struct {
	StepSize  float64  `json:"step_size"`
	Model     string   `json:"model"`
	Estimator string   `json:"estimator"`
	AvgVar    num      `json:"avg_var"`  // not a ratio
	NormVar   num      `json:"norm_var"` // not a ratio
	Own       numRatio `json:"own"`
	Same      numRatio `json:"same_theta"`
	Paper     numRatio `json:"paper"`
}

// A guardsRow is the variance with all guards in units of that with one.
type guardsRow struct {
	StepSize float64  `json:"step_size"`
	Model    string   `json:"model"`
	Own      numRatio `json:"own"`
	Same     numRatio `json:"same_theta"`
	Median   numRatio `json:"same_theta_median"` // of the ratios along the run
}

// A timeRow is a cell of Table 2, in milliseconds.
type timeRow struct {
	Model     string `json:"model"`
	Estimator string `json:"estimator"`
	Millis    num    `json:"ms"`
	Paper     num    `json:"paper_ms"`
}

// A finalRow is the ELBO at the end of a run: means and standard errors over its
// last evaluations.
type finalRow struct {
	runSpec
	Evaluations  int `json:"evaluations"`
	Exact        num `json:"exact"`
	ExactSE      num `json:"exact_se"`
	MonteCarlo   num `json:"monte_carlo"`
	MonteCarloSE num `json:"monte_carlo_se"`
	Best         num `json:"best"`   // the highest exact ELBO on the way
	Jitter       num `json:"jitter"` // see jitter
	JitterSE     num `json:"jitter_se"`
	Diverged     int `json:"diverged,omitempty"`
}

// num is a number that JSON has as null if it is not finite.
type num float64

// MarshalJSON implements json.Marshaler.
func (x num) MarshalJSON() ([]byte, error) {
	if !x.known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(x))
}

func (x num) known() bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }

// numRatio is a ratio of the paper's two variances.
type numRatio struct {
	Avg  num `json:"avg"`
	Norm num `json:"norm"`
}

var unknown = numRatio{num(math.NaN()), num(math.NaN())}

// lastEvaluations is how many make the final ELBO.
const lastEvaluations = 10

// summarize computes everything from the results.
func (p *program) summarize(results []*result, times map[string]map[string]time.Duration) (*summary, error) {
	s := &summary{Settings: p.settings, results: results, Machine: thisMachine()}
	for _, m := range p.Models {
		spec := p.problems[m]
		_, elbo, err := models.Optimum(spec.Oracle, spec.ThetaInit)
		if err != nil {
			return nil, err
		}
		s.Optima = append(s.Optima, optimum{m, num(elbo)})
		for _, e := range p.Estimators {
			paper := math.NaN()
			if ms, ok := paperMillis[e][m]; ok {
				paper = ms
			}
			s.Table2 = append(s.Table2, timeRow{m, e, num(times[m][e].Seconds() * 1000), num(paper)})
		}
	}
	s.variances()
	for _, r := range results {
		s.Final = append(s.Final, r.final())
		s.Runs = append(s.Runs, runSeconds{r.Run.key(), r.Elapsed.Seconds()})
	}
	s.Claims = s.claims()
	return s, nil
}

// run returns the result with these settings, or nil.
func (s *summary) run(model string, step float64, n int, estimator string) *result {
	for _, r := range s.results {
		if q := r.Run; q.Model == model && q.StepSize == step && q.Samples == n && q.Estimator == estimator {
			return r
		}
	}
	return nil
}

// optimum is the model's ELBO in Optima.
func (s *summary) optimum(model string) float64 {
	for _, o := range s.Optima {
		if o.Model == model {
			return float64(o.ELBO)
		}
	}
	return math.NaN()
}

// final is the row of a run.
func (r *result) final() finalRow {
	last := r.ELBO[max(0, len(r.ELBO)-min(lastEvaluations, (len(r.ELBO)+1)/2)):]
	var exact, mc []float64
	for _, p := range last {
		exact, mc = append(exact, p.Exact), append(mc, p.MonteCarlo)
	}
	row := finalRow{runSpec: r.Run, Evaluations: len(last), Best: num(math.Inf(-1)), Diverged: r.Diverged}
	row.Exact, row.ExactSE = meanSE(exact)
	row.MonteCarlo, row.MonteCarloSE = meanSE(mc)
	row.Jitter, row.JitterSE = r.jitter()
	for _, p := range r.ELBO {
		row.Best = max(row.Best, num(p.Exact))
	}
	return row
}

func meanSE(x []float64) (mean, se num) {
	m, sd := stat.MeanStdDev(x, nil)
	if len(x) < 2 {
		sd = math.NaN()
	}
	return num(m), num(stat.StdErr(sd, float64(len(x))))
}

// jitter is how unstable the second half of a run is: the standard deviation,
// in nats, of the exact ELBO's evaluations about a line through their
// neighbours. It comes from second differences, so that steady progress does not
// count; white noise makes neighbours among their squares correlated by 4/9 and
// 1/36, which the standard error allows for. Both are NaN below four evaluations.
func (r *result) jitter() (sd, se num) {
	half := r.ELBO[len(r.ELBO)/2:]
	var squares []float64
	for k := range max(0, len(half)-2) {
		d := half[k].Exact - 2*half[k+1].Exact + half[k+2].Exact
		squares = append(squares, d*d/6) // 6 = 1 + 4 + 1
	}
	if len(squares) < 2 {
		return num(math.NaN()), num(math.NaN())
	}
	mean, spread := stat.MeanStdDev(squares, nil)
	ofMean := spread * math.Sqrt((1+2*(4./9+1./36))/float64(len(squares)))
	root := math.Sqrt(mean)
	return num(root), num(ofMean / 2 / root)
}
