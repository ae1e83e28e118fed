package draws

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/internal/parallel"
)

// A Predictive holds posterior predictive draws: for each draw of the latents,
// new data of every observation, and the value of every named deterministic
// expression. Of one name there is a matrix, draws × elements, the elements in
// the order of the program's calls.
//
// An element is NaN in a draw whose branches do not reach it, and where the
// parameters of its distribution have no meaning. Unreached counts them; Mean and
// Quantile are over the other draws. What was observed is replicated; what is missing, NaN in Data, is drawn given
// what was observed: a forecast.
type Predictive struct {
	Observations   []string // names, each once, in order of first use
	Deterministics []string // likewise
	Latents        Draws    // the draws behind the rows

	values map[string]*mat.Dense
	data   map[string][]float64
}

// predictBlock is the number of draws that share a random stream.
const predictBlock = 64

// Predict makes a predictive draw for each draw of the latents; the seed fixes them. It
// returns an error if there are none. Of a program that observes nothing there are the
// deterministic expressions only.
func Predict(latents Draws, seed uint64) (Predictive, error) {
	n, d := len(latents.z), latents.density
	if n < 1 {
		return Predictive{}, fmt.Errorf("draws: %d predictive draws", n)
	}
	out := Predictive{values: map[string]*mat.Dense{}, data: dataByName(d), Latents: latents}
	observations, deterministics := d.Observations(), d.Deterministics()
	y, x := make([][]float64, n), make([][]float64, n)
	cut := parallel.Blocks{N: n, Size: predictBlock}
	err := parallel.Do(parallel.Processors(cut.Len()), cut.Len(), func(_, b int) error {
		rng := rand.New(parallel.Stream(seed, b))
		for k := b * cut.Size; k < b*cut.Size+cut.Width(b); k++ {
			y[k] = d.Replicate(nil, latents.z[k], rng)
			x[k] = d.DeterministicGiven(nil, latents.z[k], y[k])
		}
		return nil
	})
	if err != nil {
		return Predictive{}, err
	}
	out.Observations = out.collect(observations, y)
	out.Deterministics = out.collect(deterministics, x)
	return out, nil
}

// collect makes a matrix of the columns of each name, and returns the names.
func (r *Predictive) collect(names []string, rows [][]float64) (order []string) {
	columns := map[string][]int{}
	for i, name := range names {
		if columns[name] == nil {
			order = append(order, name)
		}
		columns[name] = append(columns[name], i)
	}
	for name, at := range columns {
		m := mat.NewDense(len(rows), len(at), nil)
		for k, row := range rows {
			for j, i := range at {
				m.Set(k, j, row[i])
			}
		}
		r.values[name] = m
	}
	return order
}

// Of returns the draws of an observation or deterministic expression: draws ×
// elements. It is the Predictive's own matrix, not a copy.
func (r Predictive) Of(name string) (*mat.Dense, error) {
	m, ok := r.values[name]
	if !ok {
		return nil, r.unknown("observation or deterministic expression", name)
	}
	return m, nil
}

// Data are the observed values of that name, one for each element, NaN where one is missing.
func (r Predictive) Data(name string) ([]float64, error) {
	v, ok := r.data[name]
	if !ok {
		return nil, r.unknown("observation", name)
	}
	return slices.Clone(v), nil
}

// Beside are the same draws beside the data of d, a program with the same observations.
func (r Predictive) Beside(d *graph.Density) Predictive {
	r.data = dataByName(d)
	return r
}

func dataByName(d *graph.Density) map[string][]float64 {
	data, byName := d.Data(), map[string][]float64{}
	for i, name := range d.Observations() {
		byName[name] = append(byName[name], data[i])
	}
	return byName
}

// noData says why a program of factors has no data.
const noData = "the model has no Observe; a Factor adds to the log density, and says of no data how they are distributed"

func (r Predictive) unknown(what, name string) error {
	if len(r.Observations) == 0 {
		return fmt.Errorf("draws: no %s %q: %s", what, name, noData)
	}
	return fmt.Errorf("draws: no %s %q in the model", what, name)
}

// Mean is the mean of each element over the draws in which it is not NaN; NaN if
// there are none.
func (r Predictive) Mean(name string) ([]float64, error) {
	return r.each(name, func(x []float64) float64 { return stat.Mean(x, nil) })
}

// Quantile is the quantile of each element at probability prob, over the draws
// in which it is not NaN; NaN if there are none. A band that holds half of the
// draws is between the quantiles at 0.25 and 0.75.
func (r Predictive) Quantile(name string, prob float64) ([]float64, error) {
	if !(prob > 0 && prob < 1) {
		return nil, fmt.Errorf("draws: quantile at probability %v", prob)
	}
	return r.each(name, func(x []float64) float64 {
		slices.Sort(x)
		return stat.Quantile(prob, stat.Empirical, x, nil)
	})
}

// Unreached is the number of draws in which each element is NaN.
func (r Predictive) Unreached(name string) ([]int, error) {
	m, err := r.Of(name)
	if err != nil {
		return nil, err
	}
	draws, elements := m.Dims()
	out := make([]int, elements)
	for j := range out {
		out[j] = draws - len(present(m, j))
	}
	return out, nil
}

// each applies f to the draws of each element that are not NaN.
func (r Predictive) each(name string, f func(x []float64) float64) ([]float64, error) {
	m, err := r.Of(name)
	if err != nil {
		return nil, err
	}
	_, elements := m.Dims()
	out := make([]float64, elements)
	for j := range out {
		if x := present(m, j); len(x) > 0 {
			out[j] = f(x)
		} else {
			out[j] = math.NaN()
		}
	}
	return out, nil
}

// present lists what is not NaN in a column.
func present(m *mat.Dense, column int) []float64 {
	return slices.DeleteFunc(mat.Col(nil, column, m), math.IsNaN)
}

// Together are the predictive draws of several programs, one after the other: of the observations, deterministic expressions and
// latents that all have, with as many elements, of observations the same ones in the same order.
func Together(parts ...Predictive) (Predictive, error) {
	if len(parts) == 0 {
		return Predictive{}, fmt.Errorf("draws: no predictive draws")
	}
	first := parts[0]
	out := Predictive{values: map[string]*mat.Dense{}, data: first.data, Latents: Draws{index: map[string]int{}}}
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	shared := func(names []string) (list []string) {
		for _, name := range names {
			of := mat.Dense{}
			for k, p := range parts {
				m, ok := p.values[name]
				if _, columns := of.Dims(); !ok || k > 0 && (columns != m.RawMatrix().Cols || !slices.EqualFunc(first.data[name], p.data[name], same)) {
					of.Reset()
					break
				}
				if k == 0 {
					of.CloneFrom(m)
				} else {
					var both mat.Dense
					both.Stack(&of, m)
					of = both
				}
			}
			if !of.IsEmpty() {
				list = append(list, name)
				out.values[name] = &of
			}
		}
		return list
	}
	out.Observations, out.Deterministics = shared(first.Observations), shared(first.Deterministics)
	for _, name := range first.Latents.Names {
		if !slices.ContainsFunc(parts, func(p Predictive) bool { return !slices.Contains(p.Latents.Names, name) }) {
			out.Latents.index[name] = len(out.Latents.Names)
			out.Latents.Names = append(out.Latents.Names, name)
		}
	}
	for _, p := range parts {
		for _, row := range p.Latents.Values {
			var x []float64
			for _, name := range out.Latents.Names {
				x = append(x, row[p.Latents.index[name]])
			}
			out.Latents.Values = append(out.Latents.Values, x)
		}
	}
	return out, nil
}
